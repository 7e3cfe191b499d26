import type { WithdrawalInitiationResponse } from '@causeway/attestations'
import { encodeTransferAction, withdrawalInitiationKey } from '@causeway/core'
import type { WithdrawalFlowRequest } from '../wire/requests.ts'
import type { Attest, AttestationContext, WithExecution } from './context.ts'
import { AttestationError } from './errors.ts'
import { type AuthorisedWithdrawal, authoriseWithdrawal } from './withdrawalFlow.ts'

/**
 * POST /attestations/withdrawal-initiation/v1: signs the execution that moves an owner's balance on the hub to the
 * withdrawal address. The owner must have signed the request.
 * @source rule P-80
 */
export const attestWithdrawalInitiation: Attest<
  WithdrawalFlowRequest,
  WithExecution<WithdrawalInitiationResponse>
> = async (request, context, options) => {
  const withdrawal = await authoriseWithdrawal(request, context, options)
  const balance = await context.hubBalances.balanceOf(withdrawal.spender, withdrawal.hubTokenId, options)
  return {
    unsigned: buildInitiation(withdrawal, balance, context),
    evidence: withdrawal.evidence,
    // Not cached: the balance changes.
    isFinal: false,
  }
}

/** @throws AttestationError when the balance does not cover the amount */
function buildInitiation(
  { spender, amount, hubTokenId, withdrawalAddress }: AuthorisedWithdrawal,
  balance: bigint,
  { hub }: Pick<AttestationContext, 'hub'>,
): WithExecution<WithdrawalInitiationResponse> {
  if (balance < amount) {
    throw new AttestationError(
      'INSUFFICIENT_HUB_BALANCE',
      'The balance on the hub does not cover the withdrawal.',
      { data: { balance: balance.toString(), amount: amount.toString() } },
    )
  }
  const action = encodeTransferAction({ hubFrom: spender, hubTo: withdrawalAddress, hubTokenId, amount })
  const idempotencyKey = withdrawalInitiationKey({ hubId: hub.id, hubTokenId, withdrawalAddress })
  return { withdrawalAddress, execution: { idempotencyKey, actions: [action], signatures: [] } }
}
