import { z } from 'zod'

/**
 * Schemas of scalars in HTTP bodies. They transform nothing, so that one schema both reads requests and writes
 * answers. Refinements must not throw on text that the pattern before them refused: zod runs them all the same.
 */
const uint256MaxText = (2n ** 256n - 1n).toString()
const int256Limit = 2n ** 255n

/** Unsigned decimal, at most 2^256 − 1. Numbers of equal length compare as text. */
export const uint256Text = z
  .string()
  .regex(/^[0-9]{1,78}$/, 'must be decimal digits')
  .refine((text) => text.length < uint256MaxText.length || text <= uint256MaxText, 'must fit in 256 bits')

const int256Form = /^-?[0-9]{1,77}$/

/** A signed decimal that fits an int256. */
export const int256Text = z
  .string()
  .regex(int256Form, 'must be decimal digits, with a minus sign or without')
  .refine((text) => {
    if (!int256Form.test(text)) return false
    const value = BigInt(text)
    return value >= -int256Limit && value < int256Limit
  }, 'must fit in 256 bits with its sign')

/**
 * A count for an unsigned integer of 64 bits, as a JSON number or as at most 20 decimal digits. Digits above 2^64 − 1
 * are refused where a withdraw request is encoded; as a mapping's nonce they name no transfer.
 */
export const uint64Text = z.union([
  z.number().int().min(0),
  z.string().regex(/^[0-9]{1,20}$/, 'must be decimal digits'),
])

export const uint32Number = z.number().int().min(0).max(0xffff_ffff)

/** `0x` and at most `bytesMax` whole bytes, in either case. */
export function hexText(bytesMax: number) {
  return z
    .templateLiteral(['0x', z.string().regex(/(?:[0-9a-fA-F]{2})*/)], {
      error: 'must be 0x and whole bytes in hex',
    })
    .refine((text) => text.length <= 2 + 2 * bytesMax, `must have at most ${bytesMax} bytes`)
}

/** `0x` and 64 hex digits, in either case. */
export const bytes32Text = z.templateLiteral(['0x', z.string().regex(/[0-9a-fA-F]{64}/)], {
  error: 'must be 0x and 64 hex digits',
})

/** `0x` and 40 hex digits, in either case. */
export const evmAddressText = z.templateLiteral(['0x', z.string().regex(/[0-9a-fA-F]{40}/)], {
  error: 'must be 0x and 40 hex digits',
})

/** Longest address of any family (a segwit address) with room to spare. */
const addressLengthMax = 128

/** An address or a currency of some family; its codec checks it where the family is known. */
export const addressText = z.string().min(1).max(addressLengthMax)
