import { type NetworkOf, type Order, onchainId } from '@causeway/core'
import { signedOrder } from '../../../apps/oracle/test/fixtures/requests.ts'
import { orderB } from '../../../packages/core/test/vectors/orders.ts'
import type { FamilySide } from './familySide.ts'

let salt = 0

/**
 * An order on one chain: 1,000 units in, at least 900 out, or 950 back. Its fee is that of the published
 * order. No two have one id.
 */
export function familyOrder({ chain, currency, recipient }: FamilySide): Order {
  salt += 1
  const [chainId, deadline, extraData] = [chain.id, 2_000_000_000, '0x'] as const
  const refund = { chainId, recipient, currency, minimumAmount: '950', deadline, extraData }
  const payment = { recipient, currency, minimumAmount: '900', expectedAmount: '910' }
  return {
    ...orderB,
    salt: salt.toString(),
    inputs: [{ payment: { chainId, currency, amount: '1000', weight: '1' }, refunds: [refund] }],
    output: { chainId, payments: [payment], calls: [], deadline, extraData },
  }
}

/** The order signed by its solver, and its deposit. */
export async function depositedOrder(side: FamilySide, networkOf: NetworkOf, order = familyOrder(side)) {
  const signed = await signedOrder(order, networkOf)
  const deposit = await side.deposit(signed.id)
  const { transactionId, onchainIndex } = deposit
  const depositId = onchainId({ chainId: side.chain.id, transactionId, onchainIndex })
  return {
    id: signed.id,
    deposit,
    onchainId: depositId,
    settlement: {
      order,
      orderSignature: signed.orderSignature,
      inputs: [{ transactionId, onchainId: depositId, inputIndex: 0 }],
    },
  }
}
