import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Secret } from '@causeway/core'
import { expect, onTestFinished, test } from 'vitest'
import { keepCollectingGarbage } from '../../../core/test/fixtures/collectGarbage.ts'
import { createOracleClient } from './oracleClient.ts'

const signer = `0x${'11'.repeat(20)}` as const
const messageId = `0x${'22'.repeat(32)}` as const

async function clientOf(answer: (response: ServerResponse) => void, timeoutMs: number) {
  const server = createServer((_request, response) => answer(response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  // CAST: a server that listens on TCP.
  const { port } = server.address() as AddressInfo
  return createOracleClient({
    setting: { name: 'a', url: new Secret(`http://127.0.0.1:${port}`), apiKey: undefined, signer },
    recover: () => undefined,
    timeoutMs,
  })
}

test.each<[string, (response: ServerResponse) => void]>([
  ['is silent', () => {}],
  ['never ends its answer', (response) => void response.writeHead(200).write('{')],
])('an oracle that %s says nothing within the limit', async (_name, answer) => {
  const client = await clientOf(answer, 300)
  keepCollectingGarbage()
  const said = await client.attestFill({}, messageId, new AbortController().signal)
  expect(said).toEqual({ said: 'nothing', code: 'no answer' })
})

test('a caller that goes away ends the question', async () => {
  const client = await clientOf(() => {}, 60_000)
  const caller = new AbortController()
  const asking = client.attestFill({}, messageId, caller.signal)
  caller.abort()
  expect(await asking).toEqual({ said: 'nothing', code: 'no answer' })
})
