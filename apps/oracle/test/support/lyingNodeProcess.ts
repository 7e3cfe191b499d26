// A node that lies, as a process of its own: forwards JSON-RPC to the real one and changes what it answers.
// Started by lyingNode.ts with the node's URL; prints its port. POST /lie with a `Lie` sets what it tells.
import { createServer } from 'node:http'
import { z } from 'zod'
import { mutateAnswers } from '../../../../packages/chains/test/fixtures/mutateAnswers.ts'
import { lieSchema, moveTransaction } from './lies.ts'

const [, , targetUrl] = process.argv
if (targetUrl === undefined) throw new Error('usage: lyingNodeProcess.ts <url>')

const callSchema = z.object({ id: z.unknown(), method: z.string(), params: z.array(z.unknown()) })
let lie: z.infer<typeof lieSchema> = { kind: 'none' }

async function answerOf(body: string): Promise<string> {
  const answer = await fetch(targetUrl ?? '', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  const text = await answer.text()
  if (lie.kind === 'none') return text
  if (lie.kind === 'mutation') return mutateAnswers(text, lie.seed)
  const parsed: unknown = JSON.parse(body)
  const calls = z.array(callSchema).parse(Array.isArray(parsed) ? parsed : [parsed])
  return moveTransaction(text, calls, lie)
}

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  const body = Buffer.concat(chunks).toString()
  if (request.url === '/lie') {
    lie = lieSchema.parse(JSON.parse(body))
    response.end('{}')
    return
  }
  response.setHeader('content-type', 'application/json')
  response.end(await answerOf(body))
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address !== null) console.log(address.port)
})
