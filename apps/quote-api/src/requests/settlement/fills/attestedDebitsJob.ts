import { type HttpMetrics, watchSeries } from '@causeway/http'
import type { Logger } from 'pino'
import type { Job } from '../../../jobs/runJobs.ts'
import { type Comparison, compareAttested, type UnprovenDebit } from './compareAttested.ts'

/** Short enough to find an unproven debit before its money is claimed. */
const intervalMs = 60_000

/** Job that compares sponsors' debits with the attestations, and reports differences as errors and metrics. Writes nothing. */
export function createAttestedDebits(options: {
  readonly context: Parameters<typeof compareAttested>[0]
  readonly metrics: Pick<HttpMetrics, 'registry'>
  readonly logger: Pick<Logger, 'error'>
}): Job {
  const { context, metrics, logger } = options
  let upToSeq: Comparison['upToSeq'] | undefined
  /** Differences by request. They stay until the process ends, because each debit is compared only once. */
  const unproven = new Map<string, UnprovenDebit>()
  const gauge = (name: string, help: string, read: () => number) =>
    watchSeries(metrics.registry, { name, help, labelNames: [] }, () =>
      upToSeq === undefined ? [] : [{ labels: {}, value: read() }],
    )
  gauge(
    'ledger_unproven_micro_usd',
    'How far debits of sponsors and what oracles attested lie apart, in micro-USDC; absent before the first look',
    () =>
      Number([...unproven.values()].reduce((sum, { differenceMicroUsd }) => sum + differenceMicroUsd, 0n)),
  )
  gauge('ledger_unproven_requests', 'Requests whose debit is not what was attested', () => unproven.size)
  return {
    name: 'attested-debits',
    intervalMs,
    async run({ signal }) {
      const comparison = await compareAttested(context, upToSeq, signal)
      for (const debit of comparison.unproven) {
        const { requestId, problem, differenceMicroUsd } = debit
        unproven.set(requestId, debit)
        logger.error(
          { requestId, problem, differenceMicroUsd: differenceMicroUsd.toString() },
          'a debit is not what was attested: an operator must look',
        )
      }
      upToSeq = comparison.upToSeq
    },
  }
}
