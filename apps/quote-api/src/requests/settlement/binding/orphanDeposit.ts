import type { SqlTx } from '@causeway/core'
import { takeSkewBack } from '../../orders/skewBookings.ts'
import { unbindDeposit } from '../../status/requestProgress.ts'
import { lockWorkOf, updateWork } from '../../work/workStore.ts'
import { type StoredDeposit, setDepositState } from '../deposits/depositStore.ts'
import { pinDecision } from '../deposits/pinDecision.ts'
import { depositTermsOf, lockSettledRequest } from '../settledRequest.ts'
import { nowSeconds, type SettlementContext } from '../settlementContext.ts'

/** Delay of open work while its deposit is gone; a deposit that returns makes it due again at once. */
const withoutDepositMs = 3_600_000

/**
 * Handles a deposit whose block left the chain: unbinds the request, unpins the sponsor's hold, and delays work that no solver
 * has begun. Work that a solver has begun goes on at the solver's risk. @source rules L-64, L-65
 */
export async function orphanDeposit(
  context: SettlementContext,
  tx: SqlTx,
  deposit: StoredDeposit,
): Promise<void> {
  const { requestId } = deposit
  const request = await lockSettledRequest(tx, requestId)
  await setDepositState(tx, deposit.id, 'orphaned', 'DEPOSIT_REORGED')
  context.observe({ event: 'deposit_orphaned', requestId })
  const origin = context.chains.get(deposit.chainId)
  if (request === undefined || origin === undefined || request.settlement?.depositId !== deposit.id) return
  await unbindDeposit(tx, requestId)
  // As after a fill, a reward stays booked, because the deposit may return in time; a cost is removed.
  await takeSkewBack(tx, { requestId, isFilled: true })
  const decision = pinDecision({
    deposit: { ...deposit, id: String(deposit.id), isDeep: false, isCanonical: false },
    terms: depositTermsOf(request, origin.chain),
    hold: request.hold,
    nowSeconds: nowSeconds(context),
  })
  if (decision.action === 'unpin') {
    const expiresAt = new Date(decision.expiresAtSeconds * 1_000)
    await context.ledger.unpin(tx, { requestId, expiresAt })
  }
  const fill = await lockWorkOf(tx, { kind: 'fill', requestId })
  const refund = await lockWorkOf(tx, { kind: 'refund', requestId, subject: String(deposit.id) })
  for (const item of [fill, refund])
    if (item?.state === 'open') await updateWork(tx, item.id, { state: 'open', delayMs: withoutDepositMs })
}
