import { DomainError, type Hex, type SqlDatabase } from '@causeway/core'
import { endAppFeeClaim, listPendingAppFeeClaims, type PendingAppFeeClaim } from '@causeway/ledger'
import { recordAction } from '../../access/adminAction.ts'
import { lockClaimWork, updateWork } from '../../requests/work/workStore.ts'
import type { AuditNote } from './ledgerAdministration.ts'

/** The claim is unknown, has ended, or cannot end so. */
class ClaimNotPendingError extends DomainError {
  readonly code = 'APP_FEE_CLAIM_NOT_PENDING'
  readonly kind = 'conflict'

  constructor() {
    super('The claim is unknown, has ended, or has no transaction that could have paid it.')
  }
}

export type ClaimEnding = 'paid' | 'failed'

/** Operations on stuck claims: one implementation behind the command line and the admin listener. */
export interface ClaimAdministration {
  /** Longest waiting first. */
  pending(page: { limit: number }): Promise<readonly PendingAppFeeClaim[]>
  /**
   * `paid`: by the transaction that the solver reported. `failed`: the amount can be claimed again, so the operator has
   * to make sure first that nothing was paid and nothing will be. @throws ClaimNotPendingError
   */
  end(claimId: Hex, ending: ClaimEnding, auditNote: AuditNote): Promise<void>
}

/** @throws ClaimNotPendingError if nothing was reported that could have paid the claim */
function endOf(ending: ClaimEnding, transactionHash: string | undefined) {
  if (ending === 'failed') return { status: 'failed', reason: 'OPERATOR' } as const
  if (transactionHash === undefined) throw new ClaimNotPendingError()
  return { status: 'paid', transactionHash } as const
}

export function createClaimAdministration(database: SqlDatabase): ClaimAdministration {
  return {
    pending: (page) => listPendingAppFeeClaims(database, page),
    end: (claimId, ending, { actor, reason }) =>
      database.transaction(async (tx) => {
        const item = await lockClaimWork(tx, claimId)
        const end = endOf(ending, item?.txHash)
        const isEnded = await endAppFeeClaim(tx, { claimId, end, actor, evidence: { reason } })
        if (!isEnded) throw new ClaimNotPendingError()
        if (item !== undefined)
          await updateWork(tx, item.id, { state: ending === 'paid' ? 'done' : 'cancelled' })
        await recordAction(tx, { actor, action: 'claims.end', subject: claimId, details: { reason, ending } })
      }),
  }
}
