import { Counter, Gauge, type HttpMetrics } from '@causeway/http'
import type { Reconciliation } from './reconcile.ts'
import type { TopUpPass } from './topUpPass.ts'

/** Counters and gauges that the jobs of top-ups set. */
export type TopUpMetrics = {
  /** @param account the account that the pass read */
  observePass(pass: TopUpPass, account: 'custody' | 'solver'): void
  observeReconciliation(reconciliation: Reconciliation): void
  countMalformed(endpoint: string): void
}

/** Metrics of top-ups. Endpoints are named by host and position, never by URL, which may hold a key. */
export function createTopUpMetrics({ registry }: Pick<HttpMetrics, 'registry'>): TopUpMetrics {
  const registers = [registry]
  const topUps = new Counter({
    name: 'top_ups_total',
    help: 'Top-ups by what became of them: seen, credited, suspended, orphaned, conflict',
    labelNames: ['outcome'],
    registers,
  })
  const malformed = new Counter({
    name: 'top_up_malformed_answers_total',
    help: 'Answers of an endpoint that were thrown away unread',
    labelNames: ['endpoint'],
    registers,
  })
  const blocks = new Gauge({
    name: 'top_up_block',
    help: 'Last block read: scanned near the head, final settled; of custody and of the solver',
    labelNames: ['stage'],
    registers,
  })
  const halted = new Gauge({
    name: 'top_up_halted',
    help: '1 while a changed final block stops all top-ups',
    registers,
  })
  const haltedAccounts = new Set<string>()
  return {
    observePass({ seen, final, orphaned, conflicts, cursor }, account) {
      const credited = final.filter(({ verdict }) => verdict.kind === 'credit').length
      topUps.inc({ outcome: 'seen' }, seen.length)
      topUps.inc({ outcome: 'credited' }, credited)
      topUps.inc({ outcome: 'suspended' }, final.length - credited)
      topUps.inc({ outcome: 'orphaned' }, orphaned)
      topUps.inc({ outcome: 'conflict' }, conflicts.length)
      const stage = account === 'custody' ? '' : `${account} `
      blocks.set({ stage: `${stage}scanned` }, Number(cursor.scannedTo))
      blocks.set({ stage: `${stage}final` }, Number(cursor.finalTo))
      haltedAccounts.delete(account)
      if (cursor.haltedReason !== undefined) haltedAccounts.add(account)
      halted.set(haltedAccounts.size === 0 ? 0 : 1)
    },
    observeReconciliation: createReconciliationObserver(registers),
    countMalformed: (endpoint) => malformed.inc({ endpoint }),
  }
}

function createReconciliationObserver(registers: HttpMetrics['registry'][]) {
  const explained = new Gauge({
    name: 'top_up_explained_ratio',
    help: 'Part of the money of the last reconciliation that chain and ledger have alike; NaN before the first',
    registers,
  })
  const differences = new Gauge({
    name: 'top_up_differences',
    help: 'Transfers that chain and ledger did not have alike at the last reconciliation',
    registers,
  })
  const difference = new Gauge({
    name: 'top_up_difference_micro_usd',
    help: 'Money that chain and ledger did not have alike at the last reconciliation, in micro-USDC; NaN before the first',
    registers,
  })
  explained.set(Number.NaN)
  difference.set(Number.NaN)
  return (reconciliation: Reconciliation): void => {
    explained.set(Number(reconciliation.explainedPpm) / 1_000_000)
    differences.set(reconciliation.differences.length)
    difference.set(Number(reconciliation.totalMicroUsd - reconciliation.explainedMicroUsd))
  }
}
