import {
  type Hex,
  type WithdrawalInitiatedResponse,
  type WithdrawRequestFacts,
  withdrawalInitiationKey,
} from '@causeway/core'
import type { WithdrawalFlowRequest } from '../wire/requests.ts'
import type { Attest } from './context.ts'
import { AttestationError } from './errors.ts'
import { type AuthorisedWithdrawal, authoriseWithdrawal } from './withdrawalFlow.ts'

/**
 * POST /attestations/withdrawal-initiated/v1: the withdrawal address holds exactly the amount, so the
 * allocator may build the payload that pays it out.
 * @source oracle-protocol.md 3.5
 */
export const attestWithdrawalInitiated: Attest<WithdrawalFlowRequest, WithdrawalInitiatedResponse> = async (
  request,
  context,
  options,
) => {
  if (context.hub.withdrawRequestDomain === undefined) {
    throw new AttestationError('ALLOCATOR_NOT_CONFIGURED', 'No allocator is configured for this hub.')
  }
  const withdrawal = await authoriseWithdrawal(request, context, options)
  const { chain, depository, amount } = withdrawal
  const { currency, recipient, nonce, additionalData } = request
  const [balance, facts] = await Promise.all([
    context.hubBalances.balanceOf(withdrawal.withdrawalAddress, withdrawal.hubTokenId, options),
    context.readerOf(chain.id).readWithdrawRequest(
      {
        depository,
        currency,
        amount,
        recipient,
        nonce,
        ...(additionalData !== undefined && { additionalData }),
      },
      options,
    ),
  ])
  const evidence = facts.evidence === undefined ? [] : [facts.evidence]
  const { hubTokenId, withdrawalAddress } = withdrawal
  // One key per withdrawal address: the allocator issues one payload for it, whatever data it is asked with.
  const key = withdrawalInitiationKey({ hubId: context.hub.id, hubTokenId, withdrawalAddress })
  const payout = { key, hubTokenId, amount }
  return { unsigned: buildInitiated(withdrawal, balance, facts), evidence, isFinal: false, payout }
}

/** @throws AttestationError unless the withdrawal address holds exactly the amount */
function buildInitiated(
  { chain, amount, spender, nonce }: AuthorisedWithdrawal,
  balance: bigint,
  facts: WithdrawRequestFacts,
): WithdrawalInitiatedResponse {
  if (balance !== amount) {
    throw new AttestationError(
      'HUB_BALANCE_MISMATCH',
      'The withdrawal address does not hold exactly the withdrawn amount.',
      { data: { balance: balance.toString(), amount: amount.toString() } },
    )
  }
  const { depository, currency, recipient, data } = facts
  return {
    payloadParams: {
      chainId: chain.hubChainId,
      depository,
      currency,
      amount: amount.toString(),
      spender,
      recipient,
      nonce: bytes32(nonce),
      data,
      signatures: [],
    },
  }
}

function bytes32(value: bigint): Hex {
  return `0x${value.toString(16).padStart(64, '0')}`
}
