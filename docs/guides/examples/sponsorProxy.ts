// Stands between a page and the service at QUOTE_API: quotes of pages of ALLOWED_ORIGIN are paid by the sponsor of
// API_KEY, at most MAX_SUBSIDY_MICRO_USD each. The key stays here. Everything else passes without a key.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

const {
  QUOTE_API,
  API_KEY = '',
  ALLOWED_ORIGIN = '',
  MAX_SUBSIDY_MICRO_USD = '0',
  // In a container: 0.0.0.0, behind a port that its own machine alone reaches.
  HOST = '127.0.0.1',
  PORT = '8788',
} = process.env
const sponsored = new Set(['/price', '/quote', '/quote/v2'])
const bodyMaxBytes = 65_536
/** Members that say who pays: the page has no say in them. */
const ofSponsor = [
  'subsidizeFees',
  'maxSubsidizationAmount',
  'sponsoredFeeComponents',
  'subsidizeRent',
  'depositFeePayer',
]
const passedOn = ['content-type', 'cache-control', 'retry-after', 'server-timing']

const server = createServer((request, response) => {
  answer(request, response).catch(() => {
    if (response.headersSent) response.destroy()
    else refuse(response, 502, 'the service is not reached')
  })
})

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET', headers } = request
  const url = new URL(request.url ?? '/', 'http://proxy')
  response.setHeader('access-control-allow-origin', ALLOWED_ORIGIN).setHeader('vary', 'origin')
  if (method === 'OPTIONS') {
    response.setHeader('access-control-allow-methods', 'GET, POST')
    response.setHeader('access-control-allow-headers', headers['access-control-request-headers'] ?? '')
    response.writeHead(204).end()
    return
  }
  if (Number(headers['content-length'] ?? 0) > bodyMaxBytes) {
    return refuse(response.setHeader('connection', 'close'), 413, 'the body is too large')
  }
  const body = await readBody(request)
  const isSponsored = method === 'POST' && sponsored.has(url.pathname)
  // The history of one user, of what was made with the key; never the list of all.
  const isHistory = method === 'GET' && url.pathname === '/requests/v3' && url.searchParams.has('user')
  // It keeps the pages of others away. A script can claim any origin: a policy bounds what it gets.
  if ((isSponsored || isHistory) && headers.origin !== ALLOWED_ORIGIN)
    return refuse(response, 403, 'not from this page')
  const sent = isSponsored ? sponsoredBody(body) : body
  if (sent === undefined) return refuse(response, 400, 'the body is no JSON object')
  const answered = await fetch(`${QUOTE_API}${url.pathname}${url.search}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...((isSponsored || isHistory) && { 'x-api-key': API_KEY }),
    },
    ...(method === 'POST' && { body: new Uint8Array(sent) }),
  })
  for (const name of passedOn) {
    const value = answered.headers.get(name)
    if (value !== null) response.setHeader(name, value)
  }
  response.writeHead(answered.status).end(Buffer.from(await answered.arrayBuffer()))
}

/** @throws Error when more comes than was announced, and that ends the connection */
async function readBody(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request) {
    size += part.length
    if (size > bodyMaxBytes) throw new Error('more than was announced')
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** The page's request with the sponsor's terms. @returns undefined where it is no JSON object */
function sponsoredBody(body: Buffer): Buffer | undefined {
  let asked: unknown
  try {
    asked = JSON.parse(body.toString())
  } catch {
    return undefined
  }
  if (typeof asked !== 'object' || asked === null || Array.isArray(asked)) return undefined
  const own = Object.entries(asked).filter(([name]) => !ofSponsor.includes(name))
  const terms = { subsidizeFees: true, maxSubsidizationAmount: MAX_SUBSIDY_MICRO_USD }
  return Buffer.from(JSON.stringify({ ...Object.fromEntries(own), ...terms }))
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ message }))
}

server.listen(Number(PORT), HOST, () => {
  const address = server.address()
  if (address !== null && typeof address === 'object') console.log(`listening http://${HOST}:${address.port}`)
})
