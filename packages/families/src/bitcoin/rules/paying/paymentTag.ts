import { createHmac } from 'node:crypto'
import type { Hex } from '@causeway/core'
import { concatBytes, hexToBytes, utf8Bytes } from '@causeway/core'
import type { BitcoinTransaction } from '../transaction.ts'

/** Effect of a fill wallet's transaction on one payment id. */
export type LineMark = 'paid' | 'closed'

/**
 * Sixty bits by which the holder of the wallet's key recognises the payment id and mark of a transaction. They are in
 * two numbers that each transaction has anyway: the sequence of its first input and its lock time. Lightning's
 * commitments keep their number there too. OP_RETURN must hold the order id alone, and an order may have several
 * payment ids.
 * @source BOLT 3, "Commitment Transaction"
 */
export type PaymentTag = { readonly sequence: number; readonly lockTime: number }

/** Numbers of a transaction without a tag: it can be replaced, and nothing locks it. @source BIP 68, 125 */
export const untagged: PaymentTag = { sequence: 0xffff_fffd, lockTime: 0 }

/** The bit that disables the relative lock of a sequence. @source BIP 68 */
const lockDisabled = 0x8000_0000
const partBits = 30
const partMask = 2 ** partBits - 1
/**
 * Lock times from here on are Unix seconds. A tag's, at most 2^30 above, lies before 2020 and so locks
 * nothing.
 * @source Bitcoin Core, LOCKTIME_THRESHOLD
 */
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
    sequence: lockDisabled + (digest.readUInt32BE(0) & partMask),
    lockTime: secondsFrom + (digest.readUInt32BE(4) & partMask),
  }
}

/** Tag that a transaction carries; `undefined` if its numbers are outside the ranges of tags. Pure. */
export function readPaymentTag({
  inputs,
  lockTime,
}: Pick<BitcoinTransaction, 'inputs' | 'lockTime'>): PaymentTag | undefined {
  // 0 is outside the range of tags.
  const sequence = inputs[0]?.sequence ?? 0
  const isTagged =
    sequence >= lockDisabled &&
    sequence <= lockDisabled + partMask &&
    lockTime >= secondsFrom &&
    lockTime <= secondsFrom + partMask
  return isTagged ? { sequence, lockTime } : undefined
}

/** Equal text for equal tags. */
export const tagText = ({ sequence, lockTime }: PaymentTag): string => `${sequence}-${lockTime}`
