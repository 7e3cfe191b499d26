import type { WithdrawalInitiatedResponse } from '@causeway/attestations'
import {
  type Hex,
  type ReadOptions,
  type WithdrawRequestFacts,
  withdrawalInitiationKey,
} from '@causeway/core'
import type { WithdrawalFlowRequest } from '../wire/requests.ts'
import type { Attest, AttestationContext } from './context.ts'
import { AttestationError } from './errors.ts'
import { type AuthorisedWithdrawal, authoriseWithdrawal } from './withdrawalFlow.ts'

/**
 * POST /attestations/withdrawal-initiated/v1: attests that the withdrawal address holds the amount, by signing the
 * parameters with which the allocator then builds the payload that pays it out.
 * @source rule P-121
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
  const [facts] = await Promise.all([
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
    checkBalance(withdrawal, context, options),
  ])
  const evidence = [...withdrawal.evidence, ...(facts.evidence === undefined ? [] : [facts.evidence])]
  const { hubTokenId, withdrawalAddress } = withdrawal
  // For the caps, one key per withdrawal address: the allocator issues one payload for it, whatever its data.
  const key = withdrawalInitiationKey({ hubId: context.hub.id, hubTokenId, withdrawalAddress })
  const payout = { key, hubTokenId, amount }
  // Not cached: the balance changes.
  return { unsigned: buildInitiated(withdrawal, facts), evidence, isFinal: false, payout }
}

/**
 * Checks that the withdrawal address holds the amount in a final block. If it were not final, a reorganization could
 * undo the balance after the payout, and its owner could take it out again. Where the allocator issues one payload per
 * nonce (`own`), more than the amount is fine: a stranger who sends a unit there then blocks nobody, and the excess is
 * never paid. Otherwise the balance must equal the amount, as the public protocol demands, because an allocator could
 * issue a second payload over the excess.
 * @throws AttestationError
 * @source rule P-121
 */
async function checkBalance(
  { withdrawalAddress, hubTokenId, amount }: AuthorisedWithdrawal,
  { allocator, hubBalances }: Pick<AttestationContext, 'allocator' | 'hubBalances'>,
  options: ReadOptions,
): Promise<void> {
  const isEnough = (balance: bigint) => (allocator?.keys === 'own' ? balance >= amount : balance === amount)
  const final = await hubBalances.finalBalanceOf(withdrawalAddress, hubTokenId, options)
  if (isEnough(final.balance)) return
  const balance = await hubBalances.balanceOf(withdrawalAddress, hubTokenId, options)
  if (isEnough(balance)) {
    throw new AttestationError(
      'HUB_BALANCE_NOT_FINAL',
      'The withdrawal address holds the amount in a block that the hub may still drop.',
      { retryAfterSeconds: final.waitSeconds },
    )
  }
  throw new AttestationError(
    'HUB_BALANCE_MISMATCH',
    'The withdrawal address does not hold the withdrawn amount.',
    { data: { balance: balance.toString(), amount: amount.toString() } },
  )
}

function buildInitiated(
  { chain, amount, spender, nonce }: AuthorisedWithdrawal,
  facts: WithdrawRequestFacts,
): WithdrawalInitiatedResponse {
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
