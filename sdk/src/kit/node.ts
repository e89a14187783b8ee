/** A Web handler behind Node's own HTTP server, where no framework stands in between. */

/** What is used of Node's `IncomingMessage`. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly rawHeaders: readonly string[]
}

/** What is used of Node's `ServerResponse`. */
export interface NodeResponse {
  writeHead(status: number, headers: Record<string, string | string[]>): unknown
  end(body?: Uint8Array): unknown
}

const MAX_BODY_BYTES = 1024 * 1024

/**
 * Makes a listener for `http.createServer`. A body over 1 MiB is answered 413; what the handler
 * throws goes to the log and is answered 500.
 */
export function nodeListener(
  handler: (request: Request) => Response | Promise<Response>,
  log: (error: unknown) => void = console.error,
): (incoming: NodeRequest, outgoing: NodeResponse) => Promise<void> {
  return async (incoming, outgoing) => {
    let response: Response
    try {
      const request = await webRequest(incoming)
      response = request instanceof Request ? await handler(request) : plain(...request)
    } catch (error) {
      log(error)
      response = plain('internal_error', 500)
    }
    outgoing.writeHead(response.status, headersOf(response))
    outgoing.end(new Uint8Array(await response.arrayBuffer()))
  }
}

type Fault = [code: string, status: number]

/** The request, or how it is refused. */
async function webRequest(incoming: NodeRequest): Promise<Request | Fault> {
  const headers = new Headers()
  const { rawHeaders, method = 'GET', url = '/' } = incoming
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    headers.append(String(rawHeaders[at]), String(rawHeaders[at + 1]))
  }
  const address = `http://${headers.get('host') ?? 'localhost'}${url}`
  // A server's own address is asked for with a path; anything else is meant for a proxy.
  if (!url.startsWith('/') || !URL.canParse(address)) {
    return ['bad_request', 400]
  }
  const body = await bodyOf(incoming)
  if (body === null) {
    return ['too_large', 413]
  }
  const hasBody = body.length > 0 && method !== 'GET' && method !== 'HEAD'
  return new Request(address, { method, headers, body: hasBody ? body : null })
}

async function bodyOf(incoming: NodeRequest): Promise<Uint8Array<ArrayBuffer> | null> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of incoming) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) {
      return null
    }
    chunks.push(chunk)
  }
  return new Uint8Array(await new Blob(chunks as Uint8Array<ArrayBuffer>[]).arrayBuffer())
}

function headersOf(response: Response): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = Object.fromEntries(response.headers)
  const cookies = response.headers.getSetCookie()
  return cookies.length > 0 ? { ...headers, 'set-cookie': cookies } : headers
}

function plain(code: string, status: number): Response {
  return Response.json({ code, error: 'The request could not be served.' }, { status })
}
