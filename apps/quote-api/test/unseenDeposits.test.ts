// Goal: nothing is sold from a chain whose deposits nobody sees, on any replica, and everything again as soon as they are
// seen. Attackers: an endpoint whose lists are no lists, an operator whose jobs do not run. Method: two services on one
// database, one of them without jobs, and a node whose lists of logs cannot be read.
import type { Hex } from '@causeway/core'
import { startTestDatabase } from '@causeway/database'
import { type FaultProxy, startFaultProxy } from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestService, type TestService } from './fixtures/service.ts'
import { post, send } from './serviceSupport/callService.ts'
import { localRequest } from './serviceSupport/localRequest.ts'
import { transactionsOf } from './serviceSupport/transactionsOf.ts'
import {
  type SettlementBed,
  type StandInOracles,
  serviceSettings,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'
import { createSponsor } from './sponsorSupport/sponsors.ts'

const amount = 60_000_000n
const patience = { DEPOSITS_UNREAD_SECONDS: '5' }
const waits = { timeout: 60_000, interval: 250 }
let bed: SettlementBed
let oracles: StandInOracles
let logs: FaultProxy
let replica: TestService
let urls: readonly string[]

beforeAll(async () => {
  oracles = await startStandInOracles()
  bed = await startSettlementBed({
    blockTimeSeconds: 1,
    oracles: async () => oracles.setting,
    async environment(network) {
      logs = await startFaultProxy({ targetUrl: network.chains.base.url })
      return { ...patience, BASE_RPC_URL: logs.url }
    },
  })
  replica = await startTestService(bed.network, {
    ...serviceSettings(bed.connectionString, oracles.setting),
    ...patience,
    JOBS: 'off',
  })
  urls = [bed.url, (await replica.listen()).publicUrl]
}, 180_000)
afterAll(async () => {
  await replica?.stop()
  await bed?.stop()
  await logs?.stop()
  await oracles?.stop()
})

async function priceOf(url: string, more: object) {
  const { status, text } = await post(`${url}/price`, localRequest(bed.network, { amount, ...more }))
  return { status, message: status === 200 ? '' : String(JSON.parse(text).message) }
}
const fromBase = (url: string) => priceOf(url, { from: 'base', to: 'optimism' })
const toBase = (url: string) => priceOf(url, { from: 'optimism', to: 'base' })

test('O-60: a chain whose deposits cannot be read is not sold from, on any replica, until they can', async () => {
  for (const url of urls) await expect.poll(() => fromBase(url), waits).toMatchObject({ status: 200 })
  await logs.set({
    kind: 'lie',
    rewrite: ({ method }, result) => (method === 'eth_getLogs' ? 'no list' : result),
  })
  for (const url of urls) {
    await expect
      .poll(() => fromBase(url), waits)
      .toEqual({ status: 503, message: expect.stringMatching(/^Deposits on chain [0-9]+ cannot be read/) })
    expect(await toBase(url)).toMatchObject({ status: 200 })
    expect(JSON.parse((await send(`${url}/chains/health`)).text)).toMatchObject({
      healthy: false,
      stopped: [expect.any(Number)],
    })
  }
  // Every process has the same stop, so each stays ready and names it.
  const ready = await send(`${bed.opsUrl}/ready`)
  expect([ready.status, ready.text]).toEqual([200, expect.stringContaining('CHAIN_STOPPED')])
  await logs.set({ kind: 'pass' })
  for (const url of urls) await expect.poll(() => fromBase(url), waits).toMatchObject({ status: 200 })
})

test('O-60: work on a chain whose deposits cannot be read goes on: what was sold to it is filled', async () => {
  const sponsor = await createSponsor(bed.database, 1_000_000_000n)
  await expect.poll(() => toBase(bed.url), waits).toMatchObject({ status: 200 })
  await logs.set({
    kind: 'lie',
    rewrite: ({ method }, result) => (method === 'eth_getLogs' ? 'no list' : result),
  })
  try {
    await expect.poll(() => fromBase(bed.url), waits).toMatchObject({ status: 503 })
    const quote = await bed.requests.quoted(sponsor, { amount, from: 'optimism', to: 'base' })
    const transactions = transactionsOf(quote).map(({ id, to, data, value }) => ({
      // CAST: steps hold addresses and calldata, which the wire describes as text.
      what: id,
      to: to as Hex,
      data: data as Hex,
      valueWei: BigInt(value),
    }))
    await bed.network.chains.optimism.chain.send(bed.requests.user, transactions)
    await bed.solver.carryOut(await bed.requests.workFor(quote, 'fill'))
    await bed.requests.reaches(quote, 'success')
    expect(await fromBase(bed.url)).toMatchObject({ status: 503 })
  } finally {
    await logs.set({ kind: 'pass' })
  }
  await expect.poll(() => fromBase(bed.url), waits).toMatchObject({ status: 200 })
})

test('O-67: a chain that makes no blocks is neither sold from nor to, on any replica, until it makes one', async () => {
  const { node } = bed.network.chains.base.chain
  await node.setIntervalMining({ interval: 0 })
  try {
    const stands = { status: 503, message: expect.stringMatching(/^Chain 8453 makes no blocks/) }
    for (const url of urls)
      for (const ask of [fromBase, toBase]) await expect.poll(() => ask(url), waits).toEqual(stands)
    const metrics = (await send(`${bed.opsUrl}/metrics`)).text
    expect(/^chain_stopped\{.*$/m.exec(metrics)?.[0]).toMatch(/chain="base",by="head".*\} 1$/)
    expect(JSON.parse((await send(`${bed.url}/chains/health`)).text)).toMatchObject({ stopped: [8453] })
  } finally {
    await node.setIntervalMining({ interval: 1 })
  }
  for (const url of urls)
    for (const ask of [fromBase, toBase])
      await expect.poll(() => ask(url), waits).toMatchObject({ status: 200 })
})

test('O-60: a database whose jobs nobody runs sells nothing', async () => {
  const idle = await startTestDatabase()
  const service = await startTestService(bed.network, {
    ...serviceSettings(idle.connectionString, oracles.setting),
    ...patience,
    JOBS: 'off',
  })
  try {
    const { publicUrl } = await service.listen()
    for (const ask of [fromBase, toBase])
      await expect
        .poll(() => ask(publicUrl), waits)
        .toEqual({ status: 503, message: expect.stringContaining('cannot be read') })
  } finally {
    await service.stop()
    await idle.stop()
  }
})
