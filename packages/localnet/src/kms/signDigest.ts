import { bytesToHex } from '@causeway/core'
import { sign } from 'viem/accounts'

const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/**
 * A real ECDSA signature of 32 bytes in DER. KMS answers with either half of s; `either` takes the one
 * that the digest's last bit names, so that both occur and a test can repeat them.
 */
export async function signDigest(options: {
  digest: Uint8Array
  privateKey: Uint8Array
  half: 'low' | 'high' | 'either'
}): Promise<Buffer> {
  const { digest, privateKey, half } = options
  const { r, s } = await sign({
    hash: bytesToHex(digest),
    privateKey: bytesToHex(privateKey),
    to: 'object',
  })
  const isHigh = half === 'high' || (half === 'either' && (digest.at(-1) ?? 0) % 2 === 1)
  const lowS = BigInt(s)
  const parts = Buffer.concat([derInteger(BigInt(r)), derInteger(isHigh ? curveOrder - lowS : lowS)])
  return Buffer.concat([Buffer.of(0x30, parts.length), parts])
}

/** As short as it can be, with a zero in front where the first bit is set. */
function derInteger(value: bigint): Buffer {
  const digits = value.toString(16)
  const bytes = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
  const content = (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes
  return Buffer.concat([Buffer.of(0x02, content.length), content])
}
