// Goal: facts are what enough of the configured endpoints say of one final block, and every other outcome is
// the right refusal. Method: one real node behind three proxies that lie, hang, lag or are dead.

import type { Hex } from '@causeway/core'
import { encodeDepositNative } from '@causeway/families/rules'
import { type FaultMode, type FaultProxy, type LocalAccount, startFaultProxy } from '@causeway/localnet'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  aSignal,
  type ChainBed,
  type ReaderSettings,
  readerOf,
  startChainBed,
} from './ethereumSupport/chainBed.ts'

const id: Hex = `0x${'ab'.repeat(32)}`
const pass: FaultMode = { kind: 'pass' }
const dead: FaultMode = { kind: 'refuse' }
const silent: FaultMode = { kind: 'hang' }
const short = { readingTimeoutMs: 1_500, requestTimeoutMs: 1_000, patienceMs: 50 }

let bed: ChainBed
let user: LocalAccount
let deposit: { readonly transactionId: Hex; readonly blockNumber: bigint }
let proxies: readonly FaultProxy[]

beforeAll(async () => {
  bed = await startChainBed()
  const [first] = bed.network.keys.users
  if (first === undefined) throw new Error('no user')
  user = first
  deposit = await send()
  await bed.mine(20)
  proxies = await Promise.all([1, 2, 3].map(() => startFaultProxy({ targetUrl: bed.url })))
})
afterAll(async () => {
  await Promise.all((proxies ?? []).map((proxy) => proxy.stop()))
  await bed?.stop()
})
beforeEach(() => behave(pass, pass, pass))

const send = () => bed.send(user, bed.deployment.depository, encodeDepositNative(user.address, id), 7n)

async function behave(...modes: readonly FaultMode[]): Promise<void> {
  await Promise.all(proxies.map((proxy, index) => proxy.set(modes[index] ?? pass)))
}

function read(settings: ReaderSettings = {}, transactionId = deposit.transactionId) {
  const { reader } = readerOf(bed, { urls: proxies.map(({ url }) => url), quorumLimits: short, ...settings })
  return reader.readDeposits({ transactionId }, aSignal())
}

/** Changes the results of one method. */
function lieAbout(
  method: string,
  change: (result: Record<string, unknown>, params: readonly unknown[]) => unknown,
): FaultMode {
  return {
    kind: 'lie',
    rewrite: (call, result) =>
      call.method === method && typeof result === 'object' && result !== null
        ? change({ ...result }, call.params)
        : result,
  }
}

const aheadBy = (blocks: bigint) =>
  lieAbout('eth_getBlockByNumber', (block, [height]) =>
    height === 'latest'
      ? { ...block, number: `0x${(BigInt(String(block['number'])) + blocks).toString(16)}` }
      : block,
  )
const movedTo = (blocks: bigint, hash: string) =>
  lieAbout('eth_getTransactionReceipt', (receipt) => {
    const { blockHash, blockNumber } = receipt
    const other = `0x${(BigInt(String(blockNumber)) + blocks).toString(16)}`
    return JSON.parse(
      JSON.stringify(receipt)
        .replaceAll(String(blockHash), hash)
        .replaceAll(`"${blockNumber}"`, `"${other}"`),
    )
  })

describe('a third endpoint changes nothing', () => {
  test.each<readonly [string, FaultMode]>([
    ['far ahead', aheadBy(1_000n)],
    ['far behind', { kind: 'staleHead', block: 3n }],
  ])('whose head is %s', async (_name, mode) => {
    await behave(mode)
    expect(await read()).toMatchObject({ deposits: [{ amount: 7n }] })
  })

  test('that is silent is waited for no longer than it may take part in the choice', async () => {
    await behave(pass, silent)
    const { reader } = readerOf(bed, {
      urls: proxies.map(({ url }) => url),
      quorumLimits: { readingTimeoutMs: 600_000, requestTimeoutMs: 600_000, patienceMs: 20 },
    })
    await expect(reader.readDeposits(deposit, aSignal())).resolves.toMatchObject({ kind: 'deposits' })
  })
})

describe('two agreeing endpoints decide nothing', () => {
  test('F-83: that do not have a transaction which the third shows in a block that is not theirs', async () => {
    const pruned = lieAbout('eth_getTransactionReceipt', () => null)
    await behave(pruned, pruned, movedTo(-1n, `0x${'aa'.repeat(32)}`))
    await expect(read()).rejects.toMatchObject({ code: 'TRANSACTION_MISSING', retryable: true })
  })

  test('that show the transaction at other heights', async () => {
    await behave(movedTo(-1n, `0x${'aa'.repeat(32)}`), movedTo(-2n, `0x${'bb'.repeat(32)}`))
    await expect(read()).rejects.toMatchObject({ kind: expect.stringMatching(/^upstream_/) })
  })

  test('that show their heads at other heights', async () => {
    const young = await send()
    await behave(aheadBy(100n), aheadBy(200n))
    await expect(read({}, young.transactionId)).rejects.toMatchObject({
      kind: expect.stringMatching(/^(upstream_|not_final)/),
    })
    await expect(read()).rejects.toMatchObject({ kind: expect.stringMatching(/^upstream_/) })
  })
})

describe('what is not final yet', () => {
  test('is refused with a hint, and is no fault of an endpoint', async () => {
    const young = await send()
    await expect(read({}, young.transactionId)).rejects.toMatchObject({
      code: 'TRANSACTION_NOT_FINAL',
      kind: 'not_final',
      retryAfterSeconds: 4,
      retryable: true,
    })
    await bed.mine(1)
    await expect(read({}, young.transactionId)).rejects.toMatchObject({
      code: 'TRANSACTION_NOT_FINAL',
      retryAfterSeconds: 2,
    })
    await bed.mine(1)
    await expect(read({}, young.transactionId)).resolves.toMatchObject({ kind: 'deposits' })
  })

  test('is not made final by one endpoint far ahead', async () => {
    const young = await send()
    await behave(aheadBy(1_000n))
    await expect(read({}, young.transactionId)).rejects.toMatchObject({ code: 'TRANSACTION_NOT_FINAL' })
  })

  test('P-107: is not a disagreement when one endpoint has not seen the transaction and one is dead', async () => {
    const young = await send()
    await behave({ kind: 'staleHead', block: 3n }, dead)
    await expect(read({}, young.transactionId)).rejects.toMatchObject({ code: 'TRANSACTION_NOT_FINAL' })
  })

  test('is said even when the transaction holds no deposit', async () => {
    const young = await bed.send(user, user.address, '0x', 1n)
    await expect(read({}, young.transactionId)).rejects.toMatchObject({ code: 'TRANSACTION_NOT_FINAL' })
  })

  test('O-147: by default ends with ten blocks and sixty seconds, both', async () => {
    const { reader } = readerOf(bed, { hasDefaultFinality: true })
    const { transactionId } = await send()
    const { timestamp } = await bed.chain.client.getBlock()
    const readIt = () => reader.readDeposits({ transactionId }, aSignal())
    await bed.mine(9)
    await bed.chain.node.setNextBlockTimestamp({ timestamp: timestamp + 59n })
    await bed.mine(1)
    await expect(readIt()).rejects.toMatchObject({ code: 'TRANSACTION_NOT_FINAL', retryAfterSeconds: 1 })
    await bed.chain.node.setNextBlockTimestamp({ timestamp: timestamp + 60n })
    await bed.mine(1)
    await expect(readIt()).resolves.toMatchObject({ evidence: { finalityRule: '10 blocks and 60 seconds' } })
    const later = await send()
    await bed.chain.node.setNextBlockTimestamp({ timestamp: timestamp + 1_000n })
    await bed.mine(9)
    await expect(reader.readDeposits(later, aSignal())).rejects.toMatchObject({
      code: 'TRANSACTION_NOT_FINAL',
    })
    await bed.mine(1)
    await expect(reader.readDeposits(later, aSignal())).resolves.toMatchObject({ kind: 'deposits' })
  })

  test.each([
    ['tag', { mode: 'tag' }],
    ['depth', { mode: 'depth', blocks: 2 }],
    ['time', { mode: 'time', seconds: 100 }],
  ] as const)('ends by %s where the chain is configured so', async (_name, finality) => {
    const { transactionId } = await send()
    const { timestamp } = await bed.chain.client.getBlock()
    await expect(read({ finality }, transactionId)).rejects.toMatchObject({ code: 'TRANSACTION_NOT_FINAL' })
    await bed.chain.node.setNextBlockTimestamp({ timestamp: timestamp + 100n })
    await bed.mine(2)
    await expect(read({ finality }, transactionId)).resolves.toMatchObject({ kind: 'deposits' })
  })
})

describe('final blocks', () => {
  test('are old enough where the rule counts seconds', async () => {
    const finality = { mode: 'depth-and-time', blocks: 1, seconds: 500 } as const
    const { reader } = readerOf(bed, { finality })
    const old = await bed.chain.client.getBlock()
    for (const seconds of [600n, 900n]) {
      await bed.chain.node.setNextBlockTimestamp({ timestamp: old.timestamp + seconds })
      await bed.mine(1)
    }
    const newest = await reader.finalBlocks.readNewest(aSignal())
    const block = await bed.chain.client.getBlock({ blockNumber: newest.number })
    expect(newest.hash).toBe(block.hash)
    expect(newest.number).toBeLessThanOrEqual(old.number)
    expect(newest.number).toBeGreaterThan(old.number - 8n)
  })

  test('P-95: are linked no further than the seconds allow, but for noted ones', async () => {
    const finality = { mode: 'time', seconds: 500 } as const
    const { reader } = readerOf(bed, { finality })
    const { timestamp } = await bed.chain.client.getBlock()
    await bed.chain.node.setNextBlockTimestamp({ timestamp: timestamp + 600n })
    await bed.mine(1)
    const newest = await reader.finalBlocks.readNewest(aSignal())
    const linked = async (noted: readonly bigint[]) => {
      const links = await reader.finalBlocks.readLinks?.(newest.number - 1n, { ...aSignal(), noted })
      return links?.map(({ number }) => number - newest.number)
    }
    expect(await linked([])).toEqual([-1n, 0n])
    // A reading of facts called it final, by its own age.
    expect(await linked([newest.number + 1n])).toEqual([-1n, 0n, 1n])
  })

  test('F-122: of many those are linked that were noted, and the newest; of few all', async () => {
    await bed.mine(40)
    const { reader } = readerOf(bed, { urls: proxies.map(({ url }) => url), quorumLimits: short })
    const newest = await reader.finalBlocks.readNewest(aSignal())
    const linked = async (back: bigint, noted: readonly bigint[]) => {
      const from = newest.number - back
      const heights = noted.map((above) => from + above)
      const links = (await reader.finalBlocks.readLinks?.(from, { ...aSignal(), noted: heights })) ?? []
      for (const { number, hash } of links)
        expect(hash).toBe((await bed.chain.client.getBlock({ blockNumber: number })).hash)
      return links.map(({ number }) => number - from)
    }
    expect(await linked(15n, [])).toEqual([0n, 15n])
    expect(await linked(15n, [3n, 7n])).toEqual([0n, 3n, 7n, 15n])
    expect(await linked(3n, [2n])).toEqual([0n, 1n, 2n, 3n])
    // None is skipped: of too many the newest waits.
    const twenty = Array.from({ length: 20 }, (_, index) => BigInt(index + 1))
    expect(await linked(30n, twenty)).toEqual([0n, ...twenty.slice(0, 16)])
  })

  test('that endpoints show differently are a disagreement', async () => {
    const fake = (digits: string) =>
      lieAbout('eth_getBlockByNumber', (block) => ({ ...block, hash: `0x${digits.repeat(32)}` }))
    await behave(fake('aa'), fake('bb'))
    const { reader } = readerOf(bed, { urls: proxies.map(({ url }) => url), quorumLimits: short })
    await expect(reader.finalBlocks.readNewest(aSignal())).rejects.toMatchObject({
      code: 'UPSTREAM_DISAGREEMENT',
    })
  })
})
