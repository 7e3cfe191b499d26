import type { SqlDatabase } from '@causeway/core'
import type { Fence } from '@causeway/database'
import { Gauge, type HttpMetrics } from '@causeway/http'
import {
  haltReservations,
  type LedgerFinding,
  readHalt,
  verifyLedger,
  writeCheckpoints,
} from '@causeway/ledger'
import type { Logger } from 'pino'
import { findBookedDeposits, findUnbookedLosses } from './bookedDeposits.ts'
import type { Job } from './runJobs.ts'

const checkIntervalMs = 60_000
/** The replay reads all history. An hour bounds what a falsified row can do until it is found. */
const auditIntervalMs = 3_600_000

type JobOptions = {
  readonly database: SqlDatabase
  readonly metrics: Pick<HttpMetrics, 'registry'>
  readonly logger: Logger
}

/**
 * Job that checks the ledger's invariants, except those that need a replay of its history. A finding is logged as an
 * error and stops new holds, until an operator resumes; pins, posts, voids and expiries go on.
 * @source rule L-46
 */
export function createInvariantsJob({ database, metrics, logger }: JobOptions): Job {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [metrics.registry] })
  const broken = gauge(
    'ledger_findings',
    'Places where the books did not add up at the last check; NaN before the first',
  )
  const halted = gauge('ledger_halted', '1 while books that do not add up stop new reservations')
  broken.set(Number.NaN)
  return {
    name: 'invariants',
    intervalMs: checkIntervalMs,
    async run({ fence }) {
      const findings = await checkBooks(database, 'cheap')
      broken.set(findings.length)
      await haltOn(findings, { database, fence, logger })
      halted.set((await readHalt(database)) === undefined ? 0 : 1)
    },
  }
}

/**
 * Job that links new transfers into the hash chain, then replays all history. `database` must allow statements of
 * minutes, and must not be the pool that requests use.
 */
export function createAuditJob({ database, metrics, logger }: JobOptions): Job {
  const seconds = new Gauge({
    name: 'ledger_audit_seconds',
    help: 'How long the last replay of the whole history took; NaN before the first',
    registers: [metrics.registry],
  })
  seconds.set(Number.NaN)
  return {
    name: 'audit',
    intervalMs: auditIntervalMs,
    async run({ fence }) {
      const setSeconds = seconds.startTimer()
      await writeCheckpoints(database)
      await haltOn(await checkBooks(database, 'all'), { database, fence, logger })
      setSeconds()
    },
  }
}

/**
 * Runs the checks on one snapshot of the database, because rows booked meanwhile would look like differences.
 * `cheap` leaves out the checks that read the whole history.
 */
export function checkBooks(database: SqlDatabase, depth: 'cheap' | 'all'): Promise<readonly LedgerFinding[]> {
  return database.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read, read only')
    const findings = await verifyLedger(tx, { depth })
    return depth === 'cheap'
      ? findings
      : [...findings, ...(await findBookedDeposits(tx)), ...(await findUnbookedLosses(tx))]
  })
}

/** Stops new holds if there are findings. */
async function haltOn(
  findings: readonly LedgerFinding[],
  { database, fence, logger }: { database: SqlDatabase; fence: Fence; logger: Logger },
): Promise<void> {
  if (findings.length === 0) return
  for (const finding of findings) logger.error(finding, 'the books of the ledger do not add up')
  await database.transaction(async (tx) => {
    await fence(tx)
    await haltReservations(tx, findings)
  })
  logger.error('new reservations are halted: an operator must look')
}
