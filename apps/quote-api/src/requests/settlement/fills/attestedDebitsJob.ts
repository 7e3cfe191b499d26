import { type HttpMetrics, watchSeries } from '@causeway/http'
import type { Logger } from 'pino'
import type { Job } from '../../../jobs/runJobs.ts'
import { type Comparison, compareAttested, type UnprovenDebit } from './compareAttested.ts'

/** Often enough that nobody is paid on a debit that nothing proves. */
const intervalMs = 60_000

/** Compares debits with what was attested, and says loudly what differs. Changes nothing. */
export function createAttestedDebits(options: {
  readonly context: Parameters<typeof compareAttested>[0]
  readonly metrics: Pick<HttpMetrics, 'registry'>
  readonly logger: Pick<Logger, 'error'>
}): Job {
  const { context, metrics, logger } = options
  let upToSeq: Comparison['upToSeq'] | undefined
  /** Findings by request, until the process ends: looking again does not change them. */
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
      const found = await compareAttested(context, upToSeq, signal)
      for (const debit of found.unproven) {
        const { requestId, problem, differenceMicroUsd } = debit
        unproven.set(requestId, debit)
        logger.error(
          { requestId, problem, differenceMicroUsd: differenceMicroUsd.toString() },
          'a debit is not what was attested: an operator must look',
        )
      }
      upToSeq = found.upToSeq
    },
  }
}
