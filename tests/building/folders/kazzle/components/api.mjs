// The component "api": one route, which answers what it was told with the call.

import { createServer } from 'node:http'

import {
  componentUrl,
  identity,
  isThreadToolInvocation,
  nodeListener,
  toolContext,
} from '@kazzle/app/tools'

async function serve(request) {
  const { pathname } = new URL(request.url)
  if (request.method !== 'POST' || pathname !== '/tools/save-bookmark') {
    return new Response('There is nothing here.', { status: 404 })
  }
  const who = await identity(request)
  if (!who.ok)
    return Response.json(
      { code: who.reason, error: 'The identity token is not good.' },
      { status: 401 },
    )
  const { url } = await request.json()
  const from = isThreadToolInvocation(toolContext(request)) ? 'a thread' : 'the API'
  return Response.json({
    content: `Saved ${url} for ${who.user}, from ${from}, at ${componentUrl('/list')}`,
  })
}

const server = createServer(nodeListener(serve))
server.listen(Number(process.env.PORT), '127.0.0.1', () => console.log('listening'))
