// Goal: the keeper keeps heads, finality, base fees, feeds and files in order, and outlives trouble.
// Method: real local networks with a hasty keeper; a node is stopped in its tracks by SIGSTOP.
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Hex } from 'viem'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { firstProgress, maintainChain } from '../src/network/maintainChain.ts'
import { setBaseFee } from '../src/network/operate/baseFee.ts'
import type { OperatedNetwork } from '../src/network/operate/operatedNetwork.ts'
import { readFeeds } from '../src/network/refreshFeeds.ts'
import type { LocalNetwork } from '../src/network/startLocalNetwork.ts'
import { startTestNetwork } from '../src/network/testNetwork/startTestNetwork.ts'
import { waitUntil } from '../src/waitUntil.ts'
import { copyOf, startNetwork } from './support/networkBench.ts'
import { stoppedNetworkFolder } from './support/stoppedNetwork.ts'

const account: Hex = `0x${'cd'.repeat(20)}`
const hasty = { lookMs: 50, feedLookMs: 50 }
let template: string

beforeAll(async () => {
  template = await stoppedNetworkFolder()
}, 120_000)

async function baseFeed({ chains, deployment }: LocalNetwork) {
  const [round] = await readFeeds(chains.base.chain, deployment.base)
  if (round === undefined) throw new Error('no round')
  return round
}

async function payOneWei({ chains, keys }: OperatedNetwork): Promise<bigint> {
  const [user] = keys.users
  if (user === undefined) throw new Error('no user')
  const { publicClient, walletClient } = chains.base.chain.as(user)
  const hash = await walletClient.sendTransaction({ to: account, value: 1n })
  return (await publicClient.waitForTransactionReceipt({ hash })).blockNumber
}

describe('feeds', () => {
  it('are published again, unchanged, whenever they reach the age', async () => {
    const { network } = await startNetwork(await copyOf(template), {
      keeperTiming: { ...hasty, feedRefreshSeconds: 1 },
    })
    const first = await baseFeed(network)
    await waitUntil('the feed has a later round', async () => {
      return (await baseFeed(network)).updatedAtUnixSeconds > first.updatedAtUnixSeconds
    })
    const later = await baseFeed(network)
    expect(later.answer).toBe(first.answer)
    await waitUntil('it happened again', async () => {
      return (await baseFeed(network)).updatedAtUnixSeconds > later.updatedAtUnixSeconds
    })
  })

  it('are left alone while they are fresh', async () => {
    const keeperTiming = { ...hasty, feedRefreshSeconds: 3_600 }
    const { network } = await startNetwork(await copyOf(template), { keeperTiming })
    const { keeper } = network.keys
    const sent = () => network.chains.base.chain.client.getTransactionCount({ address: keeper.address })
    const before = await sent()
    const round = await baseFeed(network)
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(await sent()).toBe(before)
    expect(await baseFeed(network)).toEqual(round)
  })

  it('that grew old while nothing ran are fresh when the start is over', async () => {
    // The clock of the keeper is two hours ahead, as after a night.
    const now = () => Date.now() + 7_200_000
    const lines: string[] = []
    const { network } = await startNetwork(await copyOf(template), {
      now,
      keeperLog: (line) => lines.push(line),
    })
    expect(lines.filter((line) => line.startsWith('base feeds: refreshed ETH/USD'))).toHaveLength(1)
    const { updatedAtUnixSeconds } = await baseFeed(network)
    expect(Number(updatedAtUnixSeconds)).toBeGreaterThan(Date.now() / 1_000 - 60)
  })
})

describe('heads', () => {
  it('move until a transaction is final, and no further, although nobody else mines', async () => {
    const network = await startTestNetwork()
    onTestFinished(() => network.stop())
    const { chain } = network.chains.base
    const care = { chain, baseFeeWei: 1n, save: async () => {}, now: Date.now }
    let progress = await firstProgress(care)
    const paidIn = await payOneWei(network)
    for (let look = 0; look < 5; look += 1) progress = await maintainChain(care, progress)
    expect(await chain.client.getBlockNumber({ cacheTime: 0 })).toBe(paidIn + 2n)
    expect(await chain.client.getBalance({ address: account, blockTag: 'finalized' })).toBe(1n)
  })

  it('move by themselves on an idle chain', async () => {
    const { network } = await startNetwork(await copyOf(template))
    const { client } = network.chains.hub.chain
    const before = await client.getBlockNumber({ cacheTime: 0 })
    await waitUntil(
      'the idle head moved',
      async () => (await client.getBlockNumber({ cacheTime: 0 })) > before,
    )
  })
})

describe('base fees', () => {
  it('come back in steps that a fee cap outlives, after blocks without care', async () => {
    const network = await startTestNetwork()
    onTestFinished(() => network.stop())
    const { chain } = network.chains.base
    const heldWei = 10_000_000n
    const headFeeWei = async () => (await chain.client.getBlock()).baseFeePerGas ?? 0n
    const care = { chain, baseFeeWei: heldWei, save: async () => {}, now: Date.now }
    let progress = await firstProgress(care)
    expect(await headFeeWei()).toBe(heldWei)
    await chain.node.mine({ blocks: 20 })
    const low = await headFeeWei()
    expect(low * 5n).toBeLessThan(heldWei)
    for (let before = low; before < heldWei; before = await headFeeWei()) {
      progress = await maintainChain(care, progress)
      await chain.node.mine({ blocks: 1 })
      expect(await headFeeWei()).toBeGreaterThan(before)
      expect(await headFeeWei()).toBeLessThanOrEqual((before * 5n) / 4n + 1n)
    }
    expect(await headFeeWei()).toBe(heldWei)
  })

  it('stay where the chain has them, and where an operator put them, over a restart too', async () => {
    const directory = await copyOf(template)
    const { network } = await startNetwork(directory, { keeperTiming: hasty })
    const { chain } = network.chains.base
    // An empty block lowers the fee of the next one, unless the keeper sets it again.
    const staysAt = async ({ client, node }: typeof chain, feeWei: bigint): Promise<void> => {
      for (let count = 0; count < 4; count += 1) {
        await waitUntil(`the next block costs ${feeWei}`, async () => {
          return (await client.getBlock({ blockTag: 'pending' })).baseFeePerGas === feeWei
        })
        await node.mine({ blocks: 1 })
        expect((await client.getBlock()).baseFeePerGas).toBe(feeWei)
      }
    }
    await staysAt(chain, 10_000_000n)
    await setBaseFee(chain, 3_000_000_000n)
    await staysAt(chain, 3_000_000_000n)
    await network.stop()

    const again = await startNetwork(directory, { keeperTiming: hasty })
    await staysAt(again.network.chains.base.chain, 3_000_000_000n)
    await staysAt(again.network.chains.optimism.chain, 5_000_000n)
  })
})

describe('chain files', () => {
  it('hold a transaction soon after it was mined', async () => {
    const directory = await copyOf(template)
    const { network } = await startNetwork(directory, { keeperTiming: hasty })
    await payOneWei(network)
    const file = join(directory, 'chains', 'base.json')
    await waitUntil('the payment is saved', async () =>
      (await readFile(file, 'utf8')).includes(account.slice(2)),
    )
  })

  it('are not written again while nothing happens', async () => {
    const directory = await copyOf(template)
    // On a clock that stands still, the time to save empty blocks never comes.
    const startedAtMs = Date.now()
    const { network } = await startNetwork(directory, { keeperTiming: hasty, now: () => startedAtMs })
    const file = join(directory, 'chains', 'base.json')
    await payOneWei(network)
    await waitUntil('the payment is saved', async () =>
      (await readFile(file, 'utf8')).includes(account.slice(2)),
    )
    const { node } = network.chains.base.chain
    await node.mine({ blocks: 4 })
    // A look that began before these blocks may still save.
    await new Promise((resolve) => setTimeout(resolve, 500))
    const { mtimeMs } = await stat(file)
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    expect((await stat(file)).mtimeMs).toBe(mtimeMs)
  })
})

describe('a node that hangs for a while', () => {
  it('costs the other chains nothing and is cared for again afterwards', async () => {
    const lines: string[] = []
    const { network } = await startNetwork(await copyOf(template), {
      keeperTiming: { ...hasty, feedRefreshSeconds: 1 },
      keeperLog: (line) => lines.push(line),
    })
    const { base, optimism } = network.chains
    process.kill(base.pid, 'SIGSTOP')
    try {
      const { client } = optimism.chain
      const round = async () => (await readFeeds(optimism.chain, network.deployment.optimism))[0]
      const before = await round()
      await waitUntil('optimism is cared for', async () => {
        const now = await round()
        return (now?.updatedAtUnixSeconds ?? 0n) > (before?.updatedAtUnixSeconds ?? 0n)
      })
      expect(await client.getChainId()).toBe(10)
    } finally {
      process.kill(base.pid, 'SIGCONT')
    }
    const before = await baseFeed(network)
    await waitUntil('base is cared for', async () => {
      return (await baseFeed(network)).updatedAtUnixSeconds > before.updatedAtUnixSeconds
    })
  })

  it('does not keep the network from stopping', async () => {
    const { network } = await startNetwork(await copyOf(template), { keeperTiming: hasty })
    process.kill(network.chains.base.pid, 'SIGSTOP')
    const stopped = network.stop()
    // Time enough for the keeper to give up on the node; then it may end.
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    process.kill(network.chains.base.pid, 'SIGCONT')
    await expect(stopped).resolves.toBeUndefined()
  })
})
