import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Hex, SqlTx } from '@causeway/core'
import type { Peppers } from '../../../access/keys/peppers.ts'

/** Amounts that the fill of an order books. */
export type Booking = {
  readonly orderId: Hex
  readonly requestId: Hex
  /** Lower case; undefined where nobody sponsors it. */
  readonly sponsor: string | undefined
  readonly debitMicroUsd: bigint
}

/**
 * Notes that a solver keeps with its payments, so that a fill can be booked after the database lost its order. Nobody
 * without a pepper can write one or change one.
 */
export type BookingNotes = {
  write(booking: Booking): string
  /** @returns undefined for what none of the configured peppers wrote, or wrote for another order */
  read(orderId: Hex, note: string): Booking | undefined
}

const pattern =
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
      const { pepperId = '', requestId, sponsor, debit = '', code = '' } = pattern.exec(note)?.groups ?? {}
      const pepper = byId.get(pepperId)
      if (pepper === undefined) return undefined
      const booking = {
        // CAST: the pattern has them so.
        ...{ orderId, requestId: requestId as Hex, debitMicroUsd: BigInt(debit) },
        sponsor: sponsor === 'none' ? undefined : sponsor,
      }
      const expected = codeOf(pepper, orderId, textOf(pepperId, booking))
      return timingSafeEqual(expected, Buffer.from(code, 'hex')) ? booking : undefined
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
