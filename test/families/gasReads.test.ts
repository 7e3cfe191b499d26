// Goal: what is built and read for gas prices and data fees fits a real node and the rollup's oracle.
import type { Hex } from '@causeway/core'
import { UpstreamUnavailableError } from '@causeway/core'
import type { GasModel } from '@causeway/core/config'
import {
  estimateGasPrice,
  feeHistoryRequest,
  type HeadChain,
  headRequest,
  l1DataFeeCalls,
  multicall,
  observeHead,
  parseFeeHistory,
  parseHead,
  planDataFees,
  probeCalldata,
  readHead,
  readL1DataFees,
} from '@causeway/families'
import { loadArtifacts } from '@causeway/localnet'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type EvmTestbed, startEvmTestbed } from './evmTestbed.ts'

const gasPriceOracle = '0x420000000000000000000000000000000000000f'
const model: GasModel = {
  kind: 'op-stack',
  historyBlocks: 10,
  rewardPercentile: 20,
  minPriorityFeeWei: 1n,
  ceilingBlocks: 100,
  ceilingFactor: 4,
  ceilingFromWei: 0n,
  inclusionBlocks: 6,
  markupBps: 1_000,
  gasPriceOracle,
}

let chain: EvmTestbed

beforeAll(async () => {
  chain = await startEvmTestbed()
})
afterAll(() => chain.stop())
beforeEach(() => chain.proxy.set({ kind: 'pass' }))

test('the expected price is the base fee that the next block has, plus the tip', async () => {
  const client = chain.client()
  const { number } = await readHead(client)
  const history = parseFeeHistory(await client.request(feeHistoryRequest(model, number)))
  const price = estimateGasPrice(history, model)
  await chain.node({ method: 'anvil_mine', params: ['0x1'] })
  const { baseFeePerGasWei } = await readHead(client)
  expect(price.expectedWei - price.maxPriorityFeePerGasWei).toBe(baseFeePerGasWei)
  expect(price.maxFeePerGasWei).toBeGreaterThan(price.expectedWei)
})

describe('the data fee of an OP-stack chain', () => {
  const shapes = (gasUnits: bigint) => [
    { calldata: '0x' as const, valueWei: 10n ** 18n, gasUnits },
    { calldata: probeCalldata(Array.from({ length: 8 }, () => 'hash' as const)), valueWei: 0n, gasUnits },
  ]

  async function fees(gasUnits = 100_000n) {
    const calls = l1DataFeeCalls({ chainId: 8453, gasPriceOracle, shapes: shapes(gasUnits) })
    const client = chain.client()
    return readL1DataFees(
      await multicall(client, { multicall3: chain.bed.multicall3, calls, block: 'latest' }),
    )
  }

  const setSlot = (slot: string, value: bigint) =>
    chain.node({
      method: 'anvil_setStorageAt',
      params: [gasPriceOracle, slot, `0x${value.toString(16).padStart(64, '0')}`],
    })

  beforeAll(async () => {
    const { GasPriceOracle } = await loadArtifacts()
    await chain.node({ method: 'anvil_setCode', params: [gasPriceOracle, GasPriceOracle.runtimeBytecode] })
    await setSlot('0x1', 20_000_000_000n)
    await setSlot('0x2', 1_000_000_000n)
    await setSlot('0x3', 2_269n + (1_055_762n << 32n))
  })

  test('grows with what the transaction carries', async () => {
    const [plain, heavy] = await fees()
    // Eight random words are 256 bytes that do not compress: by the Fjord fit 214 bytes more.
    expect(plain).toBeGreaterThan(0n)
    expect(heavy).toBeGreaterThan(2n * (plain ?? 0n))
  })

  test('includes the operator fee, which grows with gas', async () => {
    const [without] = await fees()
    await setSlot('0x3', 2_269n + (1_055_762n << 32n) + (1_000_000n << 64n) + (5n << 96n))
    const [with100k] = await fees()
    const [with200k] = await fees(200_000n)
    expect((with100k ?? 0n) - (without ?? 0n)).toBe(100_005n)
    expect((with200k ?? 0n) - (with100k ?? 0n)).toBe(100_000n)
  })

  test('is refused, not guessed, where the oracle is missing', async () => {
    await chain.node({ method: 'anvil_setCode', params: [gasPriceOracle, '0x'] })
    await expect(fees()).rejects.toMatchObject({ kind: 'upstream_unavailable' })
  })
})

describe('the data fee of an Arbitrum chain', () => {
  // A stand-in: it answers six words, the second of them from its storage. Nodes of other chains have no precompile.
  const standIn = '0x60015460205260c05ff3'
  const arbGasInfo = '0x000000000000000000000000000000000000006c'

  async function feesAt(perByteWei: bigint) {
    const shapes = [{ calldata: '0x' as const, valueWei: 1n, gasUnits: 21_000n }]
    const feeModel = { kind: 'arbitrum', gasPriceOracle: arbGasInfo } as const
    const planned = planDataFees({ chainId: 42_161, feeModel, shapes })
    await chain.node({
      method: 'anvil_setStorageAt',
      params: [arbGasInfo, '0x1', `0x${perByteWei.toString(16).padStart(64, '0')}`],
    })
    const { multicall3 } = chain.bed
    return planned.read(
      await multicall(chain.client(), { multicall3, calls: planned.calls, block: 'latest' }),
    )
  }

  test('follows the price that the chain tells, and is refused where there is none', async () => {
    await expect(feesAt(1n)).rejects.toMatchObject({ kind: 'upstream_unavailable' })
    await chain.node({ method: 'anvil_setCode', params: [arbGasInfo, standIn] })
    const [low = 0n] = await feesAt(1_000_000n)
    const [high = 0n] = await feesAt(3_000_000n)
    expect(low).toBeGreaterThan(100n * 1_000_000n)
    expect(high).toBe(3n * low)
  })
})

describe('multicall', () => {
  test('reads at the block that is named, by hash or number', async () => {
    const client = chain.client()
    const account = `0x${'31'.repeat(20)}` as const
    await chain.node({ method: 'anvil_setBalance', params: [account, '0x5'] })
    await chain.node({ method: 'anvil_mine', params: ['0x1'] })
    const before = await readHead(client)
    await chain.node({ method: 'anvil_mine', params: ['0x1'] })
    await chain.node({ method: 'anvil_setBalance', params: [account, '0x6'] })

    const call = {
      target: chain.bed.multicall3,
      callData: `0x4d2301cc${account.slice(2).padStart(64, '0')}` as Hex,
    }
    const at = async (block: Parameters<typeof multicall>[1]['block']) => {
      const where = { multicall3: chain.bed.multicall3, calls: [call], block }
      return (await multicall(client, where)).map(({ returnData }) => BigInt(returnData))
    }
    expect(await at('latest')).toEqual([6n])
    expect(await at({ hash: before.hash })).toEqual([5n])
    expect(await at({ number: before.number })).toEqual([5n])
  })

  test('is typed as unavailable where Multicall3 is missing or the block is unknown', async () => {
    const client = chain.client()
    const calls = [{ target: chain.token, callData: '0x313ce567' as const }]
    const nowhere = multicall(client, { multicall3: `0x${'12'.repeat(20)}`, calls, block: 'latest' })
    await expect(nowhere).rejects.toBeInstanceOf(UpstreamUnavailableError)
    const never = { hash: `0x${'12'.repeat(32)}` as const }
    const unknown = multicall(client, { multicall3: chain.bed.multicall3, calls, block: never })
    await expect(unknown).rejects.toBeInstanceOf(UpstreamUnavailableError)
  })

  test('asks nobody for no calls', async () => {
    chain.proxy.resetCounters()
    expect(await multicall(chain.client(), { multicall3: chain.token, calls: [], block: 'latest' })).toEqual(
      [],
    )
    expect(chain.proxy.counters().requests).toBe(0)
  })
})

test('a reorg of a real chain is told from growth, however many blocks were missed', async () => {
  const client = chain.client()
  let known: HeadChain | undefined
  const look = async () => {
    const [latest, atKnown] = await client.batch([headRequest(), headRequest(known?.head.number ?? 0n)])
    const observed = parseHead(latest?.ok ? latest.result : undefined)
    const hash = atKnown?.ok && atKnown.result !== null ? parseHead(atKnown.result).hash : undefined
    const { chain: next, change } = observeHead(known, observed, hash)
    known = next
    return change
  }
  const mine = (blocks: number) => chain.node({ method: 'anvil_mine', params: [`0x${blocks.toString(16)}`] })
  await mine(3)
  expect(await look()).toBe('first')
  await mine(4)
  expect(await look()).toBe('extended')
  await chain.node({ method: 'anvil_reorg', params: [3, []] })
  await mine(5)
  expect(await look()).toBe('reorganised')
  expect(await look()).toBe('same')
})
