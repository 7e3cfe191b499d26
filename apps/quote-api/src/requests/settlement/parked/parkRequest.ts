import type { Hex, SqlTx } from '@causeway/core'
import type { Reason } from '../../status/reasons.ts'
import { recheckByAge, setStage } from '../../status/requestProgress.ts'
import type { SettlementContext } from '../settlementContext.ts'

/** Parked for a trace: it goes on by itself once there is one, see `resumeTraced`. */
export const traceNeeded = 'TRACE_NEEDED'

/** Stops a request for an operator, loudly. But for `traceNeeded` nothing about it moves by itself any more. */
export async function parkRequest(
  context: Pick<SettlementContext, 'observe'>,
  tx: SqlTx,
  requestId: Hex,
  reason: Reason,
): Promise<void> {
  await setStage(tx, requestId, { stage: 'parked', parkedReason: reason })
  if (reason === traceNeeded) await recheckByAge(tx, requestId)
  context.observe({ event: 'parked', requestId, reason })
}
