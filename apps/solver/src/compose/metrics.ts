import { Counter, Gauge, type HttpMetrics } from '@causeway/http'
import type { Handled } from '../filling/handleItem.ts'
import type { BudgetName } from '../wallet/budgets.ts'
import type { WorkItem } from '../work/workItems.ts'

/** What is read when metrics are scraped; a reading that fails leaves its series out. */
export type WatchedState = {
  readonly chains: readonly { readonly key: string; readonly leads: () => boolean }[]
  readonly budgets: readonly { readonly budget: BudgetName; readonly perHour: bigint }[]
  spent(budget: BudgetName): Promise<bigint>
  openTransactions(): Promise<number>
  isStopped(): Promise<boolean>
}

export type SolverMetrics = {
  countHandled(item: Pick<WorkItem, 'kind'>, handled: Pick<Handled, 'kind'>): void
  countFailure(): void
  watch(state: WatchedState): void
}

const kinds: readonly string[] = ['fill', 'refund', 'claim', 'sweep', 'permit']

/** Labels come from closed sets: kinds of work, outcomes, chains of the configuration. */
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
  return {
    countHandled: ({ kind }, { kind: outcome }) =>
      items.inc({ kind: kinds.includes(kind) ? kind : 'other', outcome }),
    countFailure: () => failures.inc(),
    watch(state) {
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
          registers,
          async collect() {
            await read(this).catch(() => this.reset())
          },
        })
      gauge('solver_leads', '1 where this process writes for the fill wallet', ['chain'], async (own) => {
        for (const { key, leads } of state.chains) own.set({ chain: key }, leads() ? 1 : 0)
      })
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
      gauge('solver_stopped', '1 while the stop switch is thrown', [], async (own) => {
        own.set((await state.isStopped()) ? 1 : 0)
      })
    },
  }
}
