import { Counter, Gauge, type HttpMetrics } from '@causeway/http'
import type { Reconciliation } from './reconcile.ts'
import type { TopUpPass } from './watchTopUps.ts'

export type TopUpMetrics = {
  observePass(pass: TopUpPass): void
  observeReconciliation(found: Reconciliation): void
  countMalformed(endpoint: string): void
}

/** What operators see of top-ups. Endpoints are named by host and position, never by URL. */
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
    help: 'Last block read: scanned near the head, final settled',
    labelNames: ['stage'],
    registers,
  })
  const halted = new Gauge({
    name: 'top_up_halted',
    help: '1 while a changed final block stops all top-ups',
    registers,
  })
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
  explained.set(Number.NaN)
  return {
    observePass({ seen, final, orphaned, conflicts, cursor }) {
      const credited = final.filter(({ verdict }) => verdict.kind === 'credit').length
      topUps.inc({ outcome: 'seen' }, seen.length)
      topUps.inc({ outcome: 'credited' }, credited)
      topUps.inc({ outcome: 'suspended' }, final.length - credited)
      topUps.inc({ outcome: 'orphaned' }, orphaned)
      topUps.inc({ outcome: 'conflict' }, conflicts.length)
      blocks.set({ stage: 'scanned' }, Number(cursor.scannedTo))
      blocks.set({ stage: 'final' }, Number(cursor.finalTo))
      halted.set(cursor.haltedReason === undefined ? 0 : 1)
    },
    observeReconciliation(found) {
      explained.set(Number(found.explainedPpm) / 1_000_000)
      differences.set(found.differences.length)
    },
    countMalformed: (endpoint) => malformed.inc({ endpoint }),
  }
}
