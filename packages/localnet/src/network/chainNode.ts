import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { type Anvil, startAnvil } from '../nodes/anvil.ts'
import { connectLocalChain, type LocalChain } from '../nodes/localChain.ts'
import { describeEnd, StartFailure } from '../processes/processEnd.ts'
import { adoptExitFile } from './chainFiles.ts'
import type { ChainKey, ChainPlan } from './chainPlan.ts'
import type { LocalPaths } from './localPaths.ts'

/** One chain of a running local network. */
export type ChainNode = {
  readonly plan: ChainPlan
  readonly anvil: Anvil
  readonly chain: LocalChain
  /** Ends the node and keeps its state. */
  stop(): Promise<void>
}

export type ChainNodeOptions = {
  readonly plan: ChainPlan
  readonly paths: LocalPaths
  readonly port: number
  readonly onSpawn: (name: string, pid: number) => Promise<void>
}

/** The head moves at least this often, transactions or not; transactions are mined at once. */
const idleBlockSeconds = 4
/**
 * States of so many past blocks are kept, while running and over a restart: what reads of past heights
 * and traces need. Each is a full copy of the chain's state, 0.4 to 2.7 MB on disk, so not all are.
 */
const pastStates = 64
/** The node's own periodic write is not atomic; see `saveChain`. */
const neverSeconds = 365 * 86_400

/** The node refuses its state file: torn, or no state at all. */
export class ChainFileError extends Error {
  constructor(key: ChainKey, cause: unknown) {
    super(`the chain file of ${key} cannot be loaded`, { cause })
    this.name = 'ChainFileError'
  }
}

/** Starts the chain from its file, or empty when there is none. @throws ChainFileError, StartFailure */
export async function startChainNode(options: ChainNodeOptions): Promise<ChainNode> {
  const { plan, paths, port } = options
  const [chainFile, exitFile] = [paths.chainFile(plan.key), paths.exitFile(plan.key)]
  const name = nodeName(plan)
  const anvil = await startAnvil({
    chainId: plan.chainId,
    port,
    detached: true,
    logFile: paths.logFile(name),
    onSpawn: (pid) => options.onSpawn(name, pid),
    args: [
      ...(existsSync(chainFile) ? ['--load-state', chainFile] : []),
      ...['--dump-state', exitFile, '--state-interval', String(neverSeconds)],
      ...['--preserve-historical-states', '--prune-history', String(pastStates)],
      // With one slot in an epoch the finalized block is two below the head.
      ...['--block-time', String(idleBlockSeconds), '--mixed-mining', '--slots-in-an-epoch', '1'],
      ...['--accounts', '0', '--block-base-fee-per-gas', String(plan.baseFeeWei)],
    ],
  }).catch((error: unknown) => {
    throw startError(error, plan, paths)
  })
  return {
    plan,
    anvil,
    chain: connectLocalChain(anvil.url, plan.chainId),
    async stop() {
      await anvil.stop()
      if (anvil.process.exitCode === 0) await adoptExitFile(exitFile, chainFile, { isWhole: true })
      else await rm(exitFile, { force: true })
    },
  }
}

function startError(error: unknown, plan: ChainPlan, paths: LocalPaths): Error {
  const output = error instanceof Error ? error.message : String(error)
  // The node names the option in its message when it refuses the file.
  if (output.includes("'--load-state")) return new ChainFileError(plan.key, error)
  const name = nodeName(plan)
  const end = { name, how: 'did not start', logFile: paths.logFile(name), lastOutput: output }
  return new StartFailure(describeEnd(end))
}

/** Names the process in messages and its log file. */
export function nodeName({ key }: ChainPlan): string {
  return `anvil-${key}`
}
