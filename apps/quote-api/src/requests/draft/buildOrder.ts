import { encodeFillExtraData, encodeOrderCall, type Hex, type Order } from '@causeway/core'
import { deliveryOf, payeeOf } from '../../pricing/execution/destinationCalls.ts'
import type { PricedRoute, SolverTerms } from '../../pricing/pricedRoute.ts'
import type { Priced } from '../../pricing/priceRequest.ts'
import type { QuotableChain } from '../../pricing/registry.ts'
import type { QuoteRequest } from '../../pricing/request.ts'

export type OrderIdentity = {
  /** All that are quoted: where neither side can name the solver, another one does. */
  readonly chains: readonly QuotableChain[]
  /** Account that signs the order id. */
  readonly solver: Hex
  /** 32 random bytes. */
  readonly salt: Hex
  /** Account that fills; undefined where none is configured. */
  readonly filler: string | undefined
  /** Unix seconds. */
  readonly deadlineSeconds: number
}

/**
 * The protocol order of a priced route: one input, one output payment, a second one for a gas top-up,
 * the destination calls, and the refunds, of which one is paid. App fees accrue outside the order, so `fees` is empty. With calls the
 * output is paid to the clone that runs them.
 * @throws QuoteError EXTRA_TXS_NOT_SUPPORTED where nobody runs calls
 * @source oracle-protocol.md 1.5, design.md 5.3, 5.5
 */
export function buildOrder(
  priced: PricedRoute & Pick<Priced, 'refundAccounts'>,
  solver: SolverTerms,
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
          amount: solver.depositAmount.toString(),
          weight: '1',
        },
        refunds: priced.refundAccounts.map((recipient) => ({
          ...{ chainId: origin.key, recipient, currency: feeCurrency.address },
          minimumAmount: solver.refundMinimum.toString(),
          deadline: identity.deadlineSeconds,
          extraData: fillExtraData(origin.config.fillContract),
        })),
      },
    ],
    output: {
      chainId: destination.key,
      payments: outputPayments(priced, solver, payee),
      calls: delivery.calls.map(encodeOrderCall),
      deadline: identity.deadlineSeconds,
      extraData: fillExtraData(destination.config.fillContract),
    },
    fees: [],
  }
}

/**
 * The chain under which the deposit is the solver's on the hub: the origin where that can name the solver, else the
 * first other one that can. @throws Error where none can: nobody could settle the order
 */
function solverChain(
  { origin, destination }: PricedRoute['route'],
  chains: readonly QuotableChain[],
): QuotableChain {
  const chain = [origin, destination, ...chains].find(({ quoting }) => quoting.namesSolvers)
  if (chain === undefined) throw new Error('no quoted chain can name a solver')
  return chain
}

/** Extra data by fill contract, of which the configuration names one per chain. */
const extraDataOf = new Map<Hex, Hex>()

/** Names the contract whose events prove fills, where the chain has one. */
export function fillExtraData(fillContract: Hex | undefined): Hex {
  if (fillContract === undefined) return '0x'
  const extraData = extraDataOf.get(fillContract) ?? encodeFillExtraData(fillContract)
  extraDataOf.set(fillContract, extraData)
  return extraData
}

function outputPayments(
  { route, amountOut, amountOutMin }: PricedRoute,
  solver: SolverTerms,
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
  if (solver.topup === undefined) return payments
  const amount = solver.topup.amountWei.toString()
  return [
    ...payments,
    {
      recipient: route.recipient,
      currency: solver.topup.currency.address,
      minimumAmount: amount,
      expectedAmount: amount,
    },
  ]
}
