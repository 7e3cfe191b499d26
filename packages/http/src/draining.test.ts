import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { Connections } from './connections.ts'
import { drainConnections } from './draining.ts'

/** Counts a connection that was accepted in the first turn after the count was first read. */
class OneAccepted extends Connections {
  #reads = 0

  override get acceptedCount(): number {
    this.#reads += 1
    return this.#reads === 1 ? 0 : 1
  }
}

test('O-168: a listener closes three turns after the last connection that it accepted', async () => {
  const server = createServer()
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const connections = new OneAccepted({ outstandingMax: 1, stalledTimeoutMs: 1_000 })
  const drained = drainConnections(server, connections, { acceptMs: 5_000, firstRequestMs: 0, closeMs: 0 })
  let turns = 0
  while (server.listening) {
    await new Promise((resolve) => setImmediate(resolve))
    turns += 1
  }
  await drained
  expect(turns).toBe(4)
})
