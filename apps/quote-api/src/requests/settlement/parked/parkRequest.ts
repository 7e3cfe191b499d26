import type { Hex, SqlTx } from '@causeway/core'
import type { Reason } from '../../status/reasons.ts'
import { setStage } from '../../status/requestProgress.ts'
import type { SettlementContext } from '../settlementContext.ts'

/** Parks a request: no job touches it until an operator decides, who is alerted by the event. */
export async function parkRequest(
  context: Pick<SettlementContext, 'observe'>,
  tx: SqlTx,
  requestId: Hex,
  reason: Reason,
): Promise<void> {
  await setStage(tx, requestId, { stage: 'parked', parkedReason: reason })
  context.observe({ event: 'parked', requestId, reason })
}
