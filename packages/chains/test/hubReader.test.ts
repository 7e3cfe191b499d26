// Goal: hub balances and executed keys are what the quorum of the hub's endpoints shows at one block.
// Method: the hub's own contracts on a real node, behind proxies.
import type { Hex } from '@causeway/core'
import {
  type FaultProxy,
  hubAbi,
  startFaultProxy,
  startTestNetwork,
  type TestNetwork,
} from '@causeway/localnet'
import { encodeFunctionData, keccak256, toHex } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createHubReader, createQuorumClient } from '../src/index.ts'
import { aSignal } from './ethereumSupport/chainBed.ts'

const holder: Hex = `0x${'71'.repeat(20)}`
const tokenId = 2n ** 200n + 5n

let network: TestNetwork
let proxies: readonly FaultProxy[]

beforeAll(async () => {
  network = await startTestNetwork()
  const { hub } = network.deployment.hub
  const { chain, url } = network.chains.hub
  const role = keccak256(toHex('OPERATOR_ROLE'))
  const { deployer } = network.keys
  const data = [
    encodeFunctionData({ abi: hubAbi, functionName: 'grantRole', args: [role, deployer.address] }),
    encodeFunctionData({ abi: hubAbi, functionName: 'mint', args: [holder, tokenId, 12_345n] }),
  ]
  await chain.send(
    deployer,
    data.map((each, index) => ({ what: `hub call ${index}`, to: hub, data: each })),
  )
  proxies = await Promise.all([1, 2, 3].map(() => startFaultProxy({ targetUrl: url })))
})
afterAll(async () => {
  await Promise.all((proxies ?? []).map((proxy) => proxy.stop()))
  await network?.stop()
})
beforeEach(async () => {
  for (const proxy of proxies) await proxy.set({ kind: 'pass' })
})

function hubReader(hubAddress?: Hex) {
  const quorum = createQuorumClient({
    chainId: 'relay',
    endpoints: proxies.map(({ url }) => ({ url })),
    now: Date.now,
    limits: { readingTimeoutMs: 20_000, requestTimeoutMs: 10_000 },
  })
  onTestFinished(() => quorum.close())
  return createHubReader({ quorum, oracleAddress: network.deployment.hub.oracle, hubAddress })
}

describe('the hub reader', () => {
  test('finds the hub that the oracle contract names', async () => {
    expect(await hubReader().hubAddress(aSignal())).toBe(network.deployment.hub.hub.toLowerCase())
  })

  test('reads a balance, with and without a configured hub', async () => {
    for (const reader of [hubReader(), hubReader(network.deployment.hub.hub)]) {
      expect(await reader.balanceOf(holder, tokenId, aSignal())).toBe(12_345n)
      expect(await reader.balanceOf(holder, tokenId + 1n, aSignal())).toBe(0n)
    }
  })

  test('says that a key which nobody executed is not executed', async () => {
    expect(await hubReader().isExecuted(`0x${'ab'.repeat(32)}`, aSignal())).toBe(false)
  })

  test('believes two of three, and nobody when each says something else', async () => {
    const forged = (digits: string) => ({
      kind: 'lie' as const,
      rewrite: ({ method }: { readonly method: string }, result: unknown) =>
        method === 'eth_call' ? `0x${digits.padStart(64, '0')}` : result,
    })
    await proxies[0]?.set(forged('ff'))
    const reader = hubReader(network.deployment.hub.hub)
    expect(await reader.balanceOf(holder, tokenId, aSignal())).toBe(12_345n)
    await proxies[1]?.set(forged('fe'))
    await expect(reader.balanceOf(holder, tokenId, aSignal())).rejects.toMatchObject({
      code: 'UPSTREAM_DISAGREEMENT',
    })
  })

  test('takes an address without code for an endpoint that does not answer', async () => {
    await expect(hubReader(holder).balanceOf(holder, tokenId, aSignal())).rejects.toMatchObject({
      kind: 'upstream_unavailable',
    })
  })
})
