import type { RecoveryResponse } from '@causeway/attestations'
import {
  type DepositFact,
  type DepositFacts,
  depositsExecutionKey,
  encodeTransferAction,
  type Hex,
  orderId as hashOrder,
  hubAlias,
  hubTokenId,
  noFillOrRefundData,
  noFillOrRefundEntryKey,
  type Order,
  onchainId as onchainIdOf,
  orderAddress,
  recoveryKey,
} from '@causeway/core'
import { codecOf } from '@causeway/core/encodings'
import type { RecoveryRequest } from '../wire/requests.ts'
import {
  type Attest,
  type AttestationContext,
  type AttestedChain,
  chainOf,
  protocolChain,
  type WithExecution,
} from './context.ts'
import { AttestationError } from './errors.ts'
import { checkOrderSignature } from './settlement/orderSignature.ts'

/** Id in a deposit that names no order. */
const noOrder: Hex = `0x${'0'.repeat(64)}`

/**
 * POST /attestations/recover/v1: returns a deposit to its depositor's balance. The solver of its order must have
 * promised neither to fill nor to refund it, and promise and deposit must both be `delaySeconds` old, so that an
 * earlier fill has been settled. Time alone would not do: nobody can prove that an order was not filled.
 * @source rules P-123, P-125
 */
export const attestRecovery: Attest<RecoveryRequest, WithExecution<RecoveryResponse>> = async (
  request,
  context,
  options,
) => {
  const { recovery } = context
  if (recovery === undefined) throw mappingNotConfigured()
  const chain = chainOf(context, request.chainId)
  const transactionId = codecOf(chain).canonicalTransactionId(request.transactionId)
  const { order, orderId } = signedOrder(request, context)
  const facts = await context.readerOf(chain.id).readDeposits({ transactionId }, options)
  const deposit = findDeposit(facts, { chain, onchainId: request.onchainId, orderId })
  const originChain = protocolChain(chain)
  const hubFrom = orderAddress(originChain, {
    depositor: deposit.depositor,
    timestampSeconds: facts.blockTimestampSeconds,
    depositId: orderId,
  })
  const token = hubTokenId(originChain, deposit.currency)
  const state = await recovery.read(
    {
      ...noFillOrRefundEntryKey({ solverChainId: order.solverChainId, solver: solverOf(order), orderId }),
      holder: hubFrom,
      hubTokenId: token,
      mintKey: depositsExecutionKey({ chainId: chain.id, transactionId }),
    },
    options,
  )
  checkPromise(state, { depositSeconds: facts.blockTimestampSeconds, delaySeconds: recovery.delaySeconds })
  const action = encodeTransferAction({
    hubFrom,
    hubTo: hubAlias(originChain, deposit.depositor),
    hubTokenId: token,
    amount: heldAmount(state, deposit),
  })
  return {
    unsigned: {
      execution: { idempotencyKey: recoveryKey(request.onchainId), actions: [action], signatures: [] },
    },
    evidence: [facts.evidence, state.evidence],
    // Not cached: the balance changes.
    isFinal: false,
  }
}

export function mappingNotConfigured(): AttestationError {
  return new AttestationError(
    'GENERIC_MAPPING_NOT_CONFIGURED',
    'No generic mapping is configured for this hub.',
  )
}

/** The order, checked. @throws AttestationError for no order, or one that its solver did not sign; UnknownChainError */
function signedOrder(
  { order, orderSignature: signature }: RecoveryRequest,
  context: Pick<AttestationContext, 'networkOf' | 'recoverSigner'>,
): { readonly order: Order; readonly orderId: Hex } {
  if (order === undefined || signature === undefined) {
    throw new AttestationError(
      'MISSING_ORDER',
      'A deposit goes back only with the order that it was for, and the signature of that order.',
    )
  }
  const orderId = hashOrder(order, context.networkOf)
  checkOrderSignature({ solver: order.solver, orderId, signature }, context)
  return { order, orderId }
}

/** The solver as `Hex`: hashing the order has checked that it is one. */
function solverOf({ solver }: Order): Hex {
  return `0x${solver.slice(2)}`
}

/** The transaction's deposit with the onchain id, for the order. @throws AttestationError */
function findDeposit(
  { transactionId, deposits }: DepositFacts,
  expected: { readonly chain: AttestedChain; readonly onchainId: Hex; readonly orderId: Hex },
): DepositFact {
  const chainId = expected.chain.id
  const deposit = deposits.find(
    ({ onchainIndex }) => onchainIdOf({ chainId, transactionId, onchainIndex }) === expected.onchainId,
  )
  if (deposit === undefined) {
    throw new AttestationError('DEPOSIT_NOT_FOUND', 'The transaction holds no deposit under that onchain id.')
  }
  if (deposit.depositId === noOrder) {
    throw new AttestationError('DEPOSIT_WITHOUT_ORDER', 'The deposit is for no order: its depositor has it.')
  }
  if (deposit.depositId !== expected.orderId) {
    throw new AttestationError('DEPOSIT_ORDER_MISMATCH', 'The deposit is for another order.', {
      data: { depositId: deposit.depositId, orderId: expected.orderId },
    })
  }
  return deposit
}

/**
 * Amount of the deposit that its account on the hub still holds. Deposits of one owner for one order in the same second
 * share an account. After one of them was settled it holds less than their sum, so each takes what is there, up to its
 * own amount.
 * @throws AttestationError @source rule P-85
 */
function heldAmount({ isMinted, balance }: RecoveryState, { amount }: DepositFact): bigint {
  if (isMinted && balance > 0n) return balance < amount ? balance : amount
  const reason = isMinted
    ? 'The deposit was settled or went back: its account on the hub is empty.'
    : 'The deposit is not on the hub yet: submit its attestation first.'
  throw new AttestationError('DEPOSIT_NOT_HELD', reason, {
    data: { balance: balance.toString(), amount: amount.toString() },
  })
}

/** The promise's entry, and the deposit's account with whether it was credited, in one final block. */
type RecoveryState = Awaited<ReturnType<NonNullable<AttestationContext['recovery']>['read']>>

/** Checks that the promise exists, and that it and the deposit are old enough. @throws AttestationError */
function checkPromise(
  { entryData, entrySeconds, readAtSeconds }: RecoveryState,
  { depositSeconds, delaySeconds }: { readonly depositSeconds: bigint; readonly delaySeconds: bigint },
): void {
  if (entryData !== noFillOrRefundData) {
    throw new AttestationError(
      'NO_FILL_PROMISE_MISSING',
      "The hub holds no promise of the order's solver neither to fill nor to refund it.",
    )
  }
  const opensAt = (entrySeconds > depositSeconds ? entrySeconds : depositSeconds) + delaySeconds
  if (readAtSeconds >= opensAt) return
  throw new AttestationError('RECOVERY_TOO_EARLY', 'The promise or the deposit has not stood long enough.', {
    data: { opensAt: opensAt.toString() },
    retryAfterSeconds: Number(opensAt - readAtSeconds),
  })
}
