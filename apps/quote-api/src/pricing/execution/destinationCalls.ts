import type { Hex, MaybePromise } from '@causeway/core'
import { callBytesOf, orderCloneAddress } from '@causeway/families/rules'
import type { AnswersOf } from '../answers.ts'
import { QuoteError } from '../errors.ts'
import { type MeasuredUse, plainUse } from '../fees/feeTerms.ts'
import type { PricedRoute } from '../pricedRoute.ts'
import type { DestinationCall, QuoteRequest } from '../request.ts'
import type { Route } from '../routes/route.ts'

/** Recipient of an order's output, and the calls that run with it. */
export type Delivery = {
  /** Gets the output, or what the calls leave of it. */
  readonly recipient: string
  readonly calls: readonly DestinationCall[]
}

/** A fill that endpoints simulate before its order exists. `amount` in smallest units of the output currency. */
export type TriedFill = {
  readonly route: Pick<Route, 'destination' | 'currencyOut'>
  readonly delivery: Delivery
  readonly amount: bigint
}

/** Gas units that the calls add to a fill. @throws QuoteError DESTINATION_TX_FAILED; UpstreamUnavailableError */
export type TryFill = (fill: TriedFill) => MaybePromise<bigint>

type DeliveryRequest = Pick<QuoteRequest, 'txs' | 'tradeType' | 'amount'>

/**
 * Decides who gets the output, and which calls run with it from the order's clone. A single call that only transfers the
 * whole native output needs no clone: it becomes a plain payment to its target. That holds for EXACT_OUTPUT only, whose
 * output equals the call's value.
 * @source rule L-34
 */
export function deliveryOf(
  { currencyOut, recipient }: Pick<Route, 'currencyOut' | 'recipient'>,
  { txs, tradeType, amount }: DeliveryRequest,
): Delivery {
  const [firstCall, ...otherCalls] = txs
  const isPlainPayment =
    firstCall !== undefined &&
    otherCalls.length === 0 &&
    firstCall.data === '0x' &&
    firstCall.value === amount &&
    tradeType === 'EXACT_OUTPUT' &&
    currencyOut.isNative
  return isPlainPayment ? { recipient: firstCall.to, calls: [] } : { recipient, calls: txs }
}

/**
 * Payee of an order's output: the recipient, or the clone where calls run.
 * @throws QuoteError EXTRA_TXS_NOT_SUPPORTED
 */
export function payeeOf(
  { destination }: Pick<Route, 'destination'>,
  { recipient, calls }: Delivery,
  { filler, orderSalt }: { readonly filler: string | undefined; readonly orderSalt: Hex },
): string {
  if (calls.length === 0) return recipient
  const parties = callParties(destination, filler)
  return orderCloneAddress({
    fillContract: parties.fillContract,
    filler: parties.filler,
    orderSalt,
    recipient: destination.quoting.hexAddress(recipient),
    calls,
  })
}

/**
 * Account that runs the calls, and the contract they run through.
 * @param filler fill wallet; undefined where none is configured
 * @throws QuoteError EXTRA_TXS_NOT_SUPPORTED if none can
 */
export function callParties(
  { chainId, config, quoting }: Route['destination'],
  filler: string | undefined,
): { readonly fillContract: Hex; readonly filler: Hex } {
  const { fillContract } = config
  if (!quoting.runsCalls || fillContract === undefined || filler === undefined) throw withoutCalls(chainId)
  return { fillContract: quoting.hexAddress(fillContract), filler: quoting.hexAddress(filler) }
}

/** Refusal for a chain that cannot run calls. */
export function withoutCalls(chainId: number): QuoteError {
  return new QuoteError('EXTRA_TXS_NOT_SUPPORTED', `Chain ${chainId} cannot run txs.`, {
    data: { field: 'txs' },
  })
}

/**
 * Prices a request with calls. Their gas depends on the amount that they get, and that amount on their gas.
 * So the request is priced without their gas, the calls are simulated with that least output, the request is
 * priced again with the measured gas, and the calls are simulated with the smaller output. This second
 * simulation must only succeed: its gas is not priced again. With a `txsGasLimit` they are priced with it at
 * once, and must keep to it.
 * @throws QuoteError and what `tryFill` throws
 */
export function priceWithCalls<Priced extends Pick<PricedRoute, 'amountOutMin'>>(
  {
    route,
    request,
    answers,
  }: {
    route: Pick<Route, 'destination' | 'currencyOut' | 'recipient'>
    request: DeliveryRequest & Pick<QuoteRequest, 'txsGasLimit'>
    answers: AnswersOf<{ tryFill: TryFill }>
  },
  price: (use: MeasuredUse) => Priced,
): Priced {
  const delivery = deliveryOf(route, request)
  const txsGasLimit = delivery.calls.length === 0 ? undefined : request.txsGasLimit
  const useOf = (callUnits: bigint) => ({ ...plainUse, callUnits, callBytes: callBytesOf(delivery.calls) })
  const simulate = ({ amountOutMin }: Priced) => answers.tryFill({ route, delivery, amount: amountOutMin })
  const first = price(useOf(txsGasLimit ?? 0n))
  const units = simulate(first)
  if (txsGasLimit !== undefined) {
    if (units > txsGasLimit) throw aboveLimit(route, { units, txsGasLimit })
    return first
  }
  const second = price(useOf(units))
  if (second.amountOutMin !== first.amountOutMin) simulate(second)
  return second
}

function aboveLimit(
  { destination: { chainId } }: Pick<Route, 'destination'>,
  { units, txsGasLimit }: { readonly units: bigint; readonly txsGasLimit: bigint },
): QuoteError {
  const reason = `they use ${units} gas, more than txsGasLimit ${txsGasLimit}`
  return new QuoteError(
    'DESTINATION_TX_FAILED',
    `The destination calls fail on chain ${chainId}: ${reason}.`,
    { data: { chainId, reason, field: 'txsGasLimit', minimum: units.toString() } },
  )
}
