import type { Hex, ReadOptions, WithdrawalInitiatedResponse, WithdrawRequestFacts } from '@causeway/core'
import type { WithdrawalFlowRequest } from '../wire/requests.ts'
import type { Attest, AttestationContext } from './context.ts'
import { AttestationError } from './errors.ts'
import { type AuthorisedWithdrawal, authoriseWithdrawal } from './withdrawalFlow.ts'

/**
 * POST /attestations/withdrawal-initiated/v1: the withdrawal address holds exactly the amount, so the
 * allocator may build the payload that pays it out. It holds it in a final block: what is signed here outlives
 * every reorganization of the hub, and without the money a payout is the other owners'.
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
    readBalance(withdrawal, context, options),
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
  return { unsigned: buildInitiated(withdrawal, balance, facts), evidence, isFinal: false }
}

/** What the address holds for good. @throws AttestationError where only the newest block shows the amount */
async function readBalance(
  { withdrawalAddress, hubTokenId, amount }: AuthorisedWithdrawal,
  { hubBalances }: Pick<AttestationContext, 'hubBalances'>,
  options: ReadOptions,
): Promise<bigint> {
  const balance = await hubBalances.finalBalanceOf(withdrawalAddress, hubTokenId, options)
  if (balance === amount) return balance
  if ((await hubBalances.balanceOf(withdrawalAddress, hubTokenId, options)) !== amount) return balance
  throw new AttestationError(
    'HUB_BALANCE_NOT_FINAL',
    'The withdrawal address holds the amount in a block of the hub that may still be dropped.',
    {
      data: { balance: balance.toString(), amount: amount.toString() },
      retryAfterSeconds: finalityWaitSeconds,
    },
  )
}

/** A guess: an initiation is a few blocks old when it is asked for. */
const finalityWaitSeconds = 2

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
