import {
  bpsDiffUnit,
  type DepositFact,
  type DepositFacts,
  type Evidence,
  type Hex,
  type InputEntry,
  type Order,
  onchainId,
  UnknownOrderPartError,
  weightedInputBpsDiff,
} from '@causeway/core'
import { codecOf } from '@causeway/core/encodings'
import type { RefundsRequest } from '../../wire/requests.ts'
import { type AttestationContext, type AttestedChain, chainOf } from '../context.ts'
import { AttestationError } from '../errors.ts'

/** A deposit that counts for an order, with what its settlement needs. */
export type OrderDeposit = {
  readonly chain: AttestedChain
  readonly onchainId: Hex
  readonly deposit: DepositFact
  readonly blockTimestampSeconds: bigint
  /** Its transaction with all deposits: the id of a refund has the deposit's place among those like it. */
  readonly facts: Pick<DepositFacts, 'transactionId' | 'deposits'>
}

/**
 * An input entry of a request, with its transaction id in canonical spelling, the chain of the transaction, and the
 * currency that the order asks for.
 */
export type NamedInput = InputEntry & { readonly chain: AttestedChain; readonly currency: string }

/** An input entry with the final deposits of its transaction. */
export type ReadInput = NamedInput & { readonly facts: DepositFacts }

/**
 * The request's input entries with canonical ids. Each must name another deposit, and an input that the order has,
 * because all of them are in the signed message. @throws AttestationError, UnknownOrderPartError, UnknownChainError
 * @source rule P-92
 */
export function nameInputs(
  { inputs, order, force }: Pick<RefundsRequest, 'inputs' | 'order' | 'force'>,
  context: Pick<AttestationContext, 'chains'>,
): readonly NamedInput[] {
  if (new Set(inputs.map((input) => input.onchainId)).size < inputs.length) {
    throw new AttestationError('DUPLICATE_ONCHAIN_ID', 'Two inputs name the same onchain id.')
  }
  return inputs.map(({ transactionId, onchainId: id, inputIndex, chainId }) => {
    const orderInput = order.inputs[inputIndex]
    if (orderInput === undefined) throw new UnknownOrderPartError({ inputIndex })
    const { currency } = orderInput.payment
    const orderChain = chainOf(context, orderInput.payment.chainId)
    const canonical = codecOf(orderChain).canonicalTransactionId(transactionId)
    // Only with `force` may an entry name another chain than the order does.
    const chain = chainId === undefined || force !== true ? orderChain : chainOf(context, chainId)
    return { transactionId: canonical, onchainId: id, inputIndex, chain, currency }
  })
}

/** The entries in the form that the message signs. */
export function signedEntries(
  inputs: readonly NamedInput[],
): { -readonly [Key in keyof InputEntry]: InputEntry[Key] }[] {
  return inputs.map(({ transactionId, onchainId: id, inputIndex }) => ({
    transactionId,
    onchainId: id,
    inputIndex,
  }))
}

/**
 * The entry of each input of the order, in the order's sequence.
 * @param entries of inputs that the order has
 * @throws AttestationError for an input without an entry, or with a second one, which would be signed unchecked
 * @source rule P-129
 */
export function entryPerInput<Entry extends { readonly inputIndex: number }>(
  entries: readonly Entry[],
  order: Order,
  code: 'MISSING_INPUT' | 'MISSING_REFUND',
): readonly Entry[] {
  const chosen = order.inputs.map((_, inputIndex) => {
    const entry = entries.find((candidate) => candidate.inputIndex === inputIndex)
    if (entry !== undefined) return entry
    throw new AttestationError(code, `Input ${inputIndex} of the order has no entry.`, {
      data: { inputIndex },
    })
  })
  const extra = entries.find((entry) => !chosen.includes(entry))
  if (extra === undefined) return chosen
  const { inputIndex } = extra
  throw new AttestationError(
    code === 'MISSING_INPUT' ? 'INVALID_INPUT' : 'INVALID_REFUND',
    `Input ${inputIndex} of the order has more than one entry.`,
    { data: { inputIndex } },
  )
}

/** Reads the final deposits of all entries' transactions at once. */
export function readInputs(
  inputs: readonly NamedInput[],
  context: Pick<AttestationContext, 'readerOf'>,
  options: { readonly signal: AbortSignal },
): Promise<readonly ReadInput[]> {
  return Promise.all(
    inputs.map(async (input) => {
      const { transactionId, chain } = input
      // With `force` the entry's chain may differ from the order's, for which the id was made canonical.
      const canonical = codecOf(chain).canonicalTransactionId(transactionId)
      const facts = await context.readerOf(chain.id).readDeposits({ transactionId: canonical }, options)
      return { ...input, facts }
    }),
  )
}

/**
 * The deposit of each input: it has the onchain id of the entry, names the order, and is in the input's currency.
 * @throws AttestationError
 * @source rule P-129
 */
export function matchInputs(inputs: readonly ReadInput[], orderId: Hex): readonly OrderDeposit[] {
  return inputs.map((input) => {
    const { onchainId: wantedId, inputIndex, chain, currency } = input
    const orderDeposit = depositsOf(input).find(
      (candidate) => candidate.onchainId === wantedId && candidate.deposit.depositId === orderId,
    )
    if (orderDeposit === undefined) {
      throw new AttestationError(
        'INVALID_INPUT',
        `The transaction of input ${inputIndex} holds no deposit for the order under that onchain id.`,
        { data: { inputIndex } },
      )
    }
    const codec = codecOf(chain)
    if (codec.canonicalAddress(currency) !== codec.canonicalAddress(orderDeposit.deposit.currency)) {
      throw new AttestationError(
        'DEPOSIT_CURRENCY_MISMATCH',
        `The deposit of input ${inputIndex} is in another currency than the order asks for.`,
        { data: { inputIndex } },
      )
    }
    return orderDeposit
  })
}

/**
 * The deposits that `force` settles: all in the entries' transactions that name the order, each once. The deposit of
 * every entry must be among them.
 * @throws AttestationError
 * @source rule P-92
 */
export function forcedDeposits(inputs: readonly ReadInput[], orderId: Hex): readonly OrderDeposit[] {
  const deposits = new Map<Hex, OrderDeposit>()
  for (const input of inputs) {
    for (const candidate of depositsOf(input)) {
      if (candidate.deposit.depositId === orderId) deposits.set(candidate.onchainId, candidate)
    }
  }
  const missing = inputs.find((input) => !deposits.has(input.onchainId))
  if (missing === undefined) return [...deposits.values()]
  const { inputIndex } = missing
  throw new AttestationError(
    'INVALID_INPUT',
    `The entry of input ${inputIndex} names no deposit for the order.`,
    { data: { inputIndex } },
  )
}

/** Evidence of all readings, once per block; in families without blocks once per chain and endpoints. */
export function evidenceOf(
  readings: readonly { readonly facts: { readonly evidence: Evidence } }[],
): readonly Evidence[] {
  const keyOf = ({ chainId, blockHash, agreeingEndpoints }: Evidence) =>
    `${chainId} ${blockHash ?? agreeingEndpoints.join()}`
  const evidenceByKey = new Map(readings.map(({ facts: { evidence } }) => [keyOf(evidence), evidence]))
  return [...evidenceByKey.values()]
}

function depositsOf({ facts, chain }: ReadInput): readonly OrderDeposit[] {
  const { transactionId, blockTimestampSeconds, deposits } = facts
  return deposits.map((deposit) => ({
    chain,
    onchainId: onchainId({ chainId: chain.id, transactionId, onchainIndex: deposit.onchainIndex }),
    deposit,
    blockTimestampSeconds,
    facts,
  }))
}

/**
 * Waits for two readings that run at once. If both fail, it throws the error of the inputs, whichever came first, so
 * that a request is always refused for the same reason.
 */
export async function awaitInputsFirst<Inputs, Payments>(
  inputs: Promise<Inputs>,
  payments: Promise<Payments>,
): Promise<readonly [Inputs, Payments]> {
  // Handles a rejection that comes while the inputs are still awaited.
  void Promise.allSettled([payments])
  const inputResult = await inputs
  return [inputResult, await payments]
}

/**
 * Share by which the deposits exceed what the order asks for, both summed by the inputs' weights; negative if
 * they fall short. 10^18 is 100 %, despite the name. Checked to fit the signed message.
 * @param deposits one per order input, in the order's sequence
 * @throws AttestationError when the order asks for nothing
 * @source rule P-129
 */
export function weightedBpsDiff(order: Order, deposits: readonly OrderDeposit[]): bigint {
  const diff = weightedInputBpsDiff(
    order,
    deposits.map(({ deposit }) => deposit.amount),
  )
  if (diff === undefined) {
    throw new AttestationError('INVALID_ORDER', 'The weighted input amounts of the order add up to zero.')
  }
  if (diff < 2n ** 255n) return diff
  throw new AttestationError('INVALID_ORDER', 'The deposits exceed the order beyond what can be signed.')
}

/** `amount` scaled by the difference, truncated toward zero. @source rule P-129 */
export function scaledByDiff(amount: bigint, bpsDiff: bigint): bigint {
  return amount + (amount * bpsDiff) / bpsDiffUnit
}

/** `ProvenSettlement.worth`: the deposited part of the order's input, at most 10^18, which is all of it. */
export function worthOf(bpsDiff: bigint): bigint {
  return bpsDiff < 0n ? bpsDiffUnit + bpsDiff : bpsDiffUnit
}
