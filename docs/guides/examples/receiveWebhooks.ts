// Receives webhooks that are signed with WEBHOOK_SECRET, and prints each event once.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'

const { WEBHOOK_SECRET = '', PORT = '8787' } = process.env
const toleranceMs = 300_000

/** Checks the signature over the body as it arrived: before it is parsed, and never over JSON made anew. */
function isGenuine({ headers }: IncomingMessage, body: Buffer): boolean {
  const timestamp = String(headers['x-signature-timestamp'])
  if (!(Math.abs(Date.now() - Number(timestamp)) < toleranceMs)) return false
  const expected = createHmac('sha256', WEBHOOK_SECRET).update(`${timestamp}.`).update(body).digest()
  const given = Buffer.from(String(headers['x-signature-sha256']), 'hex')
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** A real receiver keeps these where they outlive it. */
const seen = new Set<string>()

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray())
  if (!isGenuine(request, body)) {
    response.writeHead(401).end()
    return
  }
  const { id, data } = JSON.parse(body.toString())
  // An event may arrive more than once: only its first arrival has an effect.
  if (!seen.has(id)) console.log(data.requestId, data.status)
  seen.add(id)
  response.writeHead(204).end()
})
server.listen(Number(PORT), '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object')
    console.log(`listening http://127.0.0.1:${address.port}/`)
})
