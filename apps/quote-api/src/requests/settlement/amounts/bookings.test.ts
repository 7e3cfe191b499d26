// Goal: what a solver kept books exactly what this service wrote, and a changed note books nothing.
import { Secret } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { parsePeppers } from '../../../access/keys/peppers.ts'
import { type Booking, createBookingNotes } from './bookings.ts'

const notesOf = (setting: string) => createBookingNotes(parsePeppers(new Secret(setting)))
const old = `v1:${'5a'.repeat(32)}`
const notes = notesOf(old)
const booking: Booking = {
  orderId: `0x${'0a'.repeat(32)}`,
  requestId: `0x${'0b'.repeat(32)}`,
  sponsor: `0x${'0c'.repeat(20)}`,
  debitMicroUsd: 1_234n,
}

describe('L-30: a note', () => {
  test.each([booking, { ...booking, sponsor: undefined, debitMicroUsd: 0n }])(
    'is read as it was written',
    (one) => {
      expect(notes.read(one.orderId, notes.write(one))).toEqual(one)
    },
  )

  test('is read under an older pepper, and under no other one', () => {
    const note = notes.write(booking)
    expect(notesOf(`v2:${'6b'.repeat(32)};${old}`).read(booking.orderId, note)).toEqual(booking)
    expect(notesOf(`v2:${'5a'.repeat(32)}`).read(booking.orderId, note)).toBeUndefined()
    expect(notesOf(`v1:${'6b'.repeat(32)}`).read(booking.orderId, note)).toBeUndefined()
  })

  test('of another order is none', () => {
    expect(notes.read(`0x${'0d'.repeat(32)}`, notes.write(booking))).toBeUndefined()
  })

  test('that was changed anywhere is none', () => {
    const note = notes.write(booking)
    for (let place = 0; place < note.length; place += 1) {
      const other = note[place] === '1' ? '2' : '1'
      const changed = `${note.slice(0, place)}${other}${note.slice(place + 1)}`
      expect(notes.read(booking.orderId, changed), changed).toBeUndefined()
    }
    for (const text of ['', note.slice(1), `${note}0`, note.toUpperCase(), note.replace('.1234.', '.01234.')])
      expect(notes.read(booking.orderId, text), text).toBeUndefined()
  })
})
