import type { Hex, Order, Signer, SqlDatabase } from '@causeway/core'
import { toBytes } from './orderColumns.ts'

/** An order of which it is known, or not, whether it is signed. */
export type SignableOrder = {
  readonly requestId: Hex
  readonly orderId: Hex
  readonly order: Pick<Order, 'solver'>
  readonly orderSignature: Hex | undefined
}

type PromisedOrder = Omit<SignableOrder, 'order' | 'orderSignature'> & {
  readonly order: Pick<Order, 'solver' | 'solverChainId'>
}

/** The order names a solver whose key this process does not have. */
export class OrderKeyReplacedError extends Error {
  constructor({ requestId, order }: Pick<SignableOrder, 'requestId' | 'order'>, address: Hex) {
    super(
      `the order of request ${requestId} can only be signed by ${order.solver}, and this process has the key of ${address}: run "npm run causeway -- orders sign" with the key of before`,
    )
  }
}

export interface OrderSignatures {
  /**
   * The signature that is kept of an order; made and kept where there is none yet.
   * @throws OrderKeyReplacedError, SignerFailedError, UpstreamUnavailableError
   */
  of(order: SignableOrder): Promise<Hex>
  /**
   * The promise that an order's solver neither filled nor refunded it. Whoever asks holds the decision that it is given
   * up. @param chainId number of the solver's chain @throws the same
   * @source docs/specification/protocol.md P-70
   */
  promise(order: PromisedOrder, chainId: number): Promise<Hex>
}

/**
 * Orders are signed when somebody needs it: a quote that says so, and otherwise the first thing that is done for a
 * deposit. Hardly any quote is paid, and a signature costs as much as everything else of a quote.
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
      // Two processes may sign at once: whatever was handed out first stays.
      const [kept] = await database.query<{ order_signature: Buffer }>(
        `update orders set order_signature = coalesce(order_signature, $2) where request_id = $1
         returning order_signature`,
        [toBytes(requestId), toBytes(newSignature)],
      )
      return kept === undefined ? newSignature : `0x${kept.order_signature.toString('hex')}`
    },
    async promise(promised, chainId) {
      requireKey(promised)
      const { orderId, order } = promised
      const promise = { orderId, solver: key.address, solverChainId: order.solverChainId }
      return key.sign({ purpose: 'no-fill-or-refund', promise, chainId })
    },
  }
}

/** Orders of one round: what was signed is kept before the next, and a key management service is not asked for more at once. */
const roundMax = 20

/**
 * Signs every order of the key's that is not signed and can still be paid for: before another key takes its place, or
 * a release that signed each quote.
 * @returns how many it signed
 */
export async function signOpenOrders(options: {
  readonly database: Pick<SqlDatabase, 'query'>
  readonly key: Pick<Signer, 'address' | 'sign'>
}): Promise<number> {
  const { database, key } = options
  let signed = 0
  let after: Buffer = Buffer.alloc(0)
  for (;;) {
    const rows = await database.query<{ request_id: Buffer; order_id: Buffer }>(
      `select request_id, order_id from orders
       where request_id > $1 and order_id is not null and order_signature is null and order_data ->> 'solver' = $2
         and (deadline > statement_timestamp() - interval '1 day'
           or exists (select from deposit_seen d where d.request_id = orders.request_id))
       order by request_id limit $3`,
      [after, key.address, roundMax],
    )
    const last = rows.at(-1)
    if (last === undefined) return signed
    after = last.request_id
    const signatures = await Promise.all(
      rows.map(({ order_id }) => key.sign({ purpose: 'order', orderId: `0x${order_id.toString('hex')}` })),
    )
    await database.query(
      `update orders set order_signature = s.signature
       from unnest($1::bytea[], $2::bytea[]) as s(id, signature)
       where request_id = s.id and order_signature is null`,
      [rows.map(({ request_id }) => request_id), signatures.map(toBytes)],
    )
    signed += rows.length
  }
}
