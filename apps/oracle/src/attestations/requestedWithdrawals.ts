import type { RequestedWithdrawalsResponse } from '@causeway/attestations'
import { payloadWithdrawal, spelledWithdrawRequest } from '@causeway/families/rules'
import type { RequestedWithdrawalsRequest } from '../wire/requests.ts'
import type { Attest } from './context.ts'
import { AttestationError } from './errors.ts'
import { differentMoney, readIssuedWithdrawal, withdrawalExecution } from './issuedWithdrawal.ts'
import { authoriseWithdrawal } from './withdrawalFlow.ts'
import {
  canonicalQuestion,
  checkExecutingTransaction,
  payloadMismatch,
  withdrawalStatusNumbers,
} from './withdrawals.ts'

/**
 * POST /attestations/depository-withdrawals/v2: attests what became of the withdrawal that an owner signed for. Unlike
 * version 1 it takes no withdrawal bytes from the caller but reads them from the allocator. While the allocator has
 * issued nothing, the withdrawal is pending.
 * @source rule P-117
 */
export const attestRequestedWithdrawal: Attest<
  RequestedWithdrawalsRequest,
  RequestedWithdrawalsResponse
> = async (request, context, options) => {
  const { allocator } = context
  if (allocator === undefined) {
    throw new AttestationError('ALLOCATOR_NOT_CONFIGURED', 'No allocator is configured for this hub.')
  }
  const withdrawal = await authoriseWithdrawal(request, context, options)
  const { chain, depository, spender, withdrawalAddress } = withdrawal
  const { currency, recipient, additionalData, transactionId } = request
  const requested = spelledWithdrawRequest(chain, { ...withdrawal, currency, recipient }, additionalData)
  const issued = await readIssuedWithdrawal(requested, { chain, allocator }, options)
  const { payloadId, payload } = issued
  const evidence = [...withdrawal.evidence, issued.evidence]
  if (payload === undefined)
    return { unsigned: { status: withdrawalStatusNumbers.pending }, evidence, isFinal: false }
  const issuedBytes = payloadWithdrawal(chain.vmType, payload)
  const question = canonicalQuestion({ withdrawal: issuedBytes, transactionId }, chain)
  const facts = await context.readerOf(chain.id).readWithdrawal(question, options)
  // The allocator's contract may have built a payload that pays something else: that settles nothing.
  const differentMember =
    withdrawal.amount === facts.amount
      ? differentMoney({ currency, recipient, depository }, facts, chain)
      : 'amount'
  if (differentMember !== undefined) throw payloadMismatch(payloadId, differentMember)
  checkExecutingTransaction(request, facts, chain)
  const settling = { chain, context, allocator, payloadId, facts, currency }
  const execution = withdrawalExecution({ ...settling, hubFrom: withdrawalAddress, ownerAlias: spender })
  return {
    unsigned: {
      status: withdrawalStatusNumbers[facts.status],
      ...(execution !== undefined && { execution }),
      ...(facts.pendingReason !== undefined && { pendingReason: facts.pendingReason }),
    },
    evidence: [...evidence, facts.evidence],
    isFinal: facts.status !== 'pending',
  }
}
