import type { Hex } from '@causeway/core'
import type { StoredOrder } from './storedOrder.ts'

export const idBytes = 32
const signatureBytes = 65
/** Values that stand for null in columns of fixed width. */
const noId = Buffer.alloc(idBytes)
const noSignature = Buffer.alloc(signatureBytes)
/** Separates joined texts; JSON text, addresses and key ids cannot contain this control character. */
const separator = '\u001e'

/**
 * Inserts many orders in one statement. Each column is one parameter: ids and signatures as concatenated bytes, texts joined
 * by `separator`. Arrays with thousands of quoted elements would cost the driver about twice as much per row.
 */
export const insertOrders = `
  insert into orders (request_id, order_id, steps_digest, order_signature, user_address, recipient,
    api_key_id, quoted, order_data, origin_chain_id, destination_chain_id, expires_at, deadline, keep_until,
    execution)
  select substr($1::bytea, 1 + ${idBytes} * (i::int - 1), ${idBytes}),
    nullif(substr($2::bytea, 1 + ${idBytes} * (i::int - 1), ${idBytes}), '\\x${noId.toString('hex')}'),
    substr($3::bytea, 1 + ${idBytes} * (i::int - 1), ${idBytes}),
    nullif(substr($4::bytea, 1 + ${signatureBytes} * (i::int - 1), ${signatureBytes}), '\\x${noSignature.toString('hex')}'),
    user_address, recipient, nullif(api_key_id, ''), quoted::json, nullif(order_data, '')::json,
    origin_chain_id, destination_chain_id,
    to_timestamp(expires_at), to_timestamp(deadline), to_timestamp(deadline) + $14::interval,
    nullif(execution, '')::json
  from unnest(string_to_array($5, E'\\x1e'), string_to_array($6, E'\\x1e'), string_to_array($7, E'\\x1e'),
    string_to_array($8, E'\\x1e'), string_to_array($9, E'\\x1e'),
    $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], string_to_array($15, E'\\x1e'))
    with ordinality as o(user_address, recipient, api_key_id, quoted, order_data,
      origin_chain_id, destination_chain_id, expires_at, deadline, execution, i)`

/** Shortest time for which orders are kept after their deadline. @source rule Q-138 */
const keptAfterDeadline = '30 days'

/** Parameters of `insertOrders`. @throws RangeError on a value that would shift those of other orders */
export function orderColumns(orders: readonly StoredOrder[]): readonly unknown[] {
  return [
    pack(idBytes, orders, ({ requestId }) => toBytes(requestId)),
    pack(idBytes, orders, ({ orderId }) => (orderId === undefined ? noId : toBytes(orderId))),
    pack(idBytes, orders, ({ stepsDigest }) => stepsDigest),
    pack(signatureBytes, orders, ({ orderSignature }) =>
      orderSignature === undefined ? noSignature : toBytes(orderSignature),
    ),
    joinTexts(orders.map(({ user }) => user)),
    joinTexts(orders.map(({ recipient }) => recipient)),
    joinTexts(orders.map(({ apiKeyId }) => apiKeyId ?? '')),
    joinTexts(orders.map(({ quoted }) => quoted)),
    joinTexts(orders.map(({ orderData }) => orderData ?? '')),
    joinIntegers(orders.map(({ originChainId }) => originChainId)),
    joinIntegers(orders.map(({ destinationChainId }) => destinationChainId)),
    joinIntegers(orders.map(({ expiresAtSeconds }) => expiresAtSeconds)),
    joinIntegers(orders.map(({ deadlineSeconds }) => deadlineSeconds)),
    keptAfterDeadline,
    joinTexts(orders.map(({ execution }) => execution ?? '')),
  ]
}

/** Bytes of a hex text, as columns of ids and signatures hold them. */
export const toBytes = (hex: Hex): Buffer => Buffer.from(hex.slice(2), 'hex')
export const toHex = (bytes: Buffer): Hex => `0x${bytes.toString('hex')}`

/** Concatenates one value of fixed width per order. */
function pack(width: number, orders: readonly StoredOrder[], read: (order: StoredOrder) => Buffer): Buffer {
  const packed = Buffer.allocUnsafe(width * orders.length)
  for (const [index, order] of orders.entries()) {
    const bytes = read(order)
    if (bytes.length !== width) throw new RangeError(`a column of an order must have ${width} bytes`)
    bytes.copy(packed, width * index)
  }
  return packed
}

/** Joins texts for `string_to_array`. @throws RangeError on a text that contains the separator */
export function joinTexts(texts: readonly string[]): string {
  const joined = texts.join(separator)
  if (joined.split(separator).length !== texts.length) {
    throw new RangeError('a text of an order holds a control character')
  }
  return joined
}

/** An array literal: plain integers need no quoting. */
function joinIntegers(integers: readonly number[]): string {
  return `{${integers.join(',')}}`
}
