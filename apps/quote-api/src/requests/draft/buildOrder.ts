import { encodeFillExtraData, encodeOrderCall, type Hex, type Order } from '@causeway/core'
import type { PricedRoute, SolverTerms } from '../../pricing/pricedRoute.ts'
import { type QuoteRequest, refundRecipient } from '../../pricing/request.ts'

export type OrderIdentity = {
  /** Account that signs the order id. */
  readonly solver: Hex
  /** 32 random bytes. */
  readonly salt: Hex
  /** Unix seconds. */
  readonly deadlineSeconds: number
}

/**
 * The protocol order of a priced route: one input, one output payment, a second one for a gas top-up,
 * the destination calls, and one refund. App fees accrue outside the order, so `fees` is empty.
 * @source oracle-protocol.md 1.5, design.md 5.3, 5.5
 */
export function buildOrder(
  priced: PricedRoute,
  solver: SolverTerms,
  request: QuoteRequest,
  identity: OrderIdentity,
): Order {
  const { route, feeCurrency } = priced
  const { origin, destination } = route
  return {
    version: 'v1',
    solverChainId: origin.key,
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
        refunds: [
          {
            chainId: origin.key,
            recipient: refundRecipient(request, origin, route.user),
            currency: feeCurrency.address,
            minimumAmount: solver.refundMinimum.toString(),
            deadline: identity.deadlineSeconds,
            extraData: fillExtraData(origin.config.fillContract),
          },
        ],
      },
    ],
    output: {
      chainId: destination.key,
      payments: outputPayments(priced, solver, request),
      calls: request.txs.map(encodeOrderCall),
      deadline: identity.deadlineSeconds,
      extraData: fillExtraData(destination.config.fillContract),
    },
    fees: [],
  }
}

/** Names the contract whose events prove fills, where the chain has one. */
export function fillExtraData(fillContract: Hex | undefined): Hex {
  return fillContract === undefined ? '0x' : encodeFillExtraData(fillContract)
}

/** What the calls spend is no payment to the recipient; a payment of nothing is left out. */
function outputPayments(priced: PricedRoute, solver: SolverTerms, request: QuoteRequest) {
  const { route, amountOut, amountOutMin } = priced
  let callValue = 0n
  for (const call of request.txs) callValue += call.value
  const payments = [
    {
      recipient: route.recipient,
      currency: route.currencyOut.address,
      minimumAmount: (amountOutMin - callValue).toString(),
      expectedAmount: (amountOut - callValue).toString(),
    },
  ].filter(({ expectedAmount }) => expectedAmount !== '0')
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
