import type { Hex, SqlTx } from '@causeway/core'
import { setStage } from '../status/requestProgress.ts'
import type { SettlementContext } from './settlementContext.ts'

/** Stops a request for an operator, loudly: nothing about it moves by itself any more. */
export async function park(
  context: Pick<SettlementContext, 'observe'>,
  tx: SqlTx,
  requestId: Hex,
  reason: string,
): Promise<void> {
  await setStage(tx, requestId, { stage: 'parked', parkedReason: reason })
  context.observe({ event: 'parked', requestId, reason })
}
