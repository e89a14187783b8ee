// A component of an app in TypeScript's kit: its tools, and a button's route, behind Node's server.
import { createServer } from 'node:http'
import {
  actionRequired,
  componentUrl,
  domainError,
  handler,
  isThreadToolInvocation,
  nodeListener,
  route,
} from '../../src/remit/building/node/kit.mjs'

const folder = { type: 'object', properties: { folder: { type: 'string' } } }
const target = (name) => ({
  type: 'app',
  component: 'api',
  path: `/tools/${name}`,
  method: 'POST',
  body: '${input}',
})

const tools = ['say', 'show', 'ask', 'ask_politely', 'fail', 'whose'].map((name) => ({
  name,
  description: name,
  input: folder,
  target: target(name),
}))

const start = { input: folder, target: target('start') }
const card = {
  title: 'Connect the mail',
  buttons: [{ id: 'connect', label: 'Connect', input: { folder: 'inbox' }, target: start.target }],
}

const serve = handler({
  tools,
  handlers: {
    say: ({ folder }) => `Saved in ${folder}.`,
    show: () => ({
      content: 'Three bookmarks.',
      markdown: '**Three** bookmarks.',
      embedUrl: componentUrl('/page?day=1'),
    }),
    ask: () => actionRequired(card),
    ask_politely: (_input, { context }) =>
      isThreadToolInvocation(context)
        ? actionRequired({ ...card, description: `In ${context.threadId}.` })
        : domainError('connect_required', 'Connect the mail first.'),
    fail: () => domainError('too_many', 'The folder is full.', { status: 403 }),
    whose: (_input, { identity, context }) =>
      Response.json({ content: 'Known.', identity, context }),
  },
  routes: [route(start, ({ folder }) => `Connected ${folder}.`)],
})

const server = createServer(nodeListener(serve))
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${server.address().port}\n`)
})
