// A solver under test: a network, a bench of databases, and what the chains hold at the end.
import type { Hex } from '@causeway/core'
import { startTestNetwork, type TestNetwork, waitUntil } from '@causeway/localnet'
import { erc20Abi } from 'viem'
import { expect } from 'vitest'
import type { Item } from './paidOrders.ts'
import { type ScriptedWork, startScriptedWork } from './scriptedWork.ts'
import {
  type SolverBench,
  type SolverSettings,
  startSolver,
  startSolverBench,
  type UserChain,
  watchFills,
} from './solverBench.ts'

type RunningSolver = {
  readonly work: ScriptedWork
  readonly settings: SolverSettings
  readonly solver: ReturnType<typeof startSolver>
}

export type SolverBed = {
  readonly network: TestNetwork
  readonly bench: SolverBench
  /** A solver that works, with a database of its own. */
  start(overrides?: Readonly<Record<string, string>>): Promise<RunningSolver>
  usdcOf(chain: UserChain): Hex
  nativeBalance(chain: UserChain, address: Hex): Promise<bigint>
  tokenBalance(chain: UserChain, token: Hex, holder: Hex): Promise<bigint>
  fillsOf(chain: UserChain): Promise<ReadonlyMap<Hex, readonly Hex[]>>
  /** Waits until every item's order is on its chain, lets whatever else was sent come too, and finds each paid once. */
  settled(items: readonly Item[], output?: () => string): Promise<void>
  stop(): Promise<void>
}

export async function startSolverBed(): Promise<SolverBed> {
  const network = await startTestNetwork({ blockTimeSeconds: 1 })
  const bench = await startSolverBench(network)
  const watchers = { base: watchFills(network, 'base'), optimism: watchFills(network, 'optimism') }
  const fillsOf = (chain: UserChain) => watchers[chain]()

  async function settledOn(key: UserChain, own: readonly Item[], output: () => string): Promise<void> {
    await waitUntil('all are mined', async () => {
      const fills = await fillsOf(key)
      return own.every(({ orderId }) => fills.has(orderId))
    })
    const { client } = network.chains[key].chain
    const head = await client.getBlockNumber({ cacheTime: 0 })
    await waitUntil(
      'further blocks are mined',
      async () => (await client.getBlockNumber({ cacheTime: 0 })) >= head + 3n,
    )
    const fills = await fillsOf(key)
    for (const { id, orderId } of own) expect(fills.get(orderId), `${id}\n${output()}`).toHaveLength(1)
  }

  return {
    network,
    bench,
    fillsOf,
    async start(overrides = {}) {
      const work = await startScriptedWork()
      const settings = await bench.settings(work, overrides)
      const solver = startSolver(settings)
      await solver.ready()
      return { work, settings, solver }
    },
    usdcOf: (chain) => network.deployment[chain].tokens.USDC,
    nativeBalance: (chain, address) => network.chains[chain].chain.client.getBalance({ address }),
    tokenBalance: (chain, token, holder) =>
      network.chains[chain].chain.client.readContract({
        address: token,
        abi: erc20Abi,
        functionName: 'balanceOf',
        args: [holder],
      }),
    async settled(items, output = () => '') {
      for (const key of new Set(items.map(({ chain }) => chain))) {
        await settledOn(
          key,
          items.filter(({ chain }) => chain === key),
          output,
        )
      }
    },
    async stop() {
      await bench.stop()
      await network.stop()
    },
  }
}
