import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Hex, SqlTx } from '@causeway/core'
import type { Peppers } from '../../../access/keys/peppers.ts'

/** The sponsor and the debit that the ledger books for the fill of an order. */
export type Booking = {
  readonly orderId: Hex
  readonly requestId: Hex
  /** Lower case; undefined where nobody sponsors it. */
  readonly sponsor: string | undefined
  readonly debitMicroUsd: bigint
}

/**
 * Writes and reads the note that a solver stores with each payment. From it a fill can be booked even if the database has
 * lost the order. An HMAC with a secret pepper of this service keeps the solver from forging notes.
 */
export type BookingNotes = {
  write(booking: Booking): string
  /** @returns undefined for a note that was not written with a configured pepper, or is for another order */
  read(orderId: Hex, note: string): Booking | undefined
}

/** Version 1, pepper id, request id, sponsor, debit in micro-USD, and the HMAC. */
const notePattern =
  /^1\.(?<pepperId>[a-z0-9]{1,16})\.(?<requestId>0x[0-9a-f]{64})\.(?<sponsor>0x[0-9a-f]{40}|none)\.(?<debit>0|[1-9][0-9]{0,38})\.(?<code>[0-9a-f]{64})$/

export function createBookingNotes({ currentId, byId }: Peppers): BookingNotes {
  const textOf = (pepperId: string, { requestId, sponsor, debitMicroUsd }: Booking) =>
    `1.${pepperId}.${requestId}.${sponsor ?? 'none'}.${debitMicroUsd}`
  const codeOf = (pepper: Uint8Array, orderId: Hex, text: string) =>
    createHmac('sha256', pepper).update(`causeway: booking of a fill\n${orderId}\n${text}`).digest()
  return {
    write(booking) {
      const pepper = byId.get(currentId)
      if (pepper === undefined) throw new Error('the current pepper is configured')
      const text = textOf(currentId, booking)
      return `${text}.${codeOf(pepper, booking.orderId, text).toString('hex')}`
    },
    read(orderId, note) {
      const {
        pepperId = '',
        requestId,
        sponsor,
        debit = '',
        code = '',
      } = notePattern.exec(note)?.groups ?? {}
      // A note of another form has the empty pepper id, which no pepper has.
      const pepper = byId.get(pepperId)
      if (pepper === undefined) return undefined
      const booking = {
        orderId,
        // CAST: the pattern lets only 32 bytes of hex through.
        requestId: requestId as Hex,
        debitMicroUsd: BigInt(debit),
        sponsor: sponsor === 'none' ? undefined : sponsor,
      }
      const expectedCode = codeOf(pepper, orderId, textOf(pepperId, booking))
      return timingSafeEqual(expectedCode, Buffer.from(code, 'hex')) ? booking : undefined
    },
  }
}

/** Wallet that pays the fees of a request; undefined where its user does. */
export async function readSponsor(tx: SqlTx, requestId: Hex): Promise<string | undefined> {
  const [row] = await tx.query<{ sponsor: string | null }>(
    'select sponsor from request_sponsorship where request_id = $1',
    [Buffer.from(requestId.slice(2), 'hex')],
  )
  return row?.sponsor ?? undefined
}
