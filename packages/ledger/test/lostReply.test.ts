// Goal: a commit whose answer is lost has its one effect, and the repetition of the same call says so. Method:
// a proxy in front of PostgreSQL that lets `commit` through and cuts the connection instead of answering.
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { SqlWriteTx } from '@causeway/core'
import { createDatabase, type Database, type TestDatabase } from '@causeway/database'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  claimTopUp,
  createLedger,
  finalizeTopUp,
  type ObservedTopUp,
  recordTopUp,
  verifyLedger,
} from '../src/index.ts'
import { fund, holdNamed, noCaps, patience, requestIdOf, startLedgerBed } from './support/ledgerBed.ts'

let bed: TestDatabase
let proxy: Server
let database: Database
/** Cuts the next commit. */
let isArmed = false
let cuts = 0
const ledger = createLedger({ caps: noCaps })

beforeAll(async () => {
  bed = await startLedgerBed({ durable: true })
  const target = new URL(bed.connectionString)
  const { port, hostname } = target
  proxy = createServer((client) => relay(client, connect(Number(port), hostname)))
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const address = proxy.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  target.port = String(address.port)
  target.hostname = '127.0.0.1'
  database = createDatabase({ connectionString: target.toString(), poolSize: 1, ...patience })
  await fund(bed.database, 'sponsor', 1_000n)
})
afterAll(async () => {
  await database?.close()
  proxy?.close()
  await bed?.stop()
})

function relay(client: Socket, server: Socket): void {
  let isCommitting = false
  client.on('data', (chunk) => {
    if (isArmed && chunk.includes('commit\0')) {
      isArmed = false
      isCommitting = true
    }
    server.write(chunk)
  })
  server.on('data', (chunk) => {
    if (!isCommitting) {
      client.write(chunk)
      return
    }
    // The server answers a commit once it is on disk; answers to what was sent before it are lost too.
    if (!chunk.includes('COMMIT\0')) return
    cuts += 1
    client.destroy()
    server.destroy()
  })
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    one.on('close', () => other.destroy())
    one.on('error', () => other.destroy())
  }
}

/** Calls with a lost answer, then again. @returns what the repetition was told */
async function twice<T>(work: (tx: SqlWriteTx) => Promise<T>): Promise<T> {
  const before = cuts
  isArmed = true
  await expect(database.transaction(work)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  expect(cuts).toBe(before + 1)
  return database.transaction(work)
}

const balance = () => ledger.balance(bed.database, 'sponsor')
const until = new Date('2100-01-01T00:00:00Z')

describe('when the answer to a commit is lost', () => {
  test('a reservation holds once', async () => {
    const outcome = await twice((tx) => ledger.reserve(tx, holdNamed('reserved')))
    expect(outcome).toMatchObject({ status: 'already_reserved' })
    expect(await balance()).toMatchObject({ availableMicroUsd: 990n, heldMicroUsd: 10n })
  })

  test('a batch holds each of its quotes once', async () => {
    const requests = [1, 2, 3].map((n) => holdNamed(`batch ${n}`))
    const outcomes = await twice((tx) => ledger.reserveBatch(tx, requests))
    expect(outcomes.map(({ status }) => status)).toEqual(Array(3).fill('already_reserved'))
    expect(await balance()).toMatchObject({ heldMicroUsd: 40n })
  })

  test('a pin, a post and a void happen once', async () => {
    const requestId = requestIdOf('batch 1')
    expect(await twice((tx) => ledger.pin(tx, { requestId, until }))).toEqual({ status: 'resolved' })
    const post = { requestId, amountMicroUsd: 4n, evidence: {} }
    expect(await twice((tx) => ledger.post(tx, post))).toEqual({ status: 'already_posted' })
    const voided = { requestId: requestIdOf('batch 2'), reason: 'test' }
    expect(await twice((tx) => ledger.void(tx, voided))).toEqual({ status: 'already_voided' })
    expect(await balance()).toMatchObject({ availableMicroUsd: 976n, heldMicroUsd: 20n })
  })

  test('a late deposit reserves again once', async () => {
    const requestId = requestIdOf('batch 2')
    const outcome = await twice((tx) => ledger.reserveAgain(tx, { requestId, until }))
    expect(outcome).toMatchObject({ status: 'already_reserved' })
    expect(await balance()).toMatchObject({ heldMicroUsd: 30n })
  })

  test('a top-up is pending, credited and claimed once', async () => {
    const hex = (n: number, bytes: number) => `0x${n.toString(16).padStart(2 * bytes, '0')}` as const
    const [owner, tx32] = [hex(0xabc, 20), hex(0x77, 32)]
    const topUp: ObservedTopUp = {
      chainId: 8_453,
      transactionHash: tx32,
      blockNumber: 5n,
      blockHash: hex(0xb5, 32),
      token: hex(0xdc, 20),
      custody: hex(0xc0, 20),
      log: { logIndex: 0, ordinal: 0, from: hex(0xf0, 20), value: 7n },
      verdict: { kind: 'credit', parse: 'ok', owner },
      tail: undefined,
    }
    const money = async () => {
      const { availableMicroUsd, pendingMicroUsd } = await ledger.balance(bed.database, owner)
      return [availableMicroUsd, pendingMicroUsd]
    }
    const seen = await twice((tx) => recordTopUp(tx, topUp, { replace: false }))
    expect([seen.answer, await money()]).toEqual(['known', [0n, 7n]])
    const final = await twice((tx) => finalizeTopUp(tx, seen.eventId ?? 0n, {}))
    expect([final, await money()]).toEqual([false, [7n, 0n]])

    const verdict = { kind: 'suspense', parse: 'no_tail' } as const
    const lost = { ...topUp, log: { ...topUp.log, logIndex: 1, ordinal: 1 }, verdict }
    const { eventId = 0n } = await database.transaction((tx) => recordTopUp(tx, lost, { replace: false }))
    await database.transaction((tx) => finalizeTopUp(tx, eventId, {}))
    const claim = { eventId, owner, actor: 'test', evidence: {} }
    expect(await twice((tx) => claimTopUp(tx, claim))).toBe('already_claimed')
    expect(await money()).toEqual([14n, 0n])
  })

  test('the books add up', async () => {
    expect(await verifyLedger(bed.database)).toEqual([])
  })
})
