import { DomainError, type Hex, type SqlDatabase } from '@causeway/core'
import { createGroupCommit } from './groupCommit.ts'
import { insertOrders, orderColumns, toBytes, toHex } from './orderColumns.ts'
import type { StoredOrder } from './storedOrder.ts'

/** The request id is stored already. Ids are random, so this is a repeated call. */
export class DuplicateOrderError extends DomainError {
  readonly code = 'DUPLICATE_REQUEST'
  readonly kind = 'conflict'

  constructor() {
    super('A quote with this request id exists already.')
  }
}

/** Stores quotes without sponsorship, and finds every quote by its ids. */
export interface OrderStore {
  /**
   * Resolves once the order survives a crash of this process and of the database.
   * @throws DuplicateOrderError, WritesOverloadedError, UpstreamUnavailableError
   */
  save(order: StoredOrder): Promise<void>
  findByRequestId(requestId: Hex): Promise<StoredOrder | undefined>
  findByOrderId(orderId: Hex): Promise<StoredOrder | undefined>
}

const groupMax = 256
/** Quotes without sponsorship lock no sponsor's row, so that two groups may be written side by side. */
const secondGroupMin = 8
const queueMax = 2_048

const select = `
  select request_id, order_id, user_address, recipient, origin_chain_id, destination_chain_id, api_key_id,
    quoted::text, order_data::text, order_signature, steps_digest, execution::text,
    extract(epoch from expires_at)::bigint as expires_at, extract(epoch from deadline)::bigint as deadline
  from orders where`

/** Orders in PostgreSQL, where concurrent ones share a commit. @source rule Q-138 */
export function createOrderStore({ database }: { database: SqlDatabase }): OrderStore {
  const commits = createGroupCommit<StoredOrder, Hex>({
    write: async (orders) => {
      await database.query(insertOrders, orderColumns(orders))
      // A group commit needs one outcome per order, which nobody reads here.
      return orders.map(({ requestId }) => requestId)
    },
    // A lost database is a DomainError; any other error may be the fault of one order.
    mayRetryAlone: (error) => !(error instanceof DomainError),
    groupMax,
    secondGroupMin,
    queueMax,
  })
  const findOne = async (column: 'request_id' | 'order_id', id: Hex) => {
    const [row] = await database.query<OrderRow>(`${select} ${column} = $1`, [toBytes(id)])
    return row === undefined ? undefined : fromRow(row)
  }
  return {
    async save(order) {
      try {
        await commits.add(order)
      } catch (error) {
        throw isUniqueViolation(error) ? new DuplicateOrderError() : error
      }
    },
    findByRequestId: (requestId) => findOne('request_id', requestId),
    findByOrderId: (orderId) => findOne('order_id', orderId),
  }
}

type OrderRow = {
  readonly request_id: Buffer
  readonly order_id: Buffer | null
  readonly user_address: string
  readonly recipient: string
  readonly origin_chain_id: bigint
  readonly destination_chain_id: bigint
  readonly api_key_id: string | null
  readonly quoted: string
  readonly order_data: string | null
  readonly order_signature: Buffer | null
  readonly steps_digest: Buffer
  readonly execution: string | null
  readonly expires_at: bigint
  readonly deadline: bigint
}

function fromRow(row: OrderRow): StoredOrder {
  return {
    requestId: toHex(row.request_id),
    orderId: row.order_id === null ? undefined : toHex(row.order_id),
    user: row.user_address,
    recipient: row.recipient,
    originChainId: Number(row.origin_chain_id),
    destinationChainId: Number(row.destination_chain_id),
    apiKeyId: row.api_key_id ?? undefined,
    quoted: row.quoted,
    orderData: row.order_data ?? undefined,
    orderSignature: row.order_signature === null ? undefined : toHex(row.order_signature),
    stepsDigest: row.steps_digest,
    execution: row.execution ?? undefined,
    expiresAtSeconds: Number(row.expires_at),
    deadlineSeconds: Number(row.deadline),
  }
}

/** SQLSTATE of a unique index. */
const uniqueViolation = '23505'

/** True if a row was refused by a unique index. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === uniqueViolation
}
