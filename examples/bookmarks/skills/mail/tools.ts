// The tool of the skill mail; its handler is in api/handlers.py.

import type { AppTool } from '@remit/sdk/kit'
import { z } from 'zod'

export const tools = [
  {
    name: 'import_from_mail',
    displayName: 'Import links from mail',
    description:
      "Reads the user's own mailbox for links of the last days and saves those that are new as " +
      'bookmarks, each dated as its mail. The user connects the mailbox first, once. Not for ' +
      'reading mails, and not for one address that is known; use save_bookmark for that.',
    input: z.strictObject({
      days: z.int().min(1).max(365).optional().describe('How many days back; 90 without it.'),
      tag: z
        .string()
        .regex(/^[a-z0-9][a-z0-9-]{0,29}$/)
        .optional()
        .describe('A tag that all of them get, besides those of the mails: "reading".'),
    }),
    target: {
      type: 'app',
      component: 'api',
      path: '/tools/import-from-mail',
      method: 'POST',
      body: '${input}',
    },
    // It reaches into the mailbox, which is another service than this one.
    category: 'action',
    dangerLevel: 'moderate',
    idempotent: true,
  },
] as const satisfies readonly AppTool[]
