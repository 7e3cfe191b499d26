import type { WithdrawalsResponse } from '@causeway/attestations'
import {
  type Evidence,
  encodeBurnAction,
  encodeTransferAction,
  type Hex,
  hubTokenId,
  type ReadOptions,
  type WithdrawalFacts,
  type WithdrawRequest,
  withdrawalExecutedKey,
  withdrawalExpiredKey,
  withdrawalKey,
  withdrawRequestPayloadId,
} from '@causeway/core'
import { codecOf, InvalidWithdrawalError } from '@causeway/core/encodings'
import { payloadHashes } from '@causeway/families/rules'
import { type AttestationContext, type AttestedChain, protocolChain } from './context.ts'

type Execution = NonNullable<WithdrawalsResponse['execution']>
type Allocator = NonNullable<AttestationContext['allocator']>

/** The payload that the allocator issued for one withdraw request. */
export type IssuedWithdrawal = {
  readonly payloadId: Hex
  /** Bytes of the payload; `undefined` where it issued nothing for exactly this request. */
  readonly payload: Hex | undefined
  readonly evidence: Evidence
}

/**
 * Asks the allocator for the payload of exactly this request.
 * @throws WithdrawalNotFinalError, what reading the allocator throws
 * @source rule P-117
 */
export async function readIssuedWithdrawal(
  request: WithdrawRequest,
  { chain, allocator }: { readonly chain: AttestedChain; readonly allocator: Allocator },
  options: ReadOptions,
): Promise<IssuedWithdrawal> {
  const payloadId = withdrawRequestPayloadId(request)
  const { spender, nonce, chainId: hubChainId, depository } = request
  const hashesOf = (payload: Hex) => hashesOrNone(chain, payload, { hubChainId, depository })
  const { payload, evidence } = await allocator.readIssued({ payloadId, spender, nonce, hashesOf }, options)
  return { payloadId, payload, evidence }
}

/**
 * Hashes of the payload. With `public` keys their stored signatures prove that it was issued; none if it
 * cannot be read: it then counts as not issued. With `own` keys they are not asked for.
 */
function hashesOrNone(
  { vmType }: AttestedChain,
  payload: Hex,
  payer: Parameters<typeof payloadHashes>[2],
): readonly Hex[] {
  try {
    return payloadHashes(vmType, payload, payer)
  } catch (error) {
    if (error instanceof InvalidWithdrawalError) return []
    throw error
  }
}

/** The money that a request asks for, in any spelling of its family. */
type WithdrawalTerms = {
  readonly currency: string
  readonly recipient: string
  /** Canonical. */
  readonly depository: string
}

/**
 * The first member in which a withdrawal pays something else than the request asks for; `undefined`: none. The
 * depository counts, because its state decides: another depository would call expired what the requested one paid.
 * @throws InvalidAddressError
 */
export function differentMoney(
  terms: WithdrawalTerms,
  paid: WithdrawalFacts,
  chain: AttestedChain,
): 'currency' | 'recipient' | 'depository' | undefined {
  const codec = codecOf(chain)
  const isSame = (one: Uint8Array, other: Uint8Array) => Buffer.compare(one, other) === 0
  if (!isSame(codec.encodeCurrency(terms.currency), codec.encodeCurrency(paid.currency))) return 'currency'
  const isSameRecipient = isSame(codec.encodeAddress(terms.recipient), codec.encodeAddress(paid.recipient))
  if (!isSameRecipient) return 'recipient'
  const paying = paid.payingDepositories ?? [paid.depository]
  return paying.some((one) => codec.canonicalAddress(one) === terms.depository) ? undefined : 'depository'
}

/** A withdrawal whose payload was issued, with the accounts on the hub that its execution concerns. */
export type WithdrawalToSettle = {
  readonly chain: AttestedChain
  readonly context: Pick<AttestationContext, 'hub'>
  readonly allocator: Pick<Allocator, 'keys'>
  readonly payloadId: Hex
  readonly facts: WithdrawalFacts
  /** The withdrawal address. */
  readonly hubFrom: Hex
  /** The owner's account on the hub. */
  readonly ownerAlias: Hex
  readonly currency: string
}

/**
 * The execution for an issued withdrawal. Executed: burns the amount at the withdrawal address, once the executing
 * transaction is proven. Expired: returns it to the owner. Pending: none. Burn and return share one key (unless the
 * hub file says `public`), so that the hub runs only one of them, even if both were signed at different times.
 */
export function withdrawalExecution(withdrawal: WithdrawalToSettle): Execution | undefined {
  const { chain, facts, hubFrom, ownerAlias, currency } = withdrawal
  const { status, amount, executingTransactionId } = facts
  const moved = { hubFrom, hubTokenId: hubTokenId(protocolChain(chain), currency), amount }
  switch (status) {
    case 'pending':
      return undefined
    case 'expired':
      return {
        idempotencyKey: keyOf(withdrawal, (withdrawalId) => withdrawalExpiredKey(withdrawalId)),
        actions: [encodeTransferAction({ ...moved, hubTo: ownerAlias })],
        signatures: [],
      }
    case 'executed':
      if (executingTransactionId === undefined) return undefined
      return {
        idempotencyKey: keyOf(withdrawal, (withdrawalId) =>
          withdrawalExecutedKey({ withdrawalId, transactionId: executingTransactionId }),
        ),
        actions: [encodeBurnAction(moved)],
        signatures: [],
      }
  }
}

/** Idempotency key. @param publicProtocolKey makes the key of the public protocol from the withdrawal id */
function keyOf(
  { allocator, context, payloadId, facts }: WithdrawalToSettle,
  publicProtocolKey: (withdrawalId: Hex) => Hex,
): Hex {
  return allocator.keys === 'public'
    ? publicProtocolKey(facts.withdrawalId)
    : withdrawalKey({ hubId: context.hub.id, payloadId })
}
