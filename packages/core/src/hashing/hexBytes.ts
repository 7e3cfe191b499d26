import type { Hex } from '../hex.ts'

const notADigit = 0xff

const digitOfCharCode: Uint8Array = Uint8Array.from({ length: 128 }, (_, charCode) => {
  const digit = '0123456789abcdef'.indexOf(String.fromCharCode(charCode).toLowerCase())
  return digit < 0 ? notADigit : digit
})

/**
 * Bytes of the hex digits of `text` after its first `start` characters, in either case; `undefined`
 * when their number is odd or one of them is no hex digit.
 */
export function parseHexDigits(text: string, start: number): Uint8Array | undefined {
  const digitCount = text.length - start
  if (digitCount < 0 || digitCount % 2 !== 0) return undefined
  const bytes = new Uint8Array(digitCount / 2)
  for (let index = 0, position = start; index < bytes.length; index += 1, position += 2) {
    const high = digitOfCharCode[text.charCodeAt(position)] ?? notADigit
    const low = digitOfCharCode[text.charCodeAt(position + 1)] ?? notADigit
    if (high === notADigit || low === notADigit) return undefined
    bytes[index] = (high << 4) | low
  }
  return bytes
}

/** @throws RangeError when `hex` is not `0x` and whole bytes: a bug, as input from outside is checked before */
export function hexToBytes(hex: Hex): Uint8Array {
  const bytes = hex.startsWith('0x') ? parseHexDigits(hex, 2) : undefined
  if (bytes === undefined) throw new RangeError('not 0x and an even number of hex digits')
  return bytes
}

/** @throws RangeError when `hex` is not exactly `byteLength` bytes: a caller's bug */
export function fixedHexToBytes(hex: Hex, byteLength: number): Uint8Array {
  const bytes = hexToBytes(hex)
  if (bytes.length !== byteLength) throw new RangeError(`expected ${byteLength} bytes, got ${bytes.length}`)
  return bytes
}

/** Lower-case digits without `0x`. */
export function hexDigits(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
}

/** Lower case. */
export function bytesToHex(bytes: Uint8Array): Hex {
  return `0x${hexDigits(bytes)}`
}

export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let offset = 0
  for (const part of parts) {
    joined.set(part, offset)
    offset += part.length
  }
  return joined
}

/** UTF-8; a lone surrogate becomes U+FFFD. */
export function utf8Bytes(text: string): Uint8Array {
  return Buffer.from(text, 'utf8')
}
