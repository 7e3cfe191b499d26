import type { Hex, Order, Signer, SqlDatabase } from '@causeway/core'
import { toBytes } from './orderColumns.ts'

/** An order that can be signed; `orderSignature` is undefined where no signature is known yet. */
export type SignableOrder = {
  readonly requestId: Hex
  readonly orderId: Hex
  readonly order: Pick<Order, 'solver'>
  readonly orderSignature: Hex | undefined
}

type PromisedOrder = Omit<SignableOrder, 'order' | 'orderSignature'> & {
  readonly order: Pick<Order, 'solver' | 'solverChainId'>
}

/** The order names another order signer than the key of this process, which was replaced since. */
export class OrderKeyReplacedError extends Error {
  constructor({ requestId, order }: Pick<SignableOrder, 'requestId' | 'order'>, address: Hex) {
    super(
      `the order of request ${requestId} can only be signed by ${order.solver}, and this process has the key of ${address}: run "npm run causeway -- orders sign" with the key of before`,
    )
  }
}

/** Signatures of the order signer, made when they are needed. */
export interface OrderSignatures {
  /**
   * The stored signature of an order; signs and stores it where there is none yet.
   * @throws OrderKeyReplacedError, SignerFailedError, UpstreamUnavailableError
   */
  of(order: SignableOrder): Promise<Hex>
  /**
   * Signs the promise that no fill or refund of an order will come. The caller must have decided, durably, to give the
   * order up. @param chainId number of the solver's chain @throws as `of`
   * @source rule P-70
   */
  promise(order: PromisedOrder, chainId: number): Promise<Hex>
}

/**
 * An order is signed when its caller asks for protocol data, else at the first step for its deposit. Few quotes are ever
 * paid, and a signature costs as much as all the rest of a quote.
 */
export function createOrderSignatures(options: {
  readonly database: Pick<SqlDatabase, 'query'>
  readonly key: Pick<Signer, 'address' | 'sign'>
}): OrderSignatures {
  const { database, key } = options
  const requireKey = (order: Pick<SignableOrder, 'requestId' | 'order'>) => {
    if (order.order.solver.toLowerCase() !== key.address) throw new OrderKeyReplacedError(order, key.address)
  }
  return {
    async of(order) {
      const { requestId, orderId, orderSignature } = order
      if (orderSignature !== undefined) return orderSignature
      requireKey(order)
      const newSignature = await key.sign({ purpose: 'order', orderId })
      // Two processes may sign at once: the signature stored first stays. A deleted order stores none.
      const [row] = await database.query<{ order_signature: Buffer }>(
        `update orders set order_signature = coalesce(order_signature, $2) where request_id = $1
         returning order_signature`,
        [toBytes(requestId), toBytes(newSignature)],
      )
      return row === undefined ? newSignature : `0x${row.order_signature.toString('hex')}`
    },
    async promise(promisedOrder, chainId) {
      requireKey(promisedOrder)
      const { orderId, order } = promisedOrder
      const promise = { orderId, solver: key.address, solverChainId: order.solverChainId }
      return key.sign({ purpose: 'no-fill-or-refund', promise, chainId })
    },
  }
}

/** Orders that are signed at the same time and then stored, so that a key management service is not overloaded. */
const ordersPerRound = 20

/**
 * Command of an operator: signs every unsigned order of the key that may still need a signature, because it
 * has a deposit or its deadline ended no more than a day ago. It runs before the key is replaced, or before a
 * downgrade to a release that expects every order to be signed.
 * @returns the number of signed orders
 */
export async function signOpenOrders(options: {
  readonly database: Pick<SqlDatabase, 'query'>
  readonly key: Pick<Signer, 'address' | 'sign'>
}): Promise<number> {
  const { database, key } = options
  let signedCount = 0
  let lastId: Buffer = Buffer.alloc(0)
  for (;;) {
    const rows = await database.query<{ request_id: Buffer; order_id: Buffer }>(
      `select request_id, order_id from orders
       where request_id > $1 and order_id is not null and order_signature is null and order_data ->> 'solver' = $2
         and (deadline > statement_timestamp() - interval '1 day'
           or exists (select from deposit_seen d where d.request_id = orders.request_id))
       order by request_id limit $3`,
      [lastId, key.address, ordersPerRound],
    )
    const lastRow = rows.at(-1)
    if (lastRow === undefined) return signedCount
    lastId = lastRow.request_id
    const signatures = await Promise.all(
      rows.map(({ order_id }) => key.sign({ purpose: 'order', orderId: `0x${order_id.toString('hex')}` })),
    )
    await database.query(
      `update orders set order_signature = s.signature
       from unnest($1::bytea[], $2::bytea[]) as s(id, signature)
       where request_id = s.id and order_signature is null`,
      [rows.map(({ request_id }) => request_id), signatures.map(toBytes)],
    )
    signedCount += rows.length
  }
}
