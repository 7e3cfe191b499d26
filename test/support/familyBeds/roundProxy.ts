import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

export type RoundCount = {
  /** Requests that wait for the answers of others begin another round. */
  readonly rounds: number
  readonly requests: number
}

/** A server on loopback in front of an HTTP service that counts what the service is asked. */
export type RoundProxy = {
  readonly url: string
  /** Counts what is asked while `ask` runs. One measurement at a time. */
  measure(ask: () => Promise<unknown>): Promise<RoundCount>
  stop(): Promise<void>
}

/** Time without a request after which a round is over, ms. */
const quietMs = 60

/** @param targetUrl origin of the service; paths and methods are kept */
export async function startRoundProxy(targetUrl: string): Promise<RoundProxy> {
  let gate: ReturnType<typeof createGate> | undefined
  const server = createServer((request, response) => {
    forward(request, response).catch(() => response.destroy())
  })

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrived = gate?.enter()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(Buffer.from(chunk))
    const answer = await fetch(`${targetUrl}${request.url}`, {
      method: request.method ?? 'GET',
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      headers: { 'content-type': 'application/json' },
    })
    const body = Buffer.from(await answer.arrayBuffer())
    await arrived?.leave()
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(body)
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const bound = server.address()
  if (typeof bound !== 'object' || bound === null) throw new Error('the proxy has no port')
  return {
    url: `http://127.0.0.1:${bound.port}`,
    async measure(ask) {
      const counting = createGate()
      gate = counting
      try {
        await ask()
      } finally {
        gate = undefined
      }
      return counting.count()
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/**
 * Holds answers back until every request that is out has its own and no further one comes: what arrives
 * then can only be a request that needed an answer.
 */
function createGate() {
  let [requests, rounds, out] = [0, 0, 0]
  let held: (() => void)[] = []
  let timer: NodeJS.Timeout | undefined

  function settle(): void {
    clearTimeout(timer)
    if (out > 0) return
    timer = setTimeout(() => {
      rounds += 1
      const answers = held
      held = []
      for (const release of answers) release()
    }, quietMs)
  }
  return {
    enter() {
      clearTimeout(timer)
      requests += 1
      out += 1
      return {
        leave: () =>
          new Promise<void>((resolve) => {
            out -= 1
            held.push(resolve)
            settle()
          }),
      }
    },
    count: (): RoundCount => ({ rounds, requests }),
  }
}
