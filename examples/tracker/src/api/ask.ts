/** Asks the tracker's own server. Whatever goes wrong is a `Refused` in words for a person. */

import * as z from 'zod'
import { Refused } from '../store/refused.js'

export type Ask = <Answer>(
  shape: z.ZodType<Answer>,
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  body?: object,
) => Promise<Answer>

const problem = z.object({ message: z.string() })

export const ask: Ask = async (shape, method, path, body) => {
  const answer = await fetch(path, {
    method,
    ...(body
      ? { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
      : {}),
  }).catch(() => null)
  if (!answer) {
    throw new Refused('The tracker’s server does not answer. Check that it runs, then try again.')
  }
  const said: unknown = await answer.json().catch(() => null)
  if (!answer.ok) {
    const found = problem.safeParse(said)
    throw new Refused(found.success ? found.data.message : 'The tracker’s server refused this.')
  }
  const found = shape.safeParse(said)
  if (!found.success) {
    throw new Refused('The tracker’s server answered with something else. Load the page again.')
  }
  return found.data
}
