// Goal: tests of other packages get deployed chains in a moment, each its own.
// Method: networks from one snapshot side by side, and from a cache folder of this test.
import { mkdtemp, readdir, rm, truncate, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { rolesWithPublishedKeys } from '../src/keys/publishedKeys.ts'
import { isDeployed } from '../src/network/openState.ts'
import { readFeeds } from '../src/network/refreshFeeds.ts'
import { loadSnapshot } from '../src/network/testNetwork/snapshot.ts'
import { startTestNetwork, type TestNetwork } from '../src/network/testNetwork/startTestNetwork.ts'
import { allGone } from './support/networkBench.ts'

async function testNetwork(): Promise<TestNetwork> {
  const network = await startTestNetwork()
  onTestFinished(() => network.stop())
  return network
}

describe('startTestNetwork', () => {
  it('has every contract, fresh feeds, funded users, and final blocks up to the deployment', async () => {
    const { chains, deployment, keys } = await testNetwork()
    for (const key of ['base', 'optimism', 'hub'] as const) {
      expect(await isDeployed(chains[key].chain, deployment[key])).toBe(true)
      const { client } = chains[key].chain
      const { address } = keys.deployer
      expect(await client.getBalance({ address, blockTag: 'finalized' })).toBeGreaterThan(0n)
    }
    expect(rolesWithPublishedKeys(keys)).toEqual([])
    const rounds = await readFeeds(chains.base.chain, deployment.base)
    for (const { updatedAtUnixSeconds } of rounds) {
      expect(Date.now() / 1_000 - Number(updatedAtUnixSeconds)).toBeLessThan(60)
    }
    for (const { address } of keys.users) {
      expect(await chains.optimism.chain.client.getBalance({ address, blockTag: 'finalized' })).toBe(
        1_000n * 10n ** 18n,
      )
    }
  })

  it('gives each caller chains of its own', async () => {
    const [one, other] = await Promise.all([testNetwork(), testNetwork()])
    expect(one.keys).toEqual(other.keys)
    const address: Hex = `0x${'34'.repeat(20)}`
    await one.chains.base.chain.node.setBalance({ address, value: 5n })
    await one.mine('base', 3)
    expect(await other.chains.base.chain.client.getBalance({ address })).toBe(0n)
    expect(await one.chains.base.chain.client.getBalance({ address, blockTag: 'finalized' })).toBe(5n)
  })

  it('does nothing by itself and leaves nothing running', async () => {
    const network = await testNetwork()
    const { client } = network.chains.base.chain
    const before = await client.getBlockNumber({ cacheTime: 0 })
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(await client.getBlockNumber({ cacheTime: 0 })).toBe(before)
    const pids = Object.values(network.chains).map(({ pid }) => pid)
    await network.stop()
    expect(await allGone(pids)).toBe(true)
  })
})

describe('loadSnapshot', () => {
  const emptyCache = async () => {
    const cacheFolder = await mkdtemp(join(tmpdir(), 'causeway-cache-'))
    onTestFinished(() => rm(cacheFolder, { recursive: true }))
    return { cacheFolder, randomKey: generatePrivateKey }
  }

  it('agrees on one snapshot when several build at once, and keeps it', async () => {
    const cache = await emptyCache()
    const [one, other] = await Promise.all([loadSnapshot(cache), loadSnapshot(cache)])
    expect(other.keys).toEqual(one.keys)
    expect((await loadSnapshot(cache)).keys).toEqual(one.keys)
    expect(await readdir(cache.cacheFolder)).toHaveLength(1)
  })

  it('removes what is old, and says what to do about a damaged one', async () => {
    const cache = await emptyCache()
    const { paths } = await loadSnapshot(cache)
    const old = await mkdtemp(join(cache.cacheFolder, 'building-'))
    const young = await mkdtemp(join(cache.cacheFolder, 'building-'))
    const yesterday = new Date(Date.now() - 25 * 3_600_000)
    await utimes(old, yesterday, yesterday)
    await truncate(paths.keyFile, 40)
    await expect(loadSnapshot(cache)).rejects.toThrow('remove it and try again')
    const names = (await readdir(cache.cacheFolder)).map((name) => join(cache.cacheFolder, name))
    expect(names).toContain(young)
    expect(names).not.toContain(old)
  })
})
