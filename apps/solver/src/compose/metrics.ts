import type { ExposureLimits } from '@causeway/core/config'
import { Counter, Gauge, Histogram, type HttpMetrics, type Series, watchSeries } from '@causeway/http'
import type { Handled } from '../filling/handled.ts'
import { type RoundReason, roundReasons } from '../filling/solverRound.ts'
import type { BudgetName } from '../wallet/budgets.ts'
import { type Figures, figures } from '../wallet/exposure.ts'
import type { WorkItem } from '../work/workItems.ts'

/** State that is read when metrics are scraped; if a reading fails, its series are missing. */
export type WatchedState = {
  readonly chains: readonly {
    readonly key: string
    readonly leads: () => boolean
    /** Unix ms since when the oldest transaction waits for a block; absent on chains without nonces. */
    readonly waitingSinceMs?: (() => number | undefined) | undefined
  }[]
  readonly budgets: readonly { readonly budget: BudgetName; readonly perHour: bigint }[]
  /** Taken of a budget in the last hour, in its unit. */
  spent(budget: BudgetName): Promise<bigint>
  openTransactions(): Promise<number>
  /** Balances of the fill wallet and what is kept of them, in smallest units. Asks no chain. */
  inventory(): readonly {
    readonly chain: string
    readonly currency: string
    readonly balance: bigint
    readonly floor: bigint
  }[]
  /** Sums of unattested payments. */
  unattested(): Promise<Figures>
  readonly exposed: readonly {
    readonly key: string
    readonly chainId: number
    readonly limits: ExposureLimits
  }[]
  isStopped(): Promise<boolean>
  /** True while quote-api holds a long poll for work. */
  isTold(): boolean
}

export type SolverMetrics = {
  countHandled(item: Pick<WorkItem, 'kind'>, handled: Pick<Handled, 'kind'>): void
  countFailure(): void
  countRound(reason: RoundReason): void
  /**
   * A final transaction. `resultMicroUsd`: undefined for one that is not done or had no deposit, and without
   * prices.
   */
  observeFinal(final: {
    readonly chain: string
    readonly kind: string
    readonly outcome: string
    readonly gas: bigint
    readonly resultMicroUsd: bigint | undefined
  }): void
  watch(state: WatchedState): void
}

const kinds: readonly string[] = ['fill', 'refund', 'claim', 'sweep', 'permit', 'recovery']

/** Creates the solver's metrics. Labels come from closed sets: kinds of work, outcomes, chains of the configuration. */
export function createSolverMetrics({ registry }: Pick<HttpMetrics, 'registry'>): SolverMetrics {
  const registers = [registry]
  const items = new Counter({
    name: 'solver_items_total',
    help: 'Looks at work items by kind and outcome: signed, refused or later',
    labelNames: ['kind', 'outcome'] as const,
    registers,
  })
  const failures = new Counter({
    name: 'solver_failures_total',
    help: 'Looks at a chain, an item or the service that failed and are tried again',
    registers,
  })
  const rounds = new Counter({
    name: 'solver_rounds_total',
    help: 'Rounds by what they were made for: the clock, work or a block that was told of',
    labelNames: ['reason'] as const,
    registers,
  })
  for (const reason of roundReasons) rounds.inc({ reason }, 0)
  const final = createFinalMetrics(registry)
  return {
    countHandled: ({ kind }, { kind: outcome }) =>
      items.inc({ kind: kinds.includes(kind) ? kind : 'other', outcome }),
    countFailure: () => failures.inc(),
    countRound: (reason) => rounds.inc({ reason }),
    observeFinal: final.observe,
    watch(state) {
      final.showZeros(state.chains.map(({ key }) => key))
      watchInventory(registry, state)
      watchExposure(registry, state)
      watchState(registry, state)
    },
  }
}

function watchState(registry: HttpMetrics['registry'], state: WatchedState): void {
  const gauge = (
    name: string,
    help: string,
    labelNames: readonly string[],
    read: (gauge: Gauge) => Promise<void>,
  ) =>
    new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      async collect() {
        await read(this).catch(() => this.reset())
      },
    })
  gauge('solver_leads', '1 where this process writes for the fill wallet', ['chain'], async (own) => {
    for (const { key, leads } of state.chains) own.set({ chain: key }, leads() ? 1 : 0)
  })
  gauge(
    'solver_oldest_nonce_seconds',
    'Since when the oldest transaction of the fill wallet waits that no block has yet; 0 where none waits',
    ['chain'],
    async (own) => {
      for (const { key, waitingSinceMs } of state.chains) {
        if (waitingSinceMs === undefined) continue
        const sinceMs = waitingSinceMs()
        own.set({ chain: key }, sinceMs === undefined ? 0 : Math.max(0, Date.now() - sinceMs) / 1_000)
      }
    },
  )
  gauge(
    'solver_budget_spent',
    'Taken of an hourly budget: micro-USD of loss and claims, wei of gas',
    ['budget'],
    async (own) => {
      for (const { budget } of state.budgets) own.set({ budget }, Number(await state.spent(budget)))
    },
  )
  gauge('solver_budget_limit', 'What an hourly budget holds', ['budget'], async (own) => {
    for (const { budget, perHour } of state.budgets) own.set({ budget }, Number(perHour))
  })
  gauge('solver_open_transactions', 'Signed and not final yet', [], async (own) => {
    own.set(await state.openTransactions())
  })
  gauge(
    'solver_work_told',
    '1 while quote-api tells of work when it is there; 0: it is asked for by the clock',
    [],
    async (own) => own.set(state.isTold() ? 1 : 0),
  )
  gauge('solver_stopped', '1 while the stop switch is thrown', [], async (own) => {
    own.set((await state.isStopped()) ? 1 : 0)
  })
}

function watchExposure(
  registry: HttpMetrics['registry'],
  { unattested, exposed }: Pick<WatchedState, 'unattested' | 'exposed'>,
): void {
  const usd = (microUsd: bigint) => Number(microUsd) / microUsdPerUsd
  watchSeries(
    registry,
    {
      name: 'solver_unattested_usd',
      help: 'What is paid and not attested, in USD at the prices of signing: payments that oracles are asked about, claims, refunds that none attests (others), and what oracles refused for good',
      labelNames: ['chain', 'figure'],
    },
    async () => {
      const sums = await unattested()
      return exposed.flatMap(({ key: chain, chainId }) =>
        figures.map((figure) => ({
          labels: { chain, figure },
          value: usd(sums.get(chainId)?.[figure] ?? 0n),
        })),
      )
    },
  )
  watchSeries(
    registry,
    {
      name: 'solver_unattested_limit_usd',
      help: 'Where payments and claims of a chain stop, and of all of them together (all)',
      labelNames: ['chain'],
    },
    () => {
      // The limit of all chains together is one setting, which every entry repeats.
      const [first] = exposed
      const ofAll = first === undefined ? [] : [['all', first.limits.allMicroUsd] as const]
      const ofEach = exposed.map(({ key, limits }) => [key, limits.chainMicroUsd] as const)
      return [...ofEach, ...ofAll].map(([chain, limit]) => ({ labels: { chain }, value: usd(limit) }))
    },
  )
}

function watchInventory(
  registry: HttpMetrics['registry'],
  { inventory }: Pick<WatchedState, 'inventory'>,
): void {
  type Holding = ReturnType<typeof inventory>[number]
  const gauge = (name: string, help: string, read: (holding: Holding) => bigint) =>
    watchSeries(registry, { name, help, labelNames: ['chain', 'currency'] }, () =>
      inventory().map((holding): Series<'chain' | 'currency'> => {
        const { chain, currency } = holding
        return { labels: { chain, currency }, value: Number(read(holding)) }
      }),
    )
  gauge(
    'solver_inventory',
    'What the fill wallet holds, in smallest units of the currency',
    ({ balance }) => balance,
  )
  gauge(
    'solver_inventory_floor',
    'What is kept of it and not paid out, in smallest units of the currency',
    ({ floor }) => floor,
  )
}

const outcomes: readonly string[] = ['done', 'reverted', 'cancelled', 'lost']
const resultBuckets = [-10, -1, -0.1, -0.01, 0, 0.01, 0.1, 1, 10]
const microUsdPerUsd = 1_000_000

function createFinalMetrics(registry: HttpMetrics['registry']): {
  readonly observe: SolverMetrics['observeFinal']
  /** Shows all series as 0 from the start: an alert on growth would miss the first loss of a series that begins with it. */
  showZeros(chains: readonly string[]): void
} {
  const registers = [registry]
  const gasSpent = new Counter({
    name: 'solver_gas_spent_total',
    help: 'Network fees of final transactions, in smallest units of the coin of their chain',
    labelNames: ['chain', 'kind'] as const,
    registers,
  })
  const ended = new Counter({
    name: 'solver_transactions_total',
    help: 'Signed transactions by their end: done, reverted, cancelled or lost',
    labelNames: ['chain', 'kind', 'outcome'] as const,
    registers,
  })
  const results = new Histogram({
    name: 'solver_result_usd',
    help: 'What a final fill or refund brought in USD: its deposit less what it paid and its gas, at prices of then',
    labelNames: ['chain', 'kind'] as const,
    buckets: resultBuckets,
    registers,
  })
  const losses = new Counter({
    name: 'solver_loss_usd_total',
    help: 'Sum of the results below zero, as a positive number',
    labelNames: ['chain', 'kind'] as const,
    registers,
  })
  return {
    observe({ chain, kind, outcome, gas, resultMicroUsd }) {
      ended.inc({ chain, kind, outcome })
      gasSpent.inc({ chain, kind }, Number(gas))
      if (resultMicroUsd === undefined) return
      const usd = Number(resultMicroUsd) / microUsdPerUsd
      results.observe({ chain, kind }, usd)
      losses.inc({ chain, kind }, Math.max(-usd, 0))
    },
    showZeros(chains) {
      for (const chain of chains) {
        for (const kind of kinds) for (const outcome of outcomes) ended.inc({ chain, kind, outcome }, 0)
        for (const kind of ['fill', 'refund']) losses.inc({ chain, kind }, 0)
      }
    },
  }
}
