import { type Hex, sha256TextHex } from '@causeway/core'
import { createLruCache } from '@causeway/rpc'
import type { NonceMappings, NonceStatement, StatementTypedData } from '../../shared/nonceMappings.ts'

/** Entries of one payment on the hub: its nonces in order, and its closing. */
export type PaymentRow = {
  /** Only the last one may still be spent on the payment. */
  readonly nonces: readonly bigint[]
  readonly isClosed: boolean
  /** Index of the next entry of the payment. */
  readonly slot: number
}

/**
 * The row of each payment on the hub. Under numbers that no transfer can have the wallet says which nonce a payment has;
 * the first word under a number stands, so that whoever pays, however little it remembers, takes the same one. See
 * decision 33.
 */
export type PaymentRows = {
  /** @throws DomainError where endpoints of the hub are silent or disagree */
  read(id: Hex): Promise<PaymentRow>
  /** Says what stands at a slot. @throws MappingTakenError where something else does; UpstreamUnavailableError */
  append(id: Hex, slot: number, slotValue: bigint | 'closed'): Promise<void>
  /** Says which order a nonce is for, and which payment it belongs to. @throws as `append` */
  name(nonce: bigint, payment: { readonly id: Hex; readonly orderId: Hex }): Promise<void>
  /** True if the hub assigns a nonce to the payment. @throws as `read` */
  owns(id: Hex, nonce: bigint): Promise<boolean>
}

/** Numbers of rows begin here: as milliseconds they are far beyond every nonce that the exchange takes. */
const rowsFrom = 2n ** 63n
/** In the place of a nonce: the payment gets none any more. */
const closedWord: Hex = `0x${'f'.repeat(64)}`
/** Far more than a payment is ever given. */
const slotsMax = 1_000
const rowsKept = 5_000
const readTimeoutMs = 5_000

/** The number under which a slot of a payment's row stands. */
const slotNumber = (id: Hex, slot: number): bigint =>
  rowsFrom + (BigInt(sha256TextHex(`payment ${id.toLowerCase()} ${slot}`)) % rowsFrom)

/** Whose a word is: it stands in the place of a depositor, which means nothing to payments. */
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
  const within = () => AbortSignal.timeout(readTimeoutMs)
  const say = (saying: Omit<NonceStatement, 'wallet'>) => mappings.write({ ...saying, wallet }, sign)
  const wordAt = (id: Hex, slot: number) => mappings.read({ wallet, nonce: slotNumber(id, slot) }, within())
  return {
    async read(id) {
      let row = rows.get(id) ?? { nonces: [], isClosed: false, slot: 0 }
      while (!row.isClosed && row.slot < slotsMax) {
        const word = await wordAt(id, row.slot)
        if (word === undefined) break
        const { nonces, slot } = row
        // A word of another payment under the same number: as if the slot did not exist.
        if (word.depositor !== ownerOf(id)) row = { ...row, slot: slot + 1 }
        else if (word.id === closedWord) row = { nonces, isClosed: true, slot: slot + 1 }
        else row = { nonces: [...nonces, BigInt(word.id)], isClosed: false, slot: slot + 1 }
      }
      rows.set(id, row)
      return row
    },
    append: (id, slot, slotValue) =>
      say({
        nonce: slotNumber(id, slot),
        id: slotValue === 'closed' ? closedWord : wordOf(slotValue),
        depositor: ownerOf(id),
      }),
    name: (nonce, { id, orderId }) => say({ nonce, id: orderId, depositor: ownerOf(id) }),
    async owns(id, nonce) {
      const entry = await mappings.read({ wallet, nonce }, within())
      return entry?.depositor === ownerOf(id)
    },
  }
}

const wordOf = (nonce: bigint): Hex => `0x${nonce.toString(16).padStart(64, '0')}`
