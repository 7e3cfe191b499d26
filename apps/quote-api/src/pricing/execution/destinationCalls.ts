import type { Hex } from '@causeway/core'
import { callBytesOf, orderCloneAddress } from '@causeway/families/rules'
import { QuoteError } from '../errors.ts'
import { type MeasuredUse, plainUse } from '../fees/feeTerms.ts'
import type { PricedRoute } from '../pricedRoute.ts'
import type { DestinationCall, QuoteRequest } from '../request.ts'
import type { Route } from '../routes/route.ts'

/** Recipient of an order's output, and the calls that run with it. */
export type Delivery = {
  /** Is paid, or gets what the calls leave over. */
  readonly recipient: string
  readonly calls: readonly DestinationCall[]
}

/** A fill as far as it can be tried before its order is made. Amounts in smallest units. */
export type TriedFill = {
  readonly route: Pick<Route, 'destination' | 'currencyOut'>
  readonly delivery: Delivery
  readonly amount: bigint
}

/** Gas that the calls of a fill add to one without. @throws DESTINATION_TX_FAILED, or an upstream error in time */
export type TryFill = (fill: TriedFill) => Promise<bigint>

type DeliveryRequest = Pick<QuoteRequest, 'txs' | 'tradeType' | 'amount'>

/**
 * Calls run from a clone of the order's own. One transfer of the whole output, which calls nothing, is paid as it is:
 * an account is paid the same by whoever pays it. Not where nobody could prove that code kept the coin.
 * @source rule L-34
 */
export function deliveryOf(
  { currencyOut, recipient }: Pick<Route, 'currencyOut' | 'recipient'>,
  { txs, tradeType, amount }: DeliveryRequest,
): Delivery {
  const [only, ...others] = txs
  const isPlain =
    only !== undefined &&
    others.length === 0 &&
    only.data === '0x' &&
    only.value === amount &&
    tradeType === 'EXACT_OUTPUT' &&
    currencyOut.isNative
  return isPlain ? { recipient: only.to, calls: [] } : { recipient, calls: txs }
}

/** Payee of the first payment of an order. @throws QuoteError EXTRA_TXS_NOT_SUPPORTED */
export function payeeOf(
  { destination }: Pick<Route, 'destination'>,
  { recipient, calls }: Delivery,
  { filler, orderSalt }: { readonly filler: string | undefined; readonly orderSalt: Hex },
): string {
  if (calls.length === 0) return recipient
  const { fillContract, ...parties } = callParties(destination, filler)
  const { hexAddress } = destination.quoting
  return orderCloneAddress({
    ...{ fillContract, filler: parties.filler, orderSalt },
    ...{ recipient: hexAddress(recipient), calls },
  })
}

/**
 * Account that runs the calls, and the contract they run through. @throws QuoteError EXTRA_TXS_NOT_SUPPORTED if none
 * can
 */
export function callParties(
  { chainId, config, quoting }: Route['destination'],
  filler: string | undefined,
): { readonly fillContract: Hex; readonly filler: Hex } {
  const { fillContract } = config
  if (!quoting.runsCalls || fillContract === undefined || filler === undefined) {
    throw new QuoteError('EXTRA_TXS_NOT_SUPPORTED', `Chain ${chainId} cannot run txs.`, {
      data: { field: 'txs' },
    })
  }
  return { fillContract: quoting.hexAddress(fillContract), filler: quoting.hexAddress(filler) }
}

/**
 * Prices a request whose calls cost gas, which depends on the amount that they are given, which depends on their
 * gas: they are tried with what an order without them would deliver at least, and once more with what is left.
 * A stated limit is what they are priced with, and they keep to it.
 * @throws QuoteError and what `tryFill` throws
 */
export async function priceWithCalls(
  { route, request, tryFill }: { route: Route; request: QuoteRequest; tryFill: TryFill },
  price: (use: MeasuredUse) => Promise<PricedRoute>,
): Promise<PricedRoute> {
  const delivery = deliveryOf(route, request)
  const txsGasLimit = delivery.calls.length === 0 ? undefined : request.txsGasLimit
  const use = (callUnits: bigint) => ({ ...plainUse, callUnits, callBytes: callBytesOf(delivery.calls) })
  const unitsFor = ({ amountOutMin }: PricedRoute) => tryFill({ route, delivery, amount: amountOutMin })
  const first = await price(use(txsGasLimit ?? 0n))
  const units = await unitsFor(first)
  if (txsGasLimit !== undefined) {
    if (units > txsGasLimit) throw aboveLimit(route, { units, txsGasLimit })
    return first
  }
  const priced = await price(use(units))
  if (priced.amountOutMin !== first.amountOutMin) await unitsFor(priced)
  return priced
}

function aboveLimit(
  { destination: { chainId } }: Route,
  { units, txsGasLimit }: { readonly units: bigint; readonly txsGasLimit: bigint },
): QuoteError {
  const reason = `they use ${units} gas, more than txsGasLimit ${txsGasLimit}`
  return new QuoteError(
    'DESTINATION_TX_FAILED',
    `The destination calls fail on chain ${chainId}: ${reason}.`,
    {
      data: { chainId, reason, field: 'txsGasLimit', minimum: units.toString() },
    },
  )
}
