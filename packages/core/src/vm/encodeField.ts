import { InvalidAddressError } from './errors.ts'
import type { VmCodec } from './vmCodec.ts'

/** `codec.encodeAddress` for one field of a larger structure. @throws InvalidAddressError naming `field` */
export function encodeAddressField(codec: VmCodec, address: string, field: string): Uint8Array {
  try {
    return codec.encodeAddress(address)
  } catch (error) {
    throw named(error, codec, field)
  }
}

/** `codec.encodeCurrency` for one field of a larger structure. @throws InvalidAddressError naming `field` */
export function encodeCurrencyField(codec: VmCodec, currency: string, field: string): Uint8Array {
  try {
    return codec.encodeCurrency(currency)
  } catch (error) {
    throw named(error, codec, field)
  }
}

function named(error: unknown, { vmType }: VmCodec, field: string): unknown {
  if (!(error instanceof InvalidAddressError)) return error
  return new InvalidAddressError({ vmType, reason: String(error.data['reason']), field })
}
