import { encodeFillExtraData, encodeOrderCall, type Hex, type Order } from '@causeway/core'
import { deliveryOf, payeeOf } from '../../pricing/execution/destinationCalls.ts'
import type { PricedRoute, SolverTerms } from '../../pricing/pricedRoute.ts'
import type { PricedRequest } from '../../pricing/priceRequest.ts'
import type { QuotableChain } from '../../pricing/registry.ts'
import type { QuoteRequest } from '../../pricing/request.ts'

/** Parts of an order that do not come from its price. */
export type OrderIdentity = {
  /** All quoted chains. If neither side of the route can name the solver on the hub, another one of them does. */
  readonly chains: readonly QuotableChain[]
  /** Address of the order signer. */
  readonly solver: Hex
  /** 32 random bytes. */
  readonly salt: Hex
  /** Fill wallet of the solver; undefined where none is configured. */
  readonly filler: string | undefined
  /** Unix seconds. */
  readonly deadlineSeconds: number
}

/**
 * Builds the protocol's order for a priced route: one input, one output payment, a second one for a gas top-up, the
 * destination calls, and the possible refunds, of which one is paid at most. App fees are booked outside the order, so
 * `fees` is empty. With calls, the output is paid to the clone that runs them.
 * @throws QuoteError EXTRA_TXS_NOT_SUPPORTED where nobody runs calls
 * @source rules F-147, L-34, Q-64, Q-153
 */
export function buildOrder(
  priced: PricedRoute & Pick<PricedRequest, 'refundAccounts'>,
  solverTerms: SolverTerms,
  request: QuoteRequest,
  identity: OrderIdentity,
): Order {
  const { route, feeCurrency } = priced
  const { origin, destination } = route
  const delivery = deliveryOf(route, request)
  const payee = payeeOf(route, delivery, { filler: identity.filler, orderSalt: identity.salt })
  return {
    version: 'v1',
    solverChainId: solverChain(route, identity.chains).key,
    solver: identity.solver,
    salt: identity.salt,
    inputs: [
      {
        payment: {
          chainId: origin.key,
          currency: feeCurrency.address,
          amount: solverTerms.depositAmount.toString(),
          // Weights compare the inputs of an order, which has only this one.
          weight: '1',
        },
        refunds: possibleRefunds(priced, solverTerms, identity.deadlineSeconds),
      },
    ],
    output: {
      chainId: destination.key,
      payments: outputPayments(priced, solverTerms, payee),
      calls: delivery.calls.map(encodeOrderCall),
      deadline: identity.deadlineSeconds,
      extraData: fillExtraData(destination.config.fillContract),
    },
    fees: [],
  }
}

/** One refund per account that may be refunded, in the order of preference. */
function possibleRefunds(
  { route: { origin }, feeCurrency, refundAccounts }: PricedRoute & Pick<PricedRequest, 'refundAccounts'>,
  solverTerms: SolverTerms,
  deadlineSeconds: number,
): Order['inputs'][number]['refunds'] {
  return refundAccounts.map((recipient) => ({
    chainId: origin.key,
    recipient,
    currency: feeCurrency.address,
    minimumAmount: solverTerms.refundMinimum.toString(),
    deadline: deadlineSeconds,
    extraData: fillExtraData(origin.config.fillContract),
  }))
}

/**
 * The chain whose addresses name the solver on the hub, where the deposit becomes the solver's: the origin if it can,
 * else the first other chain that can. @throws Error where none can, because nobody could settle the order
 */
function solverChain(
  { origin, destination }: PricedRoute['route'],
  chains: readonly QuotableChain[],
): QuotableChain {
  const chain = [origin, destination, ...chains].find(({ quoting }) => quoting.namesSolvers)
  if (chain === undefined) throw new Error('no quoted chain can name a solver')
  return chain
}

/** Encodings that were made before; a configuration has few fill contracts. */
const extraDataByContract = new Map<Hex, Hex>()

/** Extra data of an order: the contract whose events prove fills; empty where the chain has none. */
export function fillExtraData(fillContract: Hex | undefined): Hex {
  if (fillContract === undefined) return '0x'
  const extraData = extraDataByContract.get(fillContract) ?? encodeFillExtraData(fillContract)
  extraDataByContract.set(fillContract, extraData)
  return extraData
}

function outputPayments(
  { route, amountOut, amountOutMin }: PricedRoute,
  { topup }: SolverTerms,
  payee: string,
): Order['output']['payments'] {
  const payments = [
    {
      recipient: payee,
      currency: route.currencyOut.address,
      minimumAmount: amountOutMin.toString(),
      expectedAmount: amountOut.toString(),
    },
  ]
  if (topup === undefined) return payments
  const amount = topup.amountWei.toString()
  return [
    ...payments,
    {
      recipient: route.recipient,
      currency: topup.currency.address,
      minimumAmount: amount,
      expectedAmount: amount,
    },
  ]
}
