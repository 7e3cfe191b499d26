import { createHmac } from 'node:crypto'
import type { Hex } from '@causeway/core'
import { concatBytes, hexToBytes, utf8Bytes } from '@causeway/core'
import type { BitcoinTransaction } from '../transaction.ts'

/** Effect of a fill wallet's transaction on one payment id. */
export type LineMark = 'paid' | 'closed'

/**
 * Sixty bits by which the holder of the key finds out what a transaction did, in two numbers that each transaction
 * has anyway: the sequence of its first input and its lock time, as Lightning's commitments keep their number there.
 * OP_RETURN has no room: what attests a payment is the order's id alone, and an order may have several refunds.
 * @source BOLT 3, "Commitment Transaction"
 */
export type PaymentTag = { readonly sequence: number; readonly lockTime: number }

/** Replaceable, without a relative lock, and nothing else is said. @source BIP 68, BIP 125 */
export const untagged: PaymentTag = { sequence: 0xffff_fffd, lockTime: 0 }

/** The bit that says that a sequence locks nothing. @source BIP 68 */
const unlocked = 0x8000_0000
const partBits = 30
const partMask = 2 ** partBits - 1
/** Lock times from here on are seconds; these end in 2019. @source Bitcoin Core, LOCKTIME_THRESHOLD */
const secondsFrom = 500_000_000

/**
 * The tag of a mark and an id. Nobody without the key can find an id with the tag of another one. Pure.
 * @param key 32 bytes of the fill wallet's key
 */
export function paymentTag(key: Uint8Array, mark: LineMark, id: Hex): PaymentTag {
  const digest = createHmac('sha256', key)
    .update(concatBytes([utf8Bytes(`causeway ${mark} `), hexToBytes(id)]))
    .digest()
  return {
    sequence: unlocked + (digest.readUInt32BE(0) & partMask),
    lockTime: secondsFrom + (digest.readUInt32BE(4) & partMask),
  }
}

/** Mark that a transaction carries; `undefined` without one. Pure. */
export function readPaymentTag({
  inputs,
  lockTime,
}: Pick<BitcoinTransaction, 'inputs' | 'lockTime'>): PaymentTag | undefined {
  const sequence = inputs[0]?.sequence ?? 0
  const isTagged =
    sequence >= unlocked &&
    sequence <= unlocked + partMask &&
    lockTime >= secondsFrom &&
    lockTime <= secondsFrom + partMask
  return isTagged ? { sequence, lockTime } : undefined
}

/** Equal text for equal tags. */
export const tagText = ({ sequence, lockTime }: PaymentTag): string => `${sequence}-${lockTime}`
