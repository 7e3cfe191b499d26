import type { DepositFacts, SqlTx } from '@causeway/core'
import { paceMs } from '@causeway/core/config'
import { unlessPutAside } from '@causeway/families'
import type { Run } from '../../../jobs/runJobs.ts'
import { nowSeconds } from '../../settlement/settlementContext.ts'
import { reverted } from '../../status/standstill.ts'
import { lateInclusionSeconds } from '../../timings.ts'
import { followWork, type Reading, stepWork, versionOfWork } from '../../work/followWork.ts'
import type { ReadApart } from '../../work/readApart.ts'
import { type SweepPayload, sweepPayloadSchema, type WorkItem } from '../../work/workItem.ts'
import { listReportedWork, lockWork, noteReported, readWork, updateWork } from '../../work/workStore.ts'
import { clearSweep, listEndedSweeps, lockAddress } from '../addressStore.ts'
import type { DepositAddressContext } from '../depositAddressContext.ts'

const atOnce = 8
/** Blocks that come seldom come at any moment. */
const pauseMaxMs = 30_000

/**
 * Looks every reported sweep up on its chain and frees addresses whose sweep ended, however it did. A
 * sweep that failed costs nothing: what still lies there is decided anew.
 */
export async function followSweeps(context: DepositAddressContext, run: Run): Promise<void> {
  await followWork(context.database, run, {
    atOnce,
    list: (limit) => listReportedWork(context.database, 'sweep', limit),
    read: (item, signal, readApart) => readSweep(context, item, { signal, readApart }),
    lock: (tx, { id }) => lockWork(tx, id),
    versionOf: versionOfWork,
    step: (tx, item, sweep) => takeStep(context, tx, item, sweep),
  })
  await stepWork(context.database, run, {
    atOnce: 1,
    list: (limit) => listEndedSweeps(context.database, limit),
    step: endSweep,
  })
}

type Sweep = {
  readonly end: ReturnType<typeof sweepEnd>
  readonly isReverted: boolean
  readonly pauseMs: number
}

async function readSweep(
  context: DepositAddressContext,
  item: WorkItem,
  { signal, readApart }: { readonly signal: AbortSignal; readonly readApart: ReadApart },
): Promise<Reading<Sweep> | undefined> {
  const { txHash, chainId } = item
  if (txHash === undefined) return undefined
  const payload = sweepPayloadSchema.parse(item.payload)
  const chain = context.chains.get(chainId)
  if (chain === undefined) throw new Error(`chain ${chainId} cannot be read`)
  const { end, mined } = await readApart({ chainId, transactionId: txHash }, async () => {
    const facts = await unlessPutAside(chain.deposits(txHash, signal))
    const end = sweepEnd(payload, facts, nowSeconds(context))
    return { end, mined: end === 'wait' ? await chain.transaction(txHash, signal) : undefined }
  })
  const isReverted = mined?.succeeded === false
  const pauseMs = Math.min(paceMs(chain.chain.config) / 2, pauseMaxMs)
  return { mark: versionOfWork(item), seen: { end, isReverted, pauseMs } }
}

async function takeStep(
  { announce }: Pick<DepositAddressContext, 'announce'>,
  tx: SqlTx,
  item: WorkItem,
  { end, isReverted, pauseMs }: Sweep,
): Promise<void> {
  const { id } = item
  if (end === 'wait')
    await noteReported(announce, tx, item, { isIncluded: false, isReverted, delayMs: pauseMs })
  else if (end === 'done') await updateWork(tx, id, { state: 'done' })
  else
    await updateWork(tx, id, {
      state: 'failed',
      reason: item.reason === reverted && end === 'not_included' ? reverted : end,
    })
}

/** Outcome of a reported transaction. Pure. */
export function sweepEnd(
  { deposit, deadline, goesBack }: Pick<SweepPayload, 'deposit' | 'deadline' | 'goesBack'>,
  facts: Pick<DepositFacts, 'deposits'> | undefined,
  now: number,
): 'wait' | 'done' | 'not_included' | 'no_sweep' {
  if (facts === undefined) return now < deadline + lateInclusionSeconds ? 'wait' : 'not_included'
  // A refund to the depositor makes no deposit.
  if (goesBack === true) return 'done'
  const isSwept = facts.deposits.some(({ depositId }) => depositId === deposit.orderId)
  return isSwept ? 'done' : 'no_sweep'
}

/** Frees an address; a sweep that nobody began is not begun any more. */
async function endSweep(tx: SqlTx, address: string): Promise<void> {
  const locked = await lockAddress(tx, address)
  if (locked?.sweepId === undefined) return
  const item = await readWork(tx, locked.sweepId, 'for update')
  if (item?.state === 'reported') return
  if (item?.state === 'open') await updateWork(tx, item.id, { state: 'cancelled', reason: 'too late' })
  await clearSweep(tx, address, swapEnd(item))
}

/** A sweep that nobody began says nothing of its swap. */
function swapEnd(item: WorkItem | undefined): 'failed' | 'done' | 'none' {
  if (item?.state === 'done') return 'done'
  if (item?.state !== 'failed') return 'none'
  const payload = sweepPayloadSchema.parse(item.payload)
  return 'swap' in payload && payload.swap !== undefined ? 'failed' : 'none'
}
