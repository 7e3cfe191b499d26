import type { DepositFacts, SqlTx } from '@causeway/core'
import { paceMs } from '@causeway/core/config'
import { unlessPutAside } from '@causeway/families'
import type { Run } from '../../../jobs/runJobs.ts'
import { nowSeconds } from '../../settlement/settlementContext.ts'
import { reverted } from '../../status/standstill.ts'
import { lateInclusionSeconds } from '../../timings.ts'
import { followWork, type Reading, stepWork, versionOfWork } from '../../work/followWork.ts'
import type { Reads } from '../../work/readApart.ts'
import { type SweepPayload, sweepPayloadSchema, type WorkItem } from '../../work/workItem.ts'
import { listReportedWork, lockWork, noteReported, readWork, updateWork } from '../../work/workStore.ts'
import { clearSweep, listEndedSweeps, lockAddress } from '../addressStore.ts'
import type { DepositAddressContext } from '../depositAddressContext.ts'

const atOnce = 8
/** Longest pause between looks: on a chain with slow blocks the next one may come at any moment. */
const pauseMaxMs = 30_000

/**
 * Job that looks up every sweep that a solver reported, and frees addresses whose sweep has ended, well or
 * not. After a failed sweep the money still lies at its address, and the next look decides about it anew.
 * `followWork` calls `read` without locks, then `lock` and `step` in one transaction, if the row is still of
 * that version.
 */
export async function followSweeps(context: DepositAddressContext, run: Run): Promise<void> {
  await followWork(context.database, run, {
    atOnce,
    list: (limit) => listReportedWork(context.database, 'sweep', limit),
    read: (item, signal, readApart) => readSweep(context, item, { signal, readApart }),
    lock: (tx, { id }) => lockWork(tx, id),
    versionOf: versionOfWork,
    step: (tx, item, sweep) => recordOutcome(context, tx, item, sweep),
  })
  // To free addresses takes no reading of a chain, so one at a time is fast enough.
  await stepWork(context.database, run, {
    atOnce: 1,
    list: (limit) => listEndedSweeps(context.database, limit),
    step: endSweep,
  })
}

/** A reported sweep as its chain shows it. */
type SweepReading = {
  readonly outcome: ReturnType<typeof sweepOutcome>
  /** True if the transaction failed in a block; read only while the outcome is open. */
  readonly isReverted: boolean
  /** Time to the next look: half a block's time, at most `pauseMaxMs`. */
  readonly pauseMs: number
}

async function readSweep(
  context: DepositAddressContext,
  item: WorkItem,
  { signal, readApart }: Reads,
): Promise<Reading<SweepReading> | undefined> {
  const { txHash, chainId } = item
  if (txHash === undefined) return undefined
  const payload = sweepPayloadSchema.parse(item.payload)
  const chain = context.chains.get(chainId)
  if (chain === undefined) throw new Error(`chain ${chainId} cannot be read`)
  const { outcome, mined } = await readApart({ chainId, transactionId: txHash }, async () => {
    const facts = await unlessPutAside(chain.deposits(txHash, signal))
    const outcome = sweepOutcome(payload, facts, nowSeconds(context))
    return { outcome, mined: outcome === 'wait' ? await chain.transaction(txHash, signal) : undefined }
  })
  const isReverted = mined?.succeeded === false
  const pauseMs = Math.min(paceMs(chain.chain.config) / 2, pauseMaxMs)
  return { rowVersion: versionOfWork(item), facts: { outcome, isReverted, pauseMs } }
}

async function recordOutcome(
  { announce }: Pick<DepositAddressContext, 'announce'>,
  tx: SqlTx,
  item: WorkItem,
  { outcome, isReverted, pauseMs }: SweepReading,
): Promise<void> {
  const { id } = item
  if (outcome === 'wait')
    await noteReported(announce, tx, item, { isIncluded: false, isReverted, delayMs: pauseMs })
  else if (outcome === 'done') await updateWork(tx, id, { state: 'done' })
  else
    await updateWork(tx, id, {
      state: 'failed',
      // `not_included` covers a transaction that failed in a block, which was noted as reverted.
      reason: item.reason === reverted && outcome === 'not_included' ? reverted : outcome,
    })
}

/**
 * Outcome of a reported sweep. Pure.
 * @param facts of its transaction; undefined while it is in no block, if it failed in one or is unreadable
 * @param now Unix seconds
 */
export function sweepOutcome(
  { deposit, deadline, goesBack }: Pick<SweepPayload, 'deposit' | 'deadline' | 'goesBack'>,
  facts: Pick<DepositFacts, 'deposits'> | undefined,
  now: number,
): 'wait' | 'done' | 'not_included' | 'no_sweep' {
  if (facts === undefined) return now < deadline + lateInclusionSeconds ? 'wait' : 'not_included'
  // Money that goes back to its depositor makes no deposit that could be found.
  if (goesBack === true) return 'done'
  const isSwept = facts.deposits.some(({ depositId }) => depositId === deposit.orderId)
  return isSwept ? 'done' : 'no_sweep'
}

/** Frees an address after its sweep. One that no solver began before its deadline is cancelled first. */
async function endSweep(tx: SqlTx, address: string): Promise<void> {
  const locked = await lockAddress(tx, address)
  if (locked?.sweepId === undefined) return
  const item = await readWork(tx, locked.sweepId, 'for update')
  // A solver has begun it since it was listed.
  if (item?.state === 'reported') return
  if (item?.state === 'open') await updateWork(tx, item.id, { state: 'cancelled', reason: 'too late' })
  await clearSweep(tx, address, swapOutcome(item))
}

/** `done`: the sweep succeeded, with or without a swap; `failed`: it failed with its swap; else `none`. */
function swapOutcome(item: WorkItem | undefined): 'failed' | 'done' | 'none' {
  if (item?.state === 'done') return 'done'
  if (item?.state !== 'failed') return 'none'
  const payload = sweepPayloadSchema.parse(item.payload)
  return 'swap' in payload && payload.swap !== undefined ? 'failed' : 'none'
}
