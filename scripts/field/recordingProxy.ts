import { createServer, type IncomingMessage } from 'node:http'

/** Record of one exchange with a node. */
export type SeenExchange = {
  readonly path: string
  readonly requestBody: string
  readonly status: number
  readonly body: string
}

export type RecordingProxy = {
  /** On loopback, in the place of the endpoint. */
  readonly url: string
  /** Requests until now. */
  count(): number
  stop(): Promise<void>
}

const timeoutMs = 60_000
/** Response headers that clients read. */
const passedHeaders = ['content-type', 'retry-after']

/**
 * Passes every request on to an endpoint, and what came back to the client as it is and to `seen`.
 * @param endpoint a URL
 */
export async function startRecordingProxy(
  endpoint: string,
  seen: (exchange: SeenExchange) => void,
): Promise<RecordingProxy> {
  const target = new URL(endpoint)
  let requests = 0
  const server = createServer((request, response) => {
    requests += 1
    pass(request).then(
      ({ status, body, headers }) => response.writeHead(status, headers).end(body),
      () => response.destroy(),
    )
  })

  async function pass(request: IncomingMessage) {
    const { method = 'POST', url: path = '/' } = request
    const requestBody = await readBody(request)
    const answer = await fetch(placeOf(target, path), {
      method,
      signal: AbortSignal.timeout(timeoutMs),
      headers: { 'content-type': 'application/json', ...authorization(target) },
      ...(requestBody !== '' && { body: requestBody }),
    })
    const { status } = answer
    const body = await answer.text()
    seen({ path, requestBody, status, body })
    const headers = Object.fromEntries(
      passedHeaders.flatMap((name) => {
        const value = answer.headers.get(name)
        return value === null ? [] : [[name, value] as const]
      }),
    )
    return { status, body, headers }
  }

  // Services keep their connections longer than a server does by default.
  server.keepAliveTimeout = timeoutMs
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the recording proxy has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    count: () => requests,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** JSON-RPC goes to the endpoint itself, all else to the path behind it. */
function placeOf(target: URL, path: string): URL {
  const place = new URL(target)
  place.username = ''
  place.password = ''
  if (path === '/') return place
  const [pathname = '', search = ''] = path.split('?')
  place.pathname = `${target.pathname.replace(/\/$/, '')}${pathname}`
  if (search !== '') place.search = search
  return place
}

function authorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {}
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}
