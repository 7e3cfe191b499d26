import type { Hex } from '@causeway/core'
import { z } from 'zod'

/** Hex of this many bytes, in lower case. */
export const hex = (bytes: number) =>
  z
    .string()
    .regex(new RegExp(`^0x[0-9a-fA-F]{${bytes * 2}}$`))
    // CAST: the pattern above is that of Hex.
    .transform((value) => value.toLowerCase() as Hex)
export const amount = z
  .string()
  .regex(/^[0-9]{1,78}$/)
  .transform((text) => BigInt(text))
export const calldata = z
  .string()
  .regex(/^0x([0-9a-fA-F]{2})*$/)
  // CAST: the pattern above is that of Hex.
  .transform((value) => value as Hex)

/** An address or a currency, of 16 bytes at least, as its family writes it: hex in lower case, everything else as it is. */
export const spelled = z
  .string()
  .regex(/^(0x([0-9a-fA-F]{2}){16,20}|(?!0x)[0-9a-zA-Z]{1,100})$/)
  .transform((text) => (text.startsWith('0x') ? text.toLowerCase() : text))
/** Id of a transaction: hex in lower case, other spellings as they are. */
export const transactionId = z
  .string()
  .regex(/^(0x[0-9a-fA-F]{64}|(?!0x)[0-9a-zA-Z]{1,100})$/)
  .transform((text) => (text.startsWith('0x') ? text.toLowerCase() : text))
