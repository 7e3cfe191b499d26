// Goal: one look tells how far the newest final block trails and what known transactions take. Attacks: one of three
// endpoints that makes a network look broken, which would stop a chain, or sound, which would hide that it is broken.
// Method: a real node behind three proxies, with a contract whose storage takes more than it did.

import { readNetworkFacts } from '@causeway/chains'
import type { Hex } from '@causeway/core'
import { type FaultProxy, type PoolTestbed, startFaultProxy, startPoolTestbed } from '@causeway/localnet'
import { createJsonRpcClient, type JsonRpcClient, type RpcCall } from '@causeway/rpc'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

const vmType = 'ethereum-vm'
const wrappedNative: Hex = `0x${'77'.repeat(20)}`

let bed: PoolTestbed
let proxies: FaultProxy[] = []
let direct: JsonRpcClient
let client: ReturnType<typeof createJsonRpcClient>

beforeAll(async () => {
  bed = await startPoolTestbed()
  direct = createJsonRpcClient({ chainId: 'base', endpoints: [{ url: bed.anvil.url }] })
  proxies = await Promise.all([1, 2, 3].map(() => startFaultProxy({ targetUrl: bed.anvil.url })))
  client = createJsonRpcClient({
    chainId: 'base',
    endpoints: proxies.map(({ url }) => ({ url })),
  })
})
afterAll(async () => {
  await Promise.all([client?.close(), direct?.close(), ...proxies.map((proxy) => proxy.stop())])
  await bed?.anvil.stop()
})
beforeEach(() => Promise.all(proxies.map((proxy) => proxy.set({ kind: 'pass' }))))

const ask = (method: string, ...params: unknown[]) => direct.request({ method, params } satisfies RpcCall)

/** Code that fills so many slots and answers with a word. */
const fills = (slots: number): Hex =>
  `0x${Array.from({ length: slots }, (_, slot) => `600160${slot.toString(16).padStart(2, '0')}55`).join('')}60206000f3`

async function look(kind: 'eip1559' | 'arbitrum' = 'eip1559') {
  const feeModel = {
    kind,
    historyBlocks: 10,
    rewardPercentile: 20,
    minPriorityFeeWei: 1n,
    ceilingBlocks: 100,
    ceilingFactor: 4,
    ceilingFromWei: 0n,
    inclusionBlocks: 6,
    markupBps: 0,
  }
  const fillWallet = bed.walletClient.account.address.toLowerCase()
  const said = await readNetworkFacts({ vmType }, { client, config: { feeModel, wrappedNative }, fillWallet })
  if (said === undefined) throw new Error('the family tells')
  return said
}

test('F-109: one look tells the newest block and the newest final one, whatever one endpoint of three says', async () => {
  await ask('anvil_mine', '0x64', '0xa')
  const { head, final } = await look()
  const lagSeconds = (head?.timestampSeconds ?? 0) - (final?.timestampSeconds ?? 0)
  expect(lagSeconds).toBeGreaterThanOrEqual(10)
  for (const timestamp of ['0x1', '0xfffffffff']) {
    await proxies[0]?.set({
      kind: 'lie',
      rewrite: (_call, result) => (typeof result === 'object' ? { ...result, timestamp } : result),
    })
    expect(await look()).toMatchObject({ head, final })
  }
  for (const proxy of proxies.slice(1)) await proxy.set({ kind: 'refuse' })
  expect(await look()).toMatchObject({ head: undefined, final: undefined, shapes: [] })
})

test('F-110, F-115: a contract that takes more gas than before is seen, and one endpoint neither makes nor hides it', async () => {
  await ask('anvil_setCode', wrappedNative, fills(1))
  const unitsOf = async () => new Map((await look()).shapes.map((one) => [one.shape, one]))
  const before = await unitsOf()
  expect([...before.keys()].sort()).toEqual(['approve', 'send-native'])
  for (const { units, countedUnits } of before.values()) expect(units).toBeLessThanOrEqual(countedUnits)
  await proxies[0]?.set({ kind: 'lie', rewrite: () => '0x989680' })
  for (const { units, countedUnits } of (await unitsOf()).values())
    expect(units).toBeLessThanOrEqual(countedUnits)
  await ask('anvil_setCode', wrappedNative, fills(5))
  await proxies[0]?.set({ kind: 'lie', rewrite: () => '0x5208' })
  const approve = (await unitsOf()).get('approve')
  expect(approve?.units).toBeGreaterThan(approve?.countedUnits ?? 0n)
})

test('F-110: where the data of a transaction counts as gas, no units are compared: its price changes by itself', async () => {
  expect((await look('arbitrum')).shapes).toEqual([])
})
