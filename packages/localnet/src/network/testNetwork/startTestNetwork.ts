import type { Hex } from '@causeway/core'
import { generatePrivateKey } from 'viem/accounts'
import type { NetworkDeployment } from '../../contracts/deployment.ts'
import type { LocalKeys } from '../../keys/localKeys.ts'
import { type Anvil, startAnvil } from '../../nodes/anvil.ts'
import { connectLocalChain } from '../../nodes/localChain.ts'
import { finalityBlocks } from '../chainChores.ts'
import { type ChainKey, chainKeys, chainPlans, forEachChain } from '../chainPlan.ts'
import { refreshFeeds } from '../refreshFeeds.ts'
import type { RunningChain } from '../startLocalNetwork.ts'
import { loadSnapshot, type Snapshot } from './snapshot.ts'

export type TestNetworkOptions = {
  /** Mine an empty block every so many seconds as well; default: only transactions move the heads. */
  readonly blockTimeSeconds?: number
  /** Hardfork whose rules the nodes follow, by anvil's name; default: anvil's own choice. */
  readonly hardfork?: string
  /** Directory of snapshots; default `.cache/localnet` of the repository. */
  readonly cacheFolder?: string
  /** Keys of a snapshot that is not there yet; default: random ones. */
  readonly randomKey?: () => Hex
  /**
   * Unix seconds of the deployment. The chains' clocks then stand exactly two days later, as in every other
   * run, and go on by a second per block; default: the time of day.
   */
  readonly startUnixSeconds?: number
}

const daySeconds = 86_400

export type TestChain = RunningChain & { readonly anvil: Anvil }

/** Three chains in their first state, in nodes of their own, without a keeper or services. */
export type TestNetwork = {
  readonly keys: LocalKeys
  readonly deployment: NetworkDeployment
  readonly chains: Readonly<Record<ChainKey, TestChain>>
  /** Mines empty blocks; two make everything before them final. */
  mine(chain: ChainKey, blocks?: number): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts three chains from the cached snapshot, on free ports: deploying is done once per version of
 * the contracts. Feeds are fresh and all blocks up to the deployment's last are final.
 */
export async function startTestNetwork(options: TestNetworkOptions = {}): Promise<TestNetwork> {
  const { cacheFolder, randomKey = generatePrivateKey, startUnixSeconds } = options
  const snapshot = await loadSnapshot({
    randomKey,
    ...(cacheFolder !== undefined && { cacheFolder }),
    ...(startUnixSeconds !== undefined && { startUnixSeconds }),
  })
  const started: Anvil[] = []
  const stop = async () => {
    await Promise.all(started.map((anvil) => anvil.stop()))
  }
  try {
    const chains = await forEachChain(async (key) => {
      const anvil = await startFromSnapshot(snapshot, key, options)
      started.push(anvil)
      return testChain(key, anvil)
    })
    await prepare(chains, snapshot)
    // The nodes start a day after the deployment. The blocks until here took more or less time, so the clocks
    // are set to a time that all runs share.
    if (startUnixSeconds !== undefined) await setClocks(chains, startUnixSeconds + 2 * daySeconds)
    return {
      keys: snapshot.keys,
      deployment: snapshot.deployment,
      chains,
      mine: (key, blocks = 1) => chains[key].chain.node.mine({ blocks }),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Mines a block with this time; every later block is one second after the last. */
async function setClocks(chains: Readonly<Record<ChainKey, TestChain>>, unixSeconds: number): Promise<void> {
  await Promise.all(
    chainKeys.map(async (key) => {
      const { node } = chains[key].chain
      await node.setBlockTimestampInterval({ interval: 1 })
      await node.setNextBlockTimestamp({ timestamp: BigInt(unixSeconds) })
      await node.mine({ blocks: 1 })
    }),
  )
}

function startFromSnapshot(
  snapshot: Snapshot,
  key: ChainKey,
  { blockTimeSeconds, hardfork, startUnixSeconds }: TestNetworkOptions,
): Promise<Anvil> {
  const clock = startUnixSeconds === undefined ? [] : ['--timestamp', String(startUnixSeconds + daySeconds)]
  const everySeconds =
    blockTimeSeconds === undefined ? [] : ['--block-time', String(blockTimeSeconds), '--mixed-mining']
  const rules = hardfork === undefined ? [] : ['--hardfork', hardfork]
  return startAnvil({
    chainId: chainPlans[key].chainId,
    args: [
      ...['--load-state', snapshot.paths.chainFile(key), ...rules],
      ...['--accounts', '0', '--slots-in-an-epoch', '1', ...everySeconds, ...clock],
    ],
  })
}

function testChain(key: ChainKey, anvil: Anvil): TestChain {
  const { chainId, url, port, pid } = anvil
  return { key, chainId, url, port, pid, anvil, chain: connectLocalChain(url, chainId) }
}

/** Refreshes the feeds, which are as old as the snapshot, and mines blocks that make the loaded state final. */
async function prepare(
  chains: Readonly<Record<ChainKey, TestChain>>,
  { deployment, keys }: Snapshot,
): Promise<void> {
  const refreshAll = { keeper: keys.keeper, refreshSeconds: 0, now: Date.now }
  await Promise.all([
    refreshFeeds(chains.base.chain, deployment.base, refreshAll),
    refreshFeeds(chains.optimism.chain, deployment.optimism, refreshAll),
  ])
  await Promise.all(
    chainKeys.map(async (key) => {
      const { node } = chains[key].chain
      await node.setNextBlockBaseFeePerGas({ baseFeePerGas: chainPlans[key].baseFeeWei })
      await node.mine({ blocks: Number(finalityBlocks) })
    }),
  )
}
