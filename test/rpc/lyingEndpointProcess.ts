// A node that lies: forwards JSON-RPC to the real one and mutates answers. Started by
// ethereumFactsLies.test.ts with the node's URL; prints its port. POST /lie {seed, count} sets the lie.
import { createServer } from 'node:http'
import { mutateAnswers } from '../../packages/chains/test/fixtures/mutateAnswers.ts'

const [, , targetUrl] = process.argv
if (targetUrl === undefined) throw new Error('usage: lyingEndpointProcess.ts <url>')

let seed: number | undefined

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  const body = Buffer.concat(chunks).toString()
  if (request.url?.startsWith('/lie/') === true) {
    seed = Number(request.url.slice('/lie/'.length))
    response.end('{}')
    return
  }
  const answer = await fetch(targetUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  const text = await answer.text()
  response.setHeader('content-type', 'application/json')
  response.end(seed === undefined ? text : mutateAnswers(text, seed))
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address !== null) console.log(address.port)
})
