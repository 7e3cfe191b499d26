import type { Hex } from '@causeway/core'
import { z } from 'zod'

/** Schemas of fields in payloads of work items. This one: hex of so many bytes, in lower case. */
export const hex = (bytes: number) =>
  z
    .string()
    .regex(new RegExp(`^0x[0-9a-fA-F]{${bytes * 2}}$`))
    // CAST: the pattern above is that of Hex.
    .transform((value) => value.toLowerCase() as Hex)
/** Decimal text of an amount in smallest units. */
export const amount = z
  .string()
  .regex(/^[0-9]{1,78}$/)
  .transform((text) => BigInt(text))
/** Hex of whole bytes, in the case that it has. */
export const calldata = z
  .string()
  .regex(/^0x([0-9a-fA-F]{2})*$/)
  // CAST: the pattern above is that of Hex.
  .transform((value) => value as Hex)

/** An address or a currency of any family: hex of 16 (Hyperliquid) to 20 bytes, lower case, or text. */
export const spelled = z
  .string()
  .regex(/^(0x([0-9a-fA-F]{2}){16,20}|(?!0x)[0-9a-zA-Z]{1,100})$/)
  .transform((text) => (text.startsWith('0x') ? text.toLowerCase() : text))
