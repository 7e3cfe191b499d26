import { type Hex, sha256TextHex } from '@causeway/core'
import { createLruCache } from '@causeway/rpc'
import type { NonceMappings, NonceStatement, StatementTypedData } from '../../shared/nonceMappings.ts'

/** The row of one payment on the hub: its nonces in order, and its closing. */
export type PaymentRow = {
  /** Only the last one may still execute the payment. */
  readonly nonces: readonly bigint[]
  readonly isClosed: boolean
  /** Index of the next entry of the payment. */
  readonly slot: number
}

/**
 * The rows of payments on the hub. Its generic mapping keeps the first entry under a number for ever. The wallet
 * writes the nonces of a payment under numbers that no transfer can have, so that any process that pays, also one
 * that lost its database, uses the same nonce. See decision 33.
 */
export type PaymentRows = {
  /** @throws DomainError where endpoints of the hub are silent or disagree */
  read(id: Hex): Promise<PaymentRow>
  /** Writes an entry of the row. @throws MappingTakenError if the slot holds another one; UpstreamUnavailableError */
  append(id: Hex, slot: number, slotValue: bigint | 'closed'): Promise<void>
  /** Writes which order and payment a nonce is for: oracles attest by it. @throws as `append` */
  assign(nonce: bigint, payment: { readonly id: Hex; readonly orderId: Hex }): Promise<void>
  /** True if the hub assigns a nonce to the payment. @throws as `read` */
  owns(id: Hex, nonce: bigint): Promise<boolean>
}

/** First number of rows: as milliseconds, far beyond every nonce that the exchange accepts. */
const rowsFrom = 2n ** 63n
/** Entry in the place of a nonce that closes the row. */
const closedWord: Hex = `0x${'f'.repeat(64)}`
/** Limit of slots that are read; a payment never needs as many. */
const slotsMax = 1_000
const rowsKept = 5_000
const readTimeoutMs = 5_000

/** The number under which the hub keeps a slot of a payment's row. */
const slotNumber = (id: Hex, slot: number): bigint =>
  rowsFrom + (BigInt(sha256TextHex(`payment ${id.toLowerCase()} ${slot}`)) % rowsFrom)

/** Marks an entry as one payment's. It is in the entry's member for a depositor, which payments do not need. */
const ownerOf = (id: Hex): Hex => `0x${sha256TextHex(`payment ${id.toLowerCase()}`).slice(-40)}`

export function createPaymentRows(options: {
  readonly mappings: NonceMappings
  /** Lower case. */
  readonly wallet: Hex
  readonly sign: (data: StatementTypedData) => Promise<Hex>
}): PaymentRows {
  const { mappings, wallet, sign } = options
  /** Entries are never changed, so they are cached. */
  const rows = createLruCache<PaymentRow>(rowsKept)
  const readTimeout = () => AbortSignal.timeout(readTimeoutMs)
  const write = (statement: Omit<NonceStatement, 'wallet'>) => mappings.write({ ...statement, wallet }, sign)
  const readEntry = (id: Hex, slot: number) =>
    mappings.read({ wallet, nonce: slotNumber(id, slot) }, readTimeout())
  return {
    async read(id) {
      let row = rows.get(id) ?? { nonces: [], isClosed: false, slot: 0 }
      while (!row.isClosed && row.slot < slotsMax) {
        const entry = await readEntry(id, row.slot)
        if (entry === undefined) break
        const { nonces, slot } = row
        // The hash of another payment's slot may be the same number: then this slot is passed over.
        if (entry.depositor !== ownerOf(id)) row = { ...row, slot: slot + 1 }
        else if (entry.id === closedWord) row = { nonces, isClosed: true, slot: slot + 1 }
        else row = { nonces: [...nonces, BigInt(entry.id)], isClosed: false, slot: slot + 1 }
      }
      rows.set(id, row)
      return row
    },
    append: (id, slot, slotValue) =>
      write({
        nonce: slotNumber(id, slot),
        id: slotValue === 'closed' ? closedWord : wordOf(slotValue),
        depositor: ownerOf(id),
      }),
    assign: (nonce, { id, orderId }) => write({ nonce, id: orderId, depositor: ownerOf(id) }),
    async owns(id, nonce) {
      const entry = await mappings.read({ wallet, nonce }, readTimeout())
      return entry?.depositor === ownerOf(id)
    },
  }
}

const wordOf = (nonce: bigint): Hex => `0x${nonce.toString(16).padStart(64, '0')}`
