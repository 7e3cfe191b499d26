import type { WithdrawalsResponse } from '@causeway/attestations'
import {
  type Evidence,
  type Hex,
  hubAlias,
  type ReadOptions,
  type WithdrawalFacts,
  type WithdrawalStatus,
  withdrawalAddress,
} from '@causeway/core'
import { codecOf } from '@causeway/core/encodings'
import { payloadDifference, withdrawRequestOf } from '@causeway/families/rules'
import type { WithdrawalsRequest } from '../wire/requests.ts'
import {
  type Attest,
  type AttestationContext,
  type AttestedChain,
  chainOf,
  protocolChain,
} from './context.ts'
import { requestedDepository } from './depositories.ts'
import { AttestationError } from './errors.ts'
import { differentMoney, readIssuedWithdrawal, withdrawalExecution } from './issuedWithdrawal.ts'

type AddressRequest = NonNullable<WithdrawalsRequest['withdrawalAddressRequest']>
type Execution = NonNullable<WithdrawalsResponse['execution']>

/** Statuses as messages have them. */
export const withdrawalStatusNumbers = { pending: 0, executed: 1, expired: 2 } as const satisfies Record<
  WithdrawalStatus,
  number
>

/**
 * POST /attestations/depository-withdrawals/v1: attests what became of a withdrawal. Anybody may make up its bytes, so
 * alone they get a message and no execution. If the request also describes a withdrawal address, the allocator must
 * have issued the bytes for exactly that address; then the answer has the execution of `withdrawalExecution`.
 * @source rules P-117, P-118
 */
export const attestWithdrawal: Attest<WithdrawalsRequest, WithdrawalsResponse> = async (
  request,
  context,
  options,
) => {
  const chain = chainOf(context, request.chainId)
  const question = canonicalQuestion(request, chain)
  const facts = await context.readerOf(chain.id).readWithdrawal(question, options)
  checkExecutingTransaction(request, facts, chain)
  const { withdrawalAddressRequest: addressRequest } = request
  const settled =
    addressRequest === undefined
      ? undefined
      : await settle({ request, addressRequest, facts, chain, context }, options)
  return {
    unsigned: {
      message: buildMessage(request, facts, chain),
      ...(settled?.execution !== undefined && { execution: settled.execution }),
      ...(facts.pendingReason !== undefined && { pendingReason: facts.pendingReason }),
    },
    evidence: [facts.evidence, ...(settled?.evidence ?? [])],
    isFinal: facts.status !== 'pending',
  }
}

/** Question for the facts of a withdrawal, with the transaction id that the caller names in canonical spelling. */
export function canonicalQuestion(
  { withdrawal, transactionId }: Pick<WithdrawalsRequest, 'withdrawal' | 'transactionId'>,
  chain: AttestedChain,
) {
  if (transactionId === undefined) return { withdrawal }
  return { withdrawal, transactionId: codecOf(chain).canonicalTransactionId(transactionId) }
}

function buildMessage(
  { withdrawalAddressRequest: addressRequest, withdrawal }: WithdrawalsRequest,
  facts: WithdrawalFacts,
  chain: AttestedChain,
): WithdrawalsResponse['message'] {
  return {
    data: {
      chainId: chain.id,
      withdrawal,
      ...(addressRequest !== undefined && { withdrawalAddressRequest: addressRequest }),
    },
    result: {
      withdrawalId: facts.withdrawalId,
      depository: facts.depository,
      status: withdrawalStatusNumbers[facts.status],
    },
    signatures: [],
  }
}

/**
 * Checks that a transaction which the caller names for an executed withdrawal is the one that executed it.
 * @throws AttestationError
 */
export function checkExecutingTransaction(
  { transactionId }: Pick<WithdrawalsRequest, 'transactionId'>,
  facts: WithdrawalFacts,
  chain: AttestedChain,
): void {
  if (transactionId === undefined || facts.status !== 'executed') return
  const canonical = codecOf(chain).canonicalTransactionId(transactionId)
  if (facts.executingTransactionId === canonical) return
  throw new AttestationError(
    'TRANSACTION_DOES_NOT_EXECUTE_WITHDRAWAL',
    'The transaction does not execute the withdrawal.',
    { data: { withdrawalId: facts.withdrawalId } },
  )
}

type Settling = {
  readonly request: WithdrawalsRequest
  readonly addressRequest: AddressRequest
  readonly facts: WithdrawalFacts
  readonly chain: AttestedChain
  readonly context: Pick<AttestationContext, 'chains' | 'hub' | 'allocator'>
}

/**
 * The execution, if the allocator issued these bytes for exactly this withdrawal address; none without an
 * allocator. The address request must describe the money that the bytes pay. Both together make a withdraw
 * request; the allocator must have issued a payload for it, and this must pay the same as the bytes.
 * @throws AttestationError if it issued none, or if a member differs
 */
async function settle(
  { request, addressRequest, facts, chain, context }: Settling,
  options: ReadOptions,
): Promise<
  { readonly execution: Execution | undefined; readonly evidence: readonly Evidence[] } | undefined
> {
  const depository = checkAddressRequest(addressRequest, facts, chain)
  const { allocator } = context
  if (allocator === undefined) return undefined
  const ownerChain = chainOf(context, addressRequest.withdrawerChainId)
  const ownerAlias = hubAlias(protocolChain(ownerChain), addressRequest.withdrawer)
  const { currency, recipient } = addressRequest
  const terms = { depository, currency, recipient, nonce: BigInt(addressRequest.withdrawalNonce) }
  const requested = withdrawRequestOf(chain, request.withdrawal, {
    ...terms,
    spender: ownerAlias,
    amount: facts.amount,
  })
  const issued = await readIssuedWithdrawal(requested, { chain, allocator }, options)
  const { payloadId, payload, evidence } = issued
  if (payload === undefined) {
    throw new AttestationError(
      'WITHDRAWAL_NOT_ISSUED',
      'The allocator issued no payload for this amount, data and withdrawal address request.',
      { data: { payloadId, spender: ownerAlias, amount: facts.amount.toString() } },
    )
  }
  const member = payloadDifference(chain.vmType, request.withdrawal, payload)
  if (member !== undefined) throw payloadMismatch(payloadId, member)
  const hubFrom = withdrawalAddress(protocolChain(chain), { ...terms, ownerAlias })
  const settled = { chain, context, allocator, payloadId, facts, hubFrom, ownerAlias, currency }
  return { execution: withdrawalExecution(settled), evidence: [evidence] }
}

/** Error for an issued payload that differs from the bytes or from the request. */
export function payloadMismatch(payloadId: Hex, member: string): AttestationError {
  return new AttestationError(
    'WITHDRAWAL_PAYLOAD_MISMATCH',
    `The allocator issued another withdrawal for this request: ${member} differs.`,
    { data: { payloadId, member } },
  )
}

/**
 * Checks that the withdrawal address request describes the money that the withdrawal pays.
 * @returns the depository of the withdrawal address. @throws AttestationError naming the first member that differs
 */
function checkAddressRequest(request: AddressRequest, facts: WithdrawalFacts, chain: AttestedChain): string {
  const depository = requestedDepository(chain, request.depository)
  const member =
    request.chainId === chain.id ? differentMoney({ ...request, depository }, facts, chain) : 'chainId'
  if (member === undefined) return depository
  throw new AttestationError(
    'WITHDRAWAL_REQUEST_MISMATCH',
    `The withdrawal does not match the withdrawal address request: ${member} differs.`,
    { data: { withdrawalId: facts.withdrawalId, member } },
  )
}
