import { createServer, type ServerResponse } from 'node:http'
import type { Lie } from './randomLies.ts'
import type { NodeAnswer, NodeCall, RecordedChain } from './recordedChain.ts'

/** An endpoint over HTTP that tells a recorded chain, truly or not. */
export type TellingEndpoint = {
  readonly url: string
  /** Told from now on. */
  tell(telling: { readonly height: bigint; readonly lie?: Lie | undefined; readonly delayMs?: number }): void
  close(): Promise<void>
}

export async function startTellingEndpoint(chain: RecordedChain): Promise<TellingEndpoint> {
  let telling: Parameters<TellingEndpoint['tell']>[0] = { height: 0n }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(Buffer.from(chunk))
    const { height, lie, delayMs = lie?.delayMs ?? 0 } = telling
    const parsed: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    // CAST: only our own client asks here, and it sends well-formed calls.
    const calls = (Array.isArray(parsed) ? parsed : [parsed]) as readonly NodeCall[]
    const truth = await Promise.all(calls.map((call) => chain.answer(call, height)))
    const said = lie === undefined ? truth : lie.answer(calls, truth)
    if (said === undefined) return
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs))
    send(response, calls, said, lie)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the endpoint has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    tell(next) {
      telling = next
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function send(
  response: ServerResponse,
  calls: readonly NodeCall[],
  said: readonly NodeAnswer[],
  lie: Lie | undefined,
): void {
  const members = said.map((answer, index) => ({ jsonrpc: '2.0', id: calls[index]?.id, ...answer }))
  const text = JSON.stringify(members.length === 1 ? members[0] : members)
  response.setHeader('content-type', 'application/json')
  response.end(lie?.send === undefined ? text : lie.send(text))
}
