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
   * `paid`: by the transaction that the solver reported. `failed`: it can be claimed again, so whoever says so has
   * made sure that nothing was paid and nothing will be. @throws ClaimNotPendingError
   */
  end(claimId: Hex, ending: ClaimEnding, auditNote: AuditNote): Promise<void>
}

export function createClaimAdministration(database: SqlDatabase): ClaimAdministration {
  return {
    pending: (page) => listPendingAppFeeClaims(database, page),
    end: (claimId, ending, { actor, reason }) =>
      database.transaction(async (tx) => {
        const item = await lockClaimWork(tx, claimId)
        const transactionHash = item?.txHash
        if (ending === 'paid' && transactionHash === undefined) throw new ClaimNotPendingError()
        const end =
          ending === 'paid' && transactionHash !== undefined
            ? ({ status: 'paid', transactionHash } as const)
            : ({ status: 'failed', reason: 'OPERATOR' } as const)
        const isEnded = await endAppFeeClaim(tx, { claimId, end, actor, evidence: { reason } })
        if (!isEnded) throw new ClaimNotPendingError()
        if (item !== undefined)
          await updateWork(tx, item.id, { state: ending === 'paid' ? 'done' : 'cancelled' })
        await recordAction(tx, { actor, action: 'claims.end', subject: claimId, details: { reason, ending } })
      }),
  }
}
