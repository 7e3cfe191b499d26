import type { Hex } from '@causeway/core'
import { ethereumCodec, InvalidAddressError } from '@causeway/core/encodings'
import { parseCasedAddress } from '@causeway/families/rules'
import { z } from 'zod'

/** An EVM address as a caller writes it; `parseWallet` reads it. */
export const walletText = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hex digits')
  .describe('EVM address; mixed case must carry the EIP-55 checksum')

const signatureBytesMax = 4_096

/** A signature by a key (65 bytes), or bytes that a contract wallet checks. */
export const signatureText = z
  .templateLiteral(['0x', z.string().regex(/(?:[0-9a-fA-F]{2})*/)], {
    error: 'must be 0x and whole bytes in hex',
  })
  .refine((text) => text.length <= 2 + 2 * signatureBytesMax, `must have at most ${signatureBytesMax} bytes`)
  .describe('Over the message of the challenge: 65 bytes, or what a contract wallet accepts (ERC-1271)')

/** The wallet in lower case. @throws InvalidAddressError for a wrong checksum */
export function parseWallet(text: string, field = 'wallet'): Hex {
  const wallet = parseCasedAddress(text)
  if (wallet !== undefined) return wallet
  const reason = 'the EIP-55 checksum does not match'
  throw new InvalidAddressError({ vmType: ethereumCodec.vmType, reason, field })
}
