// Goal: gas is priced by what the network asks for, from the first reading on, and as before where it asks for no more
// than the release counts on. Attacks: a fork that makes storage dearer; an endpoint whose estimates have no sense; one
// that estimates nothing. Method: a real node, where a contract takes more than it did, behind a proxy that lies.

import type { Hex } from '@causeway/core'
import type { QuoteFile } from '@causeway/core/config'
import { type CostedTransaction, stateAsCounted } from '@causeway/families/rules'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { evmFees } from './support/fixtures.ts'
import { type LiveMarket, startLiveMarket } from './support/liveMarket.ts'

const baseId = 8_453
const seen = { on: '2026-11-29', source: 'this test' }
const approval: CostedTransaction = { kind: 'approve', isNative: false }
const fill: CostedTransaction = { kind: 'fill', isNative: false }

let live: LiveMarket
let wrappedNative: Hex
let code: Hex

beforeAll(async () => {
  live = await startLiveMarket()
  const { base } = live.network.chains
  wrappedNative = live.network.deployment.base.wrappedNative
  const found = await base.chain.client.getCode({ address: wrappedNative })
  if (found === undefined) throw new Error('wrapped coin has code')
  code = found
})
afterEach(async () => {
  await live.network.chains.base.chain.node.setCode({ address: wrappedNative, bytecode: code })
  await live.proxies.base.set({ kind: 'pass' })
})
afterAll(() => live?.stop())

/** A network is asked about where the day is named on which its facts were compared. */
function watched({ chains, ...file }: QuoteFile): QuoteFile {
  return {
    ...file,
    chains: Object.fromEntries(Object.entries(chains).map(([key, chain]) => [key, { ...chain, seen }])),
  }
}

/** State of a newly started market. */
async function started(config: QuoteFile) {
  const market = live.open({ config })
  await market.start()
  const chain = market.snapshot().chain(baseId)
  market.close()
  if ('reason' in chain) throw new Error(chain.reason)
  return { fees: evmFees(chain.fees), shapes: chain.shapes }
}

/** Each answer fills so many slots and is a word. */
async function fillSlots(slots: number): Promise<void> {
  const writes = Array.from({ length: slots }, (_, slot) => `600160${slot.toString(16).padStart(2, '0')}55`)
  const bytecode: Hex = `0x${writes.join('')}60206000f3`
  await live.network.chains.base.chain.node.setCode({ address: wrappedNative, bytecode })
}

const estimates = (units: string) =>
  live.proxies.base.set({
    kind: 'lie',
    rewrite: ({ method }, result) => (method === 'eth_estimateGas' ? units : result),
  })

test('F-113: a network that asks for what the release counts on is priced as one that nobody asks', async () => {
  const [asked, unasked] = [await started(watched(live.config)), await started(live.config)]
  expect(asked.shapes?.map(({ shape }) => shape)).toEqual(['send-native', 'approve'])
  expect(unasked.shapes).toBeUndefined()
  expect([asked.fees.dearer, unasked.fees.dearer]).toEqual([stateAsCounted, stateAsCounted])
  for (const one of [approval, fill]) expect(asked.fees.unitsOf(one)).toBe(unasked.fees.unitsOf(one))
})

test('F-113, F-115: storage that became dearer is priced from the first reading on', async () => {
  await fillSlots(5)
  const { fees, shapes } = await started(watched(live.config))
  const measured = shapes?.find(({ shape }) => shape === 'approve')?.units ?? 0n
  expect(measured).toBeGreaterThan(5n * 20_000n)
  expect(fees.dearer).toEqual({ slotUnits: measured - 46_200n, accountUnits: 0n })
  expect(fees.unitsOf(approval)).toBe(measured + 18_800n)
  expect(fees.unitsOf(fill)).toBe(105_000n + 2n * fees.dearer.slotUnits)
})

test('F-113: what has no sense is followed up to the bound, and what is too low is not followed', async () => {
  await estimates('0x5f5e100')
  const absurd = await started(watched(live.config))
  expect(absurd.fees.unitsOf(approval)).toBe(10n * 65_000n + 18_800n)
  await estimates('0x1')
  expect((await started(watched(live.config))).fees.dearer).toEqual(stateAsCounted)
})

test('F-115: a chain whose endpoints estimate nothing is priced by what the release counts on', async () => {
  await live.proxies.base.set({ kind: 'unsupported', methods: ['eth_estimateGas'] })
  const { fees, shapes } = await started(watched(live.config))
  expect([fees.dearer, shapes]).toEqual([stateAsCounted, []])
})
