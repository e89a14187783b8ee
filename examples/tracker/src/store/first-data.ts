/** What a new browser begins with: two workspaces in the middle of their work. */

import type { Issue, Priority, State, Status } from './model.js'

type Row = readonly [
  id: string,
  title: string,
  status: Status,
  priority: Priority,
  assigneeId: string | null,
  daysAgo: number,
  description: string,
]

const HARBOR: readonly Row[] = [
  [
    'WEB-1',
    'Receipts show the net price twice',
    'in_progress',
    'urgent',
    'ben',
    0,
    'The receipt by mail lists the net price in the line of the tax as well. The total is right.\n\nSeen on orders with more than one tax rate; order 10428 is one.',
  ],
  [
    'WEB-2',
    'Search finds nothing with an umlaut',
    'todo',
    'high',
    'eva',
    1,
    'Searching for "Küche" is empty, "kuche" is not. The index folds accents, the query does not.',
  ],
  [
    'WEB-3',
    'Let customers change the address after ordering',
    'backlog',
    'medium',
    null,
    3,
    'Until the parcel is packed. Support does this by hand about forty times a week.',
  ],
  [
    'WEB-4',
    'Checkout button jumps while prices load',
    'in_review',
    'medium',
    'ben',
    1,
    'Reserve the height of the price lines, so that nobody presses what was not there.',
  ],
  ['WEB-5', 'Say how many are left in stock', 'backlog', 'low', null, 12, ''],
  [
    'WEB-6',
    'Gift cards cannot be combined with a voucher',
    'todo',
    'medium',
    null,
    2,
    'The second one replaces the first without a word.',
  ],
  ['WEB-7', 'Newsletter form takes any text as an address', 'done', 'low', 'eva', 6, ''],
  [
    'OPS-1',
    'Restore last night’s backup into a copy, and time it',
    'todo',
    'high',
    'ana',
    2,
    'We have never measured how long it takes. Write the number into the runbook.',
  ],
  [
    'OPS-2',
    'Disk of the log host is at 91 %',
    'in_progress',
    'urgent',
    'ana',
    0,
    'Grows by about one per cent a day since the new proxy logs bodies.',
  ],
  ['OPS-3', 'Certificates renew without anybody', 'done', 'medium', 'ben', 9, ''],
  [
    'OPS-4',
    'Page the second person after ten minutes',
    'backlog',
    'medium',
    null,
    5,
    'Today it is thirty. Agreed in the last review of incidents.',
  ],
  ['HIR-1', 'Offer for the designer: answer by Friday', 'in_progress', 'high', 'ana', 1, ''],
  ['HIR-2', 'Questions for the second interview', 'todo', 'low', 'ana', 4, ''],
]

const FINCH: readonly Row[] = [
  [
    'APP-1',
    'Map stays grey after the phone was locked',
    'in_progress',
    'urgent',
    'eva',
    0,
    'Only on Android 16. Tiles are requested, the view is not drawn again.',
  ],
  [
    'APP-2',
    'Couriers want to see tomorrow’s tours',
    'todo',
    'high',
    'dan',
    2,
    'From 18:00 on, when the plan is fixed.',
  ],
  ['APP-3', 'Signature field is too small for gloves', 'backlog', 'medium', null, 7, ''],
  ['APP-4', 'Dark colours in the night shift', 'done', 'low', 'eva', 14, ''],
  [
    'BIL-1',
    'Refunds of partial deliveries round down',
    'in_review',
    'high',
    'dan',
    1,
    'One cent too little for each line. The accountants noticed in October.',
  ],
  ['BIL-2', 'Invoices in Spanish', 'backlog', 'medium', null, 10, ''],
]

const DAY_MS = 24 * 3600 * 1000

export function firstState(now: Date): State {
  const issues = [
    ...HARBOR.map((row) => issueOf('harbor', row, now)),
    ...FINCH.map((row) => issueOf('finch', row, now)),
  ]
  const lastNumbers: Record<string, number> = {}
  for (const { projectId } of issues) {
    lastNumbers[projectId] = (lastNumbers[projectId] ?? 0) + 1
  }
  return { userId: null, tenantId: 'harbor', issues, lastNumbers }
}

function issueOf(tenantId: string, row: Row, now: Date): Issue {
  const [id, title, status, priority, assigneeId, daysAgo, description] = row
  const at = new Date(now.getTime() - daysAgo * DAY_MS).toISOString()
  const createdBy = tenantId === 'harbor' ? 'ana' : 'dan'
  return {
    id,
    tenantId,
    projectId: id.slice(0, id.indexOf('-')),
    title,
    description,
    status,
    priority,
    assigneeId,
    createdBy,
    createdAt: at,
    updatedAt: at,
    history: [{ at, userId: createdBy, via: 'person', said: 'created the issue' }],
  }
}
