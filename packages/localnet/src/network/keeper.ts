import type { ChainDeployment } from '../contracts/deployment.ts'
import type { LocalAccount } from '../keys/localKeys.ts'
import { type Loop, startLoop } from '../processes/loop.ts'
import { type ChainKey, chainKeys } from './chainPlan.ts'
import { firstProgress, type MaintainedChain, maintainChain } from './maintainChain.ts'
import { refreshFeeds } from './refreshFeeds.ts'

export type KeeperOptions = {
  readonly chains: Readonly<Record<ChainKey, MaintainedChain>>
  readonly deployment: Readonly<Record<'base' | 'optimism', Pick<ChainDeployment, 'feeds'>>>
  readonly keeper: LocalAccount
  readonly timing?: Partial<KeeperTiming>
  /** One line per thing that was done or went wrong. */
  readonly log: (line: string) => void
}

export type KeeperTiming = {
  /** Between two looks at a chain. */
  readonly lookMs: number
  /** Between two looks at the feeds. */
  readonly feedLookMs: number
  /** A feed's answer is published again at this age, far below the heartbeat in the configuration. */
  readonly feedRefreshSeconds: number
}

export type Keeper = { stop(): Promise<void> }

const defaultTiming: KeeperTiming = { lookMs: 1_000, feedLookMs: 10_000, feedRefreshSeconds: 600 }

/**
 * Starts the keeper of a local network: it moves heads, makes transactions final, holds base fees, keeps feeds fresh and
 * saves chains. Chains do not wait for each other; what fails is tried again at the next look.
 * Feeds are fresh when this resolves. @throws when a node does not answer at all
 */
export async function startKeeper(options: KeeperOptions): Promise<Keeper> {
  const timing = { ...defaultTiming, ...options.timing }
  await Promise.all([refresh('base', options, timing), refresh('optimism', options, timing)])
  const chainLoops = await Promise.all(chainKeys.map((key) => startChainLoop(key, options, timing)))
  const feedLoops = (['base', 'optimism'] as const).map((key) =>
    startLoop({
      everyMs: timing.feedLookMs,
      run: () => refresh(key, options, timing),
      report: (line) => options.log(`${key} feeds: ${line}`),
    }),
  )
  const loops: readonly Loop[] = [...chainLoops, ...feedLoops]
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}

async function startChainLoop(
  key: ChainKey,
  options: KeeperOptions,
  { lookMs }: KeeperTiming,
): Promise<Loop> {
  const maintained = options.chains[key]
  let progress = await firstProgress(maintained)
  return startLoop({
    everyMs: lookMs,
    run: async () => {
      progress = await maintainChain(maintained, progress)
    },
    report: (line) => options.log(`${key}: ${line}`),
  })
}

async function refresh(
  key: 'base' | 'optimism',
  { chains, deployment, keeper, log }: KeeperOptions,
  { feedRefreshSeconds: refreshSeconds }: KeeperTiming,
): Promise<void> {
  const { chain, now } = chains[key]
  const refreshed = await refreshFeeds(chain, deployment[key], { keeper, refreshSeconds, now })
  if (refreshed.length > 0) log(`${key} feeds: refreshed ${refreshed.join(', ')}`)
}
