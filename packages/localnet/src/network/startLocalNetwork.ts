import { resolve } from 'node:path'
import type { Hex } from '@causeway/core'
import { generatePrivateKey } from 'viem/accounts'
import type { NetworkDeployment } from '../contracts/deployment.ts'
import type { LocalKeys } from '../keys/localKeys.ts'
import type { LocalChain } from '../nodes/localChain.ts'
import { nextFreePorts } from '../nodes/ports.ts'
import { type RunFile, takeRunFile } from '../processes/runFile.ts'
import { saveChain } from './chainFiles.ts'
import { nodeName } from './chainNode.ts'
import { stopChainNodes } from './chainNodes.ts'
import { type ChainKey, chainKeys, chainPlans, forEachChain } from './chainPlan.ts'
import { type KeeperTiming, startKeeper } from './keeper.ts'
import { prepareDirectory } from './localDirectory.ts'
import { type LocalPaths, localPaths } from './localPaths.ts'
import { type OpenState, openState } from './openState.ts'

export type LocalNetworkOptions = {
  /** Directory of keys, chains and logs; created when missing. */
  readonly directory: string
  /** First choice per chain; the next free port is taken when somebody listens there. */
  readonly ports?: Readonly<Record<ChainKey, number>>
  /** Begin anew; what is kept in the directory is moved aside in it. */
  readonly fresh?: boolean
  /** Release of the code that starts the network, as `package.json` names it. */
  readonly release?: string
  /** Starts a process that may load while the nodes start. @returns what stops it, called before the nodes are stopped */
  readonly beside?: (run: NetworkRun) => Promise<() => Promise<void>>
  readonly keeperTiming?: Partial<KeeperTiming>
  /** Takes sentences about what happens. */
  readonly report?: (line: string) => void
  /** Takes the keeper's actions and failures, one line each. */
  readonly keeperLog?: (line: string) => void
  /** Milliseconds since the epoch; default: the machine's clock. */
  readonly now?: () => number
  /** A new private key, or 32 random bytes, at every call; default: the machine's random source. */
  readonly randomKey?: () => Hex
}

/** Facts of a run that are known before its nodes are started. */
export type NetworkRun = {
  readonly paths: LocalPaths
  readonly runFile: RunFile
  readonly ports: Readonly<Record<ChainKey, number>>
}

export type RunningChain = {
  readonly key: ChainKey
  readonly chainId: number
  readonly url: string
  readonly port: number
  readonly pid: number
  readonly chain: LocalChain
}

/** A process of the network ended although nobody asked it to. */
export type UnexpectedEnd = { readonly name: string; readonly how: string; readonly logFile: string }

/** Three chains with their contracts, kept alive; no service yet. */
export type LocalNetwork = {
  readonly origin: OpenState['origin']
  readonly paths: LocalPaths
  readonly keys: LocalKeys
  readonly deployment: NetworkDeployment
  readonly chains: Readonly<Record<ChainKey, RunningChain>>
  /** Run file that records further processes of this run. */
  readonly runFile: RunFile
  /** Resolves when a node dies on its own; never after `stop`. */
  readonly nodeEnded: Promise<UnexpectedEnd>
  /** Stops the keeper, then the nodes, which save their state; then another start may come. */
  stop(): Promise<void>
}

const defaultPorts: Readonly<Record<ChainKey, number>> = { base: 8545, optimism: 8546, hub: 8547 }

/**
 * Starts the nodes, the deployment (on a first start) and the keeper of a local network. One runs per
 * directory. @throws ConfigurationError when another one runs there, the folder is not ours, or the
 * keys are published ones
 */
export async function startLocalNetwork(options: LocalNetworkOptions): Promise<LocalNetwork> {
  const paths = localPaths(resolve(options.directory))
  const report = options.report ?? ignore
  await prepareDirectory(paths)
  const { runFile, stoppedOrphans } = await takeRunFile(paths.runFile)
  if (stoppedOrphans.length > 0) report(`Stopped what a killed run had left: ${stoppedOrphans.join(', ')}.`)
  let stopBeside = async () => {}
  try {
    const ports = await choosePorts(options.ports ?? defaultPorts)
    const { fresh = false, release, randomKey = generatePrivateKey, beside } = options
    if (beside !== undefined) stopBeside = await beside({ paths, runFile, ports })
    const state = await openState({ paths, runFile, ports, fresh, release, randomKey, report })
    return await keepAlive(state, { options, paths, runFile, stopBeside })
  } catch (error) {
    await stopBeside()
    await runFile.release()
    throw error
  }
}

/** Starts the keeper on running nodes. @returns the network, whose `stop` ends all that was started */
async function keepAlive(
  { origin, nodes, keys, deployment }: OpenState,
  args: {
    readonly options: LocalNetworkOptions
    readonly paths: LocalPaths
    readonly runFile: RunFile
    readonly stopBeside: () => Promise<void>
  },
): Promise<LocalNetwork> {
  const { options, paths, runFile, stopBeside } = args
  const maintained = (key: ChainKey) => ({
    chain: nodes[key].chain,
    baseFeeWei: nodes[key].plan.baseFeeWei,
    now: options.now ?? Date.now,
    save: () => saveChain(nodes[key].chain, paths.chainFile(key)),
  })
  const keeper = await startKeeper({
    chains: { base: maintained('base'), optimism: maintained('optimism'), hub: maintained('hub') },
    deployment,
    keeper: keys.keeper,
    log: options.keeperLog ?? ignore,
    ...(options.keeperTiming && { timing: options.keeperTiming }),
  }).catch(async (error: unknown) => {
    await stopChainNodes(nodes, runFile)
    throw error
  })
  let stopping: Promise<void> | undefined
  const stopAll = async () => {
    await Promise.all([stopBeside(), keeper.stop()])
    await stopChainNodes(nodes, runFile)
    await runFile.release()
  }
  const nodeEnded = new Promise<UnexpectedEnd>((resolveEnd) => {
    for (const key of chainKeys) {
      nodes[key].anvil.process.once('exit', (code, signal) => {
        if (stopping !== undefined) return
        const name = nodeName(chainPlans[key])
        resolveEnd({ name, how: signal ?? `exit code ${code}`, logFile: paths.logFile(name) })
      })
    }
  })
  return {
    origin,
    paths,
    keys,
    deployment,
    chains: await forEachChain(async (key) => {
      const { anvil, chain } = nodes[key]
      return { key, chain, chainId: anvil.chainId, url: anvil.url, port: anvil.port, pid: anvil.pid }
    }),
    runFile,
    nodeEnded,
    stop() {
      stopping ??= stopAll()
      return stopping
    },
  }
}

async function choosePorts(
  first: Readonly<Record<ChainKey, number>>,
): Promise<Readonly<Record<ChainKey, number>>> {
  const [base, optimism, hub] = await nextFreePorts(chainKeys.map((key) => first[key]))
  if (base === undefined || optimism === undefined || hub === undefined)
    throw new Error('three ports expected')
  return { base, optimism, hub }
}

function ignore(): void {}
