import type { RunFile } from '../processes/runFile.ts'
import { type ChainNode, startChainNode } from './chainNode.ts'
import { type ChainKey, chainKeys, chainPlans } from './chainPlan.ts'
import type { LocalPaths } from './localPaths.ts'

export type ChainNodes = Readonly<Record<ChainKey, ChainNode>>

/** Starts the three nodes side by side; when one fails, none is left. @throws ChainFileError, StartFailure */
export async function startChainNodes(args: {
  readonly paths: LocalPaths
  readonly ports: Readonly<Record<ChainKey, number>>
  readonly runFile: RunFile
}): Promise<ChainNodes> {
  const { paths, ports, runFile } = args
  const starts = await Promise.allSettled(
    chainKeys.map((key) =>
      startChainNode({
        plan: chainPlans[key],
        paths,
        port: ports[key],
        onSpawn: (name, pid) => runFile.add(name, pid),
      }),
    ),
  )
  const started = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []))
  const [base, optimism, hub] = started
  if (base !== undefined && optimism !== undefined && hub !== undefined) return { base, optimism, hub }
  await Promise.all(started.map((node) => node.stop()))
  throw starts.find((start) => start.status === 'rejected')?.reason
}

export async function stopChainNodes(nodes: ChainNodes, runFile: RunFile): Promise<void> {
  await Promise.all(
    chainKeys.map(async (key) => {
      await nodes[key].stop()
      await runFile.remove(nodes[key].anvil.pid)
    }),
  )
}
