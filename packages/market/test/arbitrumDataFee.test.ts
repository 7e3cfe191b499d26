// Goal: what an Arbitrum chain charges for data is what enough endpoints say, at one block.
// Attack: one endpoint of three tells a price of data that is next to nothing, so that the solver fills at a loss, or
// one that is far too dear, so that nobody is quoted. Method: a real node with a contract in place of the precompile,
// which nodes of other chains do not have; it answers six words, the second from its storage.

import { isContractChain } from '@causeway/core/config'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { createJsonRpcClient } from '@causeway/rpc'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createChainSource } from '../src/chain/chainSource.ts'
import { type ChainPlan, planMarket } from '../src/plan.ts'
import { evmFees } from './support/fixtures.ts'
import { readLocalQuoteFile } from './support/liveMarket.ts'
import type { Lie } from './support/randomLies.ts'
import { recordChain } from './support/recordedChain.ts'
import { startTellingEndpoint, type TellingEndpoint } from './support/tellingEndpoint.ts'

const arbGasInfo = '0x000000000000000000000000000000000000006c'
/** SLOAD of slot 1 into the second of six words. */
const standIn = '0x60015460205260c05ff3'
const perByteWei = 3_141_592_653n
const wordOf = (value: bigint) => value.toString(16).padStart(64, '0')

let network: TestNetwork
let endpoints: readonly TellingEndpoint[]
let plan: ChainPlan
let height: bigint

beforeAll(async () => {
  network = await startTestNetwork()
  const { chain, url } = network.chains.base
  await chain.node.setCode({ address: arbGasInfo, bytecode: standIn })
  const index = `0x${wordOf(1n)}` as const
  await chain.node.setStorageAt({ address: arbGasInfo, index, value: `0x${wordOf(perByteWei)}` })
  const file = await readLocalQuoteFile(network)
  const base = planMarket(file).chains.find(({ chainKey }) => chainKey === 'base')
  if (base === undefined || !isContractChain(base.config)) throw new Error('no base')
  const feeModel = { ...base.config.feeModel, kind: 'arbitrum', gasPriceOracle: arbGasInfo } as const
  plan = { ...base, config: { ...base.config, feeModel } }
  height = await chain.client.getBlockNumber({ cacheTime: 0 })
  const recorded = recordChain(url)
  endpoints = await Promise.all([1, 2, 3].map(() => startTellingEndpoint(recorded)))
})
afterAll(async () => {
  await Promise.all((endpoints ?? []).map((endpoint) => endpoint.close()))
  await network?.stop()
})

/** Tells another price of data wherever the true one stands. */
const lieOf = (toldWei: bigint): Lie => ({
  name: `data at ${toldWei}`,
  answer: (_calls, truth) => truth,
  send: (text) => text.replaceAll(wordOf(perByteWei), wordOf(toldWei)),
})

async function dataFees(lies: readonly Lie[]) {
  const client = createJsonRpcClient({
    chainId: 'base',
    endpoints: endpoints.map(({ url }) => ({ url })),
    timeoutMs: 5_000,
  })
  try {
    for (const [index, endpoint] of endpoints.entries())
      endpoint.tell({ height, lie: lies[index], ...(index >= lies.length && { delayMs: 1 }) })
    const source = createChainSource({
      plan,
      client,
      batchTimeoutMs: 5_000,
      poolsTimeoutMs: 5_000,
      now: () => 0,
    })
    return evmFees((await source.read(AbortSignal.timeout(5_000))).fees.fees)
  } finally {
    await client.close()
  }
}

describe('the price of data on an Arbitrum chain', () => {
  test.each([
    ['nothing', 0n],
    ['a thousandth', perByteWei / 1_000n],
    ['a thousandfold', perByteWei * 1_000n],
  ])('stays what two of three say when the fastest tells %s', async (_name, told) => {
    const [honest, withLiar] = [await dataFees([]), await dataFees([lieOf(told)])]
    expect(honest.l1DataFeeWei['fill-erc20']).toBeGreaterThan(perByteWei * 200n)
    expect(withLiar.equals(honest)).toBe(true)
  })

  test('is no price at all when two of three disagree with each other and the third', async () => {
    await expect(dataFees([lieOf(0n), lieOf(perByteWei * 2n)])).rejects.toMatchObject({
      kind: 'upstream_unavailable',
    })
  })
})
