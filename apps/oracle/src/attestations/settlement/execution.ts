import type { FillsResponse } from '@causeway/attestations'
import {
  encodeTransferAction,
  type Hex,
  hubAlias,
  hubTokenId,
  type Order,
  orderAddress,
  type ProtocolChain,
  settlementExecutionKey,
} from '@causeway/core'
import { InvalidAddressError, mainNetwork } from '@causeway/core/encodings'
import { type AttestationContext, chainOf, protocolChain } from '../context.ts'
import { AttestationError } from '../errors.ts'
import type { OrderDeposit } from './orderInputs.ts'

type Settlement = {
  readonly order: Order
  readonly orderId: Hex
  readonly deposits: readonly OrderDeposit[]
  readonly context: Pick<AttestationContext, 'chains' | 'hub'>
}

/**
 * The execution of a fill or a refund: it moves each deposit to the solver in full, and then, for a fill, each fee of
 * the order from the solver to its recipient. Fill and refund have the same key, so an order's deposits settle once.
 * @throws AttestationError when there is nothing to move, or the solver's chain has no EVM accounts;
 * UnknownChainError, InvalidAddressError
 * @source rule P-130
 */
export function settlementExecution(
  settlement: Settlement & { readonly paysFees: boolean },
): NonNullable<FillsResponse['execution']> {
  const { order, orderId, deposits, context, paysFees } = settlement
  const solver = solverAlias(order, context)
  const actions = [
    ...deposits.map((deposit) => takeDeposit(deposit, orderId, solver)),
    ...(paysFees ? order.fees.map((fee) => payFee(fee, solver, context)) : []),
  ]
  if (actions.length === 0) {
    throw new AttestationError('MISSING_ACTIONS', 'There is nothing to settle for the order.')
  }
  const onchainIds = deposits.map(({ onchainId }) => onchainId)
  return { idempotencyKey: settlementExecutionKey({ onchainIds, orderId }), actions, signatures: [] }
}

function takeDeposit(
  { chain, deposit, blockTimestampSeconds }: OrderDeposit,
  orderId: Hex,
  solver: Hex,
): Hex {
  const originChain = protocolChain(chain)
  const { depositor, currency, amount } = deposit
  return encodeTransferAction({
    hubFrom: orderAddress(originChain, {
      depositor,
      timestampSeconds: blockTimestampSeconds,
      depositId: orderId,
    }),
    hubTo: solver,
    hubTokenId: hubTokenId(originChain, currency),
    amount,
  })
}

function payFee(fee: Order['fees'][number], solver: Hex, context: Settlement['context']): Hex {
  const recipientChain = protocolChain(chainOf(context, fee.recipientChainId))
  const currencyChain = protocolChain(chainOf(context, fee.currencyChainId))
  return encodeTransferAction({
    hubFrom: solver,
    hubTo: hubAlias(recipientChain, fee.recipient),
    hubTokenId: hubTokenId(currencyChain, fee.currency),
    amount: BigInt(fee.amount),
  })
}

/** The solver's account on the hub. The solver is an EVM account, on a chain of any family with such accounts. */
function solverAlias(order: Order, context: Settlement['context']): Hex {
  const chain = solverChain(order, context)
  try {
    return hubAlias(chain, order.solver)
  } catch (error) {
    if (!(error instanceof InvalidAddressError)) throw error
    const { solverChainId } = order
    throw new AttestationError(
      'SOLVER_CHAIN_NOT_SUPPORTED',
      `order.solverChainId must name an EVM chain: the solver is an EVM account, and ${solverChainId} has none.`,
      { data: { field: 'order.solverChainId', solverChainId } },
    )
  }
}

/** The solver's chain, which may be the hub itself, an EVM chain. */
function solverChain({ solverChainId }: Order, { chains, hub }: Settlement['context']): ProtocolChain {
  if (solverChainId === hub.id) return { chainId: hub.id, ...mainNetwork('ethereum-vm') }
  return protocolChain(chainOf({ chains }, solverChainId))
}
