/** The conversation with the agent: made by the tracker's server, which holds the key. */

import * as z from 'zod'
import type { Ask } from './ask.js'

const conversation = z.object({ id: z.string(), server: z.string() })
const token = z.object({ token: z.string() })

export type Conversation = z.infer<typeof conversation>

/** The conversation of the signed-in user in a tenant; with `fresh` a new one. */
export function openConversation(ask: Ask, tenant: string, fresh: boolean): Promise<Conversation> {
  return ask(conversation, 'POST', '/agent/session', { tenant, fresh })
}

/** A token for one's own conversation, good for some minutes. */
export async function tokenFor(ask: Ask, session: string): Promise<string> {
  return (await ask(token, 'POST', '/agent/token', { session })).token
}
