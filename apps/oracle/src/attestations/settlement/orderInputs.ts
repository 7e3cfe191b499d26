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

/** An input entry of a request, with its transaction id in canonical spelling, and the chain of the transaction. */
export type NamedInput = InputEntry & { readonly chain: AttestedChain }

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
    const orderChain = chainOf(context, orderInput.payment.chainId)
    const canonical = codecOf(orderChain).canonicalTransactionId(transactionId)
    // Only with `force` may an entry name another chain than the order does.
    const chain = chainId === undefined || force !== true ? orderChain : chainOf(context, chainId)
    return { transactionId: canonical, onchainId: id, inputIndex, chain }
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
  if (order.inputs[inputIndex] === undefined) throw new UnknownOrderPartError({ inputIndex })
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
): Promise<readonly DepositFacts[]> {
  return Promise.all(
    inputs.map(async ({ transactionId, chain }) => {
      // With `force` the entry's chain may differ from the order's, for which the id was made canonical.
      const canonical = codecOf(chain).canonicalTransactionId(transactionId)
      return context.readerOf(chain.id).readDeposits({ transactionId: canonical }, options)
    }),
  )
}

/**
 * The deposit of each input: it has the onchain id of the entry, names the order, and is in the input's currency.
 * @throws AttestationError
 * @source rule P-129
 */
export function matchInputs(args: {
  readonly inputs: readonly NamedInput[]
  readonly facts: readonly DepositFacts[]
  readonly order: Order
  readonly orderId: Hex
}): readonly OrderDeposit[] {
  const { inputs, facts, order, orderId } = args
  return inputs.map(({ onchainId: wantedId, inputIndex, chain }, index) => {
    const orderDeposit = depositsOf(facts[index], chain).find(
      (candidate) => candidate.onchainId === wantedId && candidate.deposit.depositId === orderId,
    )
    if (orderDeposit === undefined) {
      throw new AttestationError(
        'INVALID_INPUT',
        `The transaction of input ${inputIndex} holds no deposit for the order under that onchain id.`,
        { data: { inputIndex } },
      )
    }
    const orderedCurrency = order.inputs[inputIndex]?.payment.currency
    const codec = codecOf(chain)
    if (
      orderedCurrency === undefined ||
      codec.canonicalAddress(orderedCurrency) !== codec.canonicalAddress(orderDeposit.deposit.currency)
    ) {
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
export function forcedDeposits(args: {
  readonly inputs: readonly NamedInput[]
  readonly facts: readonly DepositFacts[]
  readonly orderId: Hex
}): readonly OrderDeposit[] {
  const { inputs, facts, orderId } = args
  const deposits = new Map<Hex, OrderDeposit>()
  for (const [index, { chain }] of inputs.entries()) {
    for (const candidate of depositsOf(facts[index], chain)) {
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
export function evidenceOf(facts: readonly { readonly evidence: Evidence }[]): readonly Evidence[] {
  const keyOf = ({ chainId, blockHash, agreeingEndpoints }: Evidence) =>
    `${chainId} ${blockHash ?? agreeingEndpoints.join()}`
  const evidenceByKey = new Map(facts.map(({ evidence }) => [keyOf(evidence), evidence]))
  return [...evidenceByKey.values()]
}

function depositsOf(facts: DepositFacts | undefined, chain: AttestedChain): readonly OrderDeposit[] {
  if (facts === undefined) throw new Error('facts were read for every input')
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
  // Every input has its deposit: the default is never used.
  const diff = weightedInputBpsDiff(
    order,
    order.inputs.map((_input, index) => deposits[index]?.deposit.amount ?? 0n),
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
