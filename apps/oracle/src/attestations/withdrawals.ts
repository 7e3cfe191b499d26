import {
  codecOf,
  encodeBurnAction,
  encodeTransferAction,
  hubAlias,
  hubTokenId,
  type WithdrawalFacts,
  type WithdrawalStatus,
  type WithdrawalsResponse,
  withdrawalAddress,
  withdrawalExecutedKey,
  withdrawalExpiredKey,
} from '@causeway/core'
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

type AddressRequest = NonNullable<WithdrawalsRequest['withdrawalAddressRequest']>
type Execution = NonNullable<WithdrawalsResponse['execution']>

const statusNumbers = { pending: 0, executed: 1, expired: 2 } as const satisfies Record<
  WithdrawalStatus,
  number
>

/**
 * POST /attestations/depository-withdrawals/v1: what became of a withdrawal; executed burns what its
 * withdrawal address holds, expired gives it back to the owner.
 * @source oracle-protocol.md 3.2
 */
export const attestWithdrawal: Attest<WithdrawalsRequest, WithdrawalsResponse> = async (
  request,
  context,
  options,
) => {
  const chain = chainOf(context, request.chainId)
  const question = canonicalQuestion(request, chain)
  const facts = await context.readerOf(chain.id).readWithdrawal(question, options)
  return {
    unsigned: buildWithdrawal({ request, facts, chain, context }),
    evidence: [facts.evidence],
    isFinal: facts.status !== 'pending',
  }
}

function canonicalQuestion({ withdrawal, transactionId }: WithdrawalsRequest, chain: AttestedChain) {
  if (transactionId === undefined) return { withdrawal }
  return { withdrawal, transactionId: codecOf(chain).canonicalTransactionId(transactionId) }
}

type Parts = {
  readonly request: WithdrawalsRequest
  readonly facts: WithdrawalFacts
  readonly chain: AttestedChain
  readonly context: Pick<AttestationContext, 'chains'>
}

/** The answer without signatures. @throws AttestationError when request and facts contradict */
function buildWithdrawal({ request, facts, chain, context }: Parts): WithdrawalsResponse {
  const { withdrawalAddressRequest: addressRequest, withdrawal } = request
  checkTransaction(request, facts, chain)
  const execution =
    addressRequest === undefined ? undefined : settle({ addressRequest, facts, chain, context })
  return {
    message: {
      data: {
        chainId: chain.id,
        withdrawal,
        ...(addressRequest !== undefined && { withdrawalAddressRequest: addressRequest }),
      },
      result: {
        withdrawalId: facts.withdrawalId,
        depository: facts.depository,
        status: statusNumbers[facts.status],
      },
      signatures: [],
    },
    ...(execution !== undefined && { execution }),
  }
}

/** A transaction that the caller names for an executed withdrawal must be the one that executed it. */
function checkTransaction(
  { transactionId }: WithdrawalsRequest,
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

type Settled = {
  readonly addressRequest: AddressRequest
  readonly facts: WithdrawalFacts
  readonly chain: AttestedChain
  readonly context: Pick<AttestationContext, 'chains'>
}

/**
 * The hub's side of the withdrawal. One withdrawal and status have one key: the burn's names the proven
 * executing transaction, the transfer back names none, because none executed it.
 */
function settle({ addressRequest, facts, chain, context }: Settled): Execution | undefined {
  const depository = bind(addressRequest, facts, chain)
  if (facts.status === 'pending') return undefined
  const named = protocolChain(chain)
  const { amount, withdrawalId, executingTransactionId } = facts
  const owner = protocolChain(chainOf(context, addressRequest.withdrawerChainId))
  const ownerAlias = hubAlias(owner, addressRequest.withdrawer)
  const { currency, recipient } = addressRequest
  const nonce = BigInt(addressRequest.withdrawalNonce)
  const hubFrom = withdrawalAddress(named, { depository, currency, recipient, ownerAlias, nonce })
  const token = hubTokenId(named, currency)
  if (facts.status === 'expired') {
    const action = encodeTransferAction({ hubFrom, hubTo: ownerAlias, hubTokenId: token, amount })
    return { idempotencyKey: withdrawalExpiredKey(withdrawalId), actions: [action], signatures: [] }
  }
  if (executingTransactionId === undefined) return undefined
  const action = encodeBurnAction({ hubFrom, hubTokenId: token, amount })
  const idempotencyKey = withdrawalExecutedKey({ withdrawalId, transactionId: executingTransactionId })
  return { idempotencyKey, actions: [action], signatures: [] }
}

/**
 * Without these checks an executed withdrawal could be paired with another owner's withdrawal address.
 * @returns the depository of the withdrawal address
 */
function bind(request: AddressRequest, facts: WithdrawalFacts, chain: AttestedChain): string {
  const codec = codecOf(chain)
  const depository = requestedDepository(chain, request.depository)
  const isBound =
    request.chainId === chain.id &&
    sameBytes(codec.encodeCurrency(request.currency), codec.encodeCurrency(facts.currency)) &&
    sameBytes(codec.encodeAddress(request.recipient), codec.encodeAddress(facts.recipient)) &&
    (facts.payingDepositories ?? [facts.depository]).some(
      (paying) => codec.canonicalAddress(paying) === depository,
    )
  if (!isBound) {
    throw new AttestationError(
      'WITHDRAWAL_REQUEST_MISMATCH',
      'The withdrawal does not match the withdrawal address request.',
      { data: { withdrawalId: facts.withdrawalId } },
    )
  }
  return depository
}

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0
}
