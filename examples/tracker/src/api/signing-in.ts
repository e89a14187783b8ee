/** Who is signed in, as the server's cookie says. */

import * as z from 'zod'
import type { Ask } from './ask.js'

const me = z.object({ user: z.string().nullable(), agent: z.boolean() })

export type Me = z.infer<typeof me>

export const whoAmI = (ask: Ask): Promise<Me> => ask(me, 'GET', '/api/me')

export const signIn = (ask: Ask, user: string): Promise<Me> => ask(me, 'POST', '/sign-in', { user })

export const signOut = (ask: Ask): Promise<Me> => ask(me, 'POST', '/sign-out', {})
