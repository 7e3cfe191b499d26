import { type ExecutedCallFact, encodeOrderCall, type Hex, viemLibrary } from '@causeway/core'
import { orderCloneAddress } from '../../rules/orderClone.ts'

/** Decoded calldata of one call of our fill contract. Addresses are in lower case. */
export type RecordedCall = {
  /** The id that the contract records for its sender. */
  readonly id: Hex
  /** The 32 bytes behind the arguments. */
  readonly orderId: Hex
  readonly natives: readonly { readonly to: Hex; readonly amount: bigint }[]
  readonly tokens: readonly { readonly token: Hex; readonly to: Hex; readonly amount: bigint }[]
  /** Present for `fill`, absent for `pay`: calls of the order, which a clone runs. */
  readonly orderCalls?: {
    readonly orderSalt: Hex
    readonly recipient: Hex
    readonly sweptTokens: readonly Hex[]
    readonly calls: readonly ExecutedCallFact[]
  }
}

const signatures = [
  'struct NativePayment { address to; uint256 amount; }',
  'struct Erc20Payment { address token; address to; uint256 amount; }',
  'struct FillCall { address to; bytes data; uint256 value; }',
  'struct OrderCalls { bytes32 orderSalt; address recipient; address[] sweptTokens; FillCall[] calls; }',
  'function pay(bytes32 id, uint256 deadline, NativePayment[] natives, Erc20Payment[] tokens) payable',
  'function fill(bytes32 id, uint256 deadline, NativePayment[] natives, Erc20Payment[] tokens, OrderCalls orderCalls) payable',
] as const

const wordDigits = 64

/**
 * Decodes `pay` or `fill` followed by one order id. Returns undefined unless encoding the arguments again gives the
 * same bytes: ABI decoders accept several encodings, and the calldata must have one meaning only.
 */
export function readRecordedCall(input: Hex): RecordedCall | undefined {
  const end = input.length - wordDigits
  // Before the order id there must be `0x`, a selector and an argument at least.
  if (end < 2 + 8 + wordDigits) return undefined
  // CAST: the front of hex of whole bytes.
  const data = input.slice(0, end) as Hex
  const { BaseError, decodeFunctionData, encodeFunctionData, parseAbi } = viemLibrary()
  const abi = parseAbi(signatures)
  try {
    const call = decodeFunctionData({ abi, data })
    if (encodeFunctionData({ abi, ...call }) !== data) return undefined
    const [id, , natives, tokens, orderCalls] = call.args
    return {
      id,
      orderId: `0x${input.slice(end)}`,
      natives: natives.map(({ to, amount }) => ({ to: lower(to), amount })),
      tokens: tokens.map(({ token, to, amount }) => ({ token: lower(token), to: lower(to), amount })),
      ...(orderCalls !== undefined && {
        orderCalls: {
          orderSalt: orderCalls.orderSalt,
          recipient: lower(orderCalls.recipient),
          sweptTokens: orderCalls.sweptTokens.map(lower),
          calls: orderCalls.calls.map(({ to, data: callData, value }) => ({
            to: lower(to),
            data: callData,
            value,
          })),
        },
      }),
    }
  } catch (error) {
    if (error instanceof BaseError || error instanceof RangeError) return undefined
    throw error
  }
}

// CAST: an address in another case.
const lower = (address: Hex): Hex => address.toLowerCase() as Hex

/** Why a recorded call proves nothing for an order. */
export type RecordProblem =
  /** Not exactly the arguments of `pay` or `fill` and the order id. */
  | 'not_a_payment'
  /** The order id behind the arguments is another one. */
  | 'another_order'
  /** It pays a recipient or token that the order does not: code that the filler chose may have run. */
  | 'other_payments'
  /** Its calls are not exactly those of the order. */
  | 'other_calls'
  /** The clone that ran the calls is no payee of the order, or the tokens that it was paid are not swept. */
  | 'other_clone'

/** The order, refund or claim that a recorded call must be for. */
export type RecordTerms = {
  readonly orderId: Hex
  readonly fillContract: Hex
  readonly sender: Hex
  /** Accounts that the call may never pay, beside the sender and the contract. */
  readonly depositories: ReadonlySet<string>
  /** All payments of the order; native coin by its zero address. */
  readonly targets: readonly { readonly recipient: string; readonly currency: string }[]
  /** Calls of the order, as the order encodes them. */
  readonly calls: readonly Hex[]
  readonly nativeCurrency: string
}

/** Checks a recorded call. @returns undefined if it is for the order and for nothing else. @source rule P-41 */
export function recordProblem(call: RecordedCall | undefined, terms: RecordTerms): RecordProblem | undefined {
  if (call === undefined) return 'not_a_payment'
  if (call.orderId !== terms.orderId.toLowerCase()) return 'another_order'
  const paid = [
    ...call.natives.map(({ to }) => ({ recipient: to, currency: terms.nativeCurrency })),
    ...call.tokens.map(({ to, token }) => ({ recipient: to, currency: token })),
  ]
  if (!paid.every((payment) => isOfOrder(payment, terms)) || !haveOneEntry(call.tokens))
    return 'other_payments'
  const { orderCalls } = call
  if (orderCalls === undefined) return terms.calls.length === 0 ? undefined : 'other_calls'
  if (!runsExactly(orderCalls.calls, terms.calls)) return 'other_calls'
  return isCloneOfOrder(call, orderCalls, terms) ? undefined : 'other_clone'
}

type Payee = RecordTerms['targets'][number]

function isOfOrder({ recipient, currency }: Payee, terms: RecordTerms): boolean {
  const { targets, sender, fillContract, depositories } = terms
  return (
    recipient !== sender &&
    recipient !== fillContract &&
    !depositories.has(recipient) &&
    targets.some((target) => target.recipient === recipient && target.currency === currency)
  )
}

/**
 * True if each payee and token has only one entry. Tokens with a sender hook run code that the filler chose before each
 * entry; between two entries that code could open and close a trade around the payment.
 */
function haveOneEntry(tokens: RecordedCall['tokens']): boolean {
  return new Set(tokens.map(({ token, to }) => `${token} ${to}`)).size === tokens.length
}

/** True if the calls are exactly those of the order, at least one: an order without calls must use `pay`. */
function runsExactly(run: readonly ExecutedCallFact[], ordered: readonly Hex[]): boolean {
  return (
    run.length > 0 &&
    run.length === ordered.length &&
    run.every(({ to, data, value }, index) => {
      // CAST: targets of calls are addresses of this family.
      return encodeOrderCall({ to: to as Hex, data, value }) === ordered[index]?.toLowerCase()
    })
  )
}

/**
 * True if the order pays the clone of exactly these calls, and the clone sweeps each token that it was paid, and no
 * other, to the order's recipient. Sweeping another token could run code that the filler chose.
 */
function isCloneOfOrder(
  { tokens }: RecordedCall,
  { orderSalt, recipient, sweptTokens, calls }: NonNullable<RecordedCall['orderCalls']>,
  { fillContract, sender, targets }: RecordTerms,
): boolean {
  const clone = orderCloneAddress({
    fillContract,
    filler: sender,
    orderSalt,
    recipient,
    // CAST: targets of calls are addresses of this family.
    calls: calls.map((call) => ({ ...call, to: call.to as Hex })),
  })
  const paid = new Set(tokens.flatMap(({ to, token }) => (to === clone ? [token] : [])))
  return (
    targets.some((target) => target.recipient === clone) &&
    sweptTokens.length === paid.size &&
    sweptTokens.every((token) => paid.has(token)) &&
    new Set(sweptTokens).size === sweptTokens.length
  )
}
