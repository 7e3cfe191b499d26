// Goal: who knows the id of a request is pushed each of its statuses, whatever else sockets ask for and whatever
// becomes of the connection that hears changes. Method: the service with its jobs, PostgreSQL, anvil, a scripted
// solver, signing oracles, and sockets of `ws`.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bytes32Text } from '@causeway/core'
import { waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { setStatus } from '../src/requests/status/requestProgress.ts'
import { announceStatus } from '../src/webhooks/announceStatus.ts'
import { serviceEnvironment } from './fixtures/service.ts'
import { spawnService } from './serviceSupport/serviceProcess.ts'
import {
  type SettlementBed,
  type StandInOracles,
  serviceSettings,
  solverKey,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'
import { createSponsor, type TestSponsor } from './sponsorSupport/sponsors.ts'

let oracles: StandInOracles
let bed: SettlementBed
let sponsor: TestSponsor

beforeAll(async () => {
  oracles = await startStandInOracles()
  bed = await startSettlementBed({ blockTimeSeconds: 1, oracles: async () => oracles.setting })
  sponsor = await createSponsor(bed.database, 1_000_000_000n)
})
afterAll(async () => {
  await bed?.stop()
  await oracles?.stop()
})

const event = 'request.status.updated'

/** As settlement does it. */
const showPending = (id: string) =>
  bed.database.transaction((tx) =>
    setStatus(tx, announceStatus, { requestId: bytes32Text.parse(id), status: 'pending' }),
  )
const quoted = () => bed.requests.quoted(sponsor, { amount: 60_000_000n })
const subscription = (id: string, type = 'subscribe') => JSON.stringify({ type, event, filters: { id } })

type Follower = {
  readonly messages: Record<string, unknown>[]
  send(text: string): void
  /** Pushed messages, in their order. */
  statuses(): unknown[]
}

/** Subscribes as the public client does: on open, before anything was received. */
async function follow(...ids: string[]): Promise<Follower> {
  const socket = new WebSocket(`${bed.url.replace('http', 'ws')}/intents/status/ws`)
  onTestFinished(() => socket.terminate())
  const messages: Record<string, unknown>[] = []
  socket.on('message', (data) => messages.push(Object(JSON.parse(String(data)))))
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  for (const id of ids) socket.send(subscription(id))
  return {
    messages,
    send: (text) => socket.send(text),
    statuses: () => messages.filter((one) => one['event'] === event).map((one) => Object(one['data']).status),
  }
}

test('L-84: a deposit leads to pushed statuses up to success, as status v3 tells them', async () => {
  const quote = await quoted()
  const { requestId } = quote
  const [first, second] = [await follow(requestId), await follow(requestId)]
  await waitUntil('the current status', async () => first.statuses().length === 1)
  expect(first.messages.slice(0, 3)).toMatchObject([
    { type: 'connection', status: 'ready', data: { id: expect.any(String) } },
    { type: 'subscribe', status: 'success', data: { event, filters: { id: requestId } } },
    { event, data: { status: 'waiting', requestId }, publishedAt: expect.any(Number) },
  ])
  await bed.requests.execute(quote)
  const hash = await bed.solver.carryOut(await bed.requests.workFor(quote, 'fill'))
  await waitUntil('success', async () => second.statuses().includes('success'))
  await waitUntil('success', async () => first.statuses().includes('success'))
  // Pending is pushed again with the hash of what the solver has sent.
  const seen = new Set(first.statuses().filter((status) => status !== 'submitted'))
  expect([...seen]).toEqual(['waiting', 'pending', 'success'])
  const response = await fetch(`${bed.url}/intents/status/v3?requestId=${requestId}`)
  const { status, inTxHashes, txHashes, updatedAt, originChainId, destinationChainId } = Object(
    await response.json(),
  )
  expect(txHashes).toEqual([hash])
  expect(first.messages.at(-1)?.['data']).toEqual({
    status,
    inTxHashes,
    txHashes,
    updatedAt,
    originChainId,
    destinationChainId,
    requestId,
  })
  const late = await follow(requestId)
  await waitUntil('a late subscriber is told', async () => late.statuses().includes('success'))
})

test('L-84: an id of nobody is acknowledged and told nothing; wrong messages are named and the socket stays', async () => {
  const { requestId } = await quoted()
  const follower = await follow(`0x${randomBytes(32).toString('hex')}`)
  const wrong = ['{}', '[]', '{"type":"subscribe","event":"other","filters":{"id":"0x"}}', subscription('1')]
  for (const text of wrong) follower.send(text)
  follower.send(subscription(requestId))
  await waitUntil('the last is answered', async () => follower.statuses().length === 1)
  expect(follower.messages.map(({ type }) => type)).toEqual([
    ...['connection', 'subscribe', 'error', 'error', 'error', 'error', 'subscribe', undefined],
  ])
  follower.send(subscription(requestId, 'unsubscribe'))
  await waitUntil('it is acknowledged', async () => follower.messages.at(-1)?.['type'] === 'unsubscribe')
})

test('L-85: 10,000 ids on one socket end at its bound, and it goes on with those it has', async () => {
  const { requestId } = await quoted()
  const follower = await follow(requestId)
  for (let count = 0; count < 10_000; count += 1)
    follower.send(subscription(`0x${randomBytes(32).toString('hex')}`))
  const answers = (type: string) => follower.messages.filter((one) => one['type'] === type)
  await waitUntil(
    'all are answered',
    async () => answers('subscribe').length + answers('error').length === 10_001,
  )
  expect(answers('subscribe').length).toBeLessThanOrEqual(100)
  const codes = new Set(answers('error').map(({ data }) => Object(data).code))
  for (const code of codes) expect(['RATE_LIMITED', 'TOO_MANY_SUBSCRIPTIONS']).toContain(code)
  await showPending(requestId)
  await waitUntil('it is still told', async () => follower.statuses().includes('pending'))
})

test('a change that nobody heard is told once changes are heard again', async () => {
  const { requestId } = await quoted()
  const follower = await follow(requestId)
  await waitUntil('the current status', async () => follower.statuses().length === 1)
  await bed.database.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'causeway-quote-api-status'`,
  )
  await showPending(requestId)
  await waitUntil('it is told', async () => follower.statuses().includes('pending'))
})

test('a request that a newer one took the place of is told the statuses of the newer one', async () => {
  const [older, newer] = [await quoted(), await quoted()]
  const follower = await follow(older.requestId)
  await waitUntil('the current status', async () => follower.statuses().length === 1)
  await bed.database.query('update orders set superseded_by = $2 where request_id = $1', [
    ...[older, newer].map(({ requestId }) => Buffer.from(requestId.slice(2), 'hex')),
  ])
  const { requestId } = newer
  await showPending(requestId)
  await waitUntil('it is told', async () => follower.statuses().includes('pending'))
})

test('another process tells it too, closes its sockets when it is stopped, and logs no key of theirs', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-sockets-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const settings = serviceSettings(bed.connectionString, oracles.setting)
  const service = spawnService(
    await serviceEnvironment(bed.network, directory, { ...settings, LOG_LEVEL: 'trace' }),
  )
  onTestFinished(() => service.stop().then(() => {}))
  const { publicUrl } = await service.listening()
  const url = `${publicUrl.replace('http', 'ws')}/intents/status/ws`
  const key = 'a-key-that-is-wrong-1234'
  const refused = new WebSocket(`${url}?apiKey=${key}`)
  refused.on('error', () => {})
  const [, answer] = await once(refused, 'unexpected-response')
  expect(answer.statusCode).toBe(401)

  const { requestId } = await quoted()
  const socket = new WebSocket(`${url}?apiKey=${solverKey}`)
  const told: string[] = []
  socket.on('message', (data) => told.push(String(data)))
  await once(socket, 'open')
  socket.send(subscription(requestId))
  await waitUntil('the current status', async () => told.some((text) => text.includes('"waiting"')))
  await showPending(requestId)
  await waitUntil('it is told', async () => told.some((text) => text.includes('"pending"')))
  const closed = once(socket, 'close')
  expect(await service.stop()).toEqual({ code: 0, signal: null })
  expect((await closed)[0]).toBe(1001)
  for (const secret of [key, solverKey]) expect(service.output()).not.toContain(secret)
})
