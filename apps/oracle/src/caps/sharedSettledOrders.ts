import { type Hex, hexToBytes, type SqlDatabase, type SqlTx } from '@causeway/core'
import { claimSettlement, type OrderClaim } from './orderClaims.ts'
import { claimsSchema, claimsToJson, type SettledOrder, type SettledOrders } from './settledOrders.ts'

/** The `SettledOrders` of all processes of one oracle, in PostgreSQL. An order's row is locked; no order is forgotten. */
export function createSharedSettledOrders(database: SqlDatabase): SettledOrders {
  return {
    admit: ({ orderId, worth, payments }, key) =>
      database.transaction(async (tx) => {
        const before = await lockClaims(tx, orderId)
        const claims = claimSettlement(before, { key, worth, proof: payments })
        if (claims === undefined) return false
        if (claims !== before) await writeClaims(tx, { orderId, claims })
        return true
      }),
    isKept: () => true,
    close: () => undefined,
  }
}

/** Imports an order from a state folder that the database replaces. Claims that are stored already stay. */
export async function importSettledOrder(tx: SqlTx, { orderId, claims }: SettledOrder): Promise<void> {
  const before = await lockClaims(tx, orderId)
  const storedKeys = new Set(before.map(({ key }) => key))
  await writeClaims(tx, { orderId, claims: [...before, ...claims.filter(({ key }) => !storedKeys.has(key))] })
}

/** Makes the order's row if there is none, and locks it until the transaction ends. @returns its claims */
async function lockClaims(tx: SqlTx, orderId: Hex): Promise<readonly OrderClaim[]> {
  const id = Buffer.from(hexToBytes(orderId))
  await tx.query(
    `insert into settled_order (order_id, claims) values ($1, '[]') on conflict (order_id) do nothing`,
    [id],
  )
  const [row] = await tx.query<{ claims: unknown }>(
    'select claims from settled_order where order_id = $1 for update',
    [id],
  )
  return claimsSchema.parse(row?.claims)
}

async function writeClaims(tx: SqlTx, { orderId, claims }: SettledOrder): Promise<void> {
  await tx.query('update settled_order set claims = $2, settled_at = clock_timestamp() where order_id = $1', [
    Buffer.from(hexToBytes(orderId)),
    JSON.stringify(claimsToJson(claims)),
  ])
}
