import { concatBytes, DomainError, hexDigits, parseHexDigits } from '@causeway/core'
import { bitcoinCurve, bitcoinLibrary } from '../library.ts'
import { encodeScript, readScript } from '../script.ts'

/** Type of the account that spends the user's outputs, and the data that a PSBT must carry about it. */
export type OwnerKey =
  | { readonly kind: 'public-key-hash' }
  | {
      readonly kind: 'witness'
      readonly shown: { readonly redeemScript?: Uint8Array; readonly tapInternalKey?: Uint8Array }
    }

/** `additionalData.userPublicKey` is missing although the address does not tell how it is spent, or is another key. */
export class OwnerKeyError extends DomainError {
  readonly code = 'INVALID_REQUEST'
  readonly kind = 'invalid_request'

  constructor(subject: string) {
    super(`additionalData.userPublicKey ${subject}.`, { data: { field: 'additionalData.userPublicKey' } })
  }
}

/**
 * Data that a PSBT of the owner of `script` must carry. A P2SH address is spent with its redeem script, which is
 * derived from the key. For taproot the PSBT shows the internal key to signers that do not know it.
 * @param publicKey hex of 33 bytes; for taproot the 32 bytes of its first coordinate are enough
 * @throws OwnerKeyError @source BIP 141, BIP 341
 */
export function ownerKeyOf(script: Uint8Array, publicKey: string | undefined): OwnerKey {
  const form = readScript(script)
  const bytes = publicKey === undefined ? undefined : parseHexDigits(publicKey.replace(/^0x/, ''), 0)
  if (publicKey !== undefined && bytes === undefined) throw new OwnerKeyError('is no hex')
  if (form?.kind === 'script-hash') {
    if (bytes === undefined)
      throw new OwnerKeyError('is needed: user is the hash of a script that its key makes')
    const { hash160 } = bitcoinLibrary().crypto
    const redeemScript = encodeScript({ kind: 'witness', version: 0, program: hash160(bytes) })
    if (Buffer.compare(hash160(redeemScript), form.hash) !== 0) throw notOfUser()
    return { kind: 'witness', shown: { redeemScript } }
  }
  if (form?.kind === 'public-key-hash') return { kind: 'public-key-hash' }
  // An address of version 0 needs no data about its key, and a taproot address may go without.
  if (form?.kind !== 'witness' || form.version === 0 || bytes === undefined)
    return { kind: 'witness', shown: {} }
  const internal = bytes.length === 33 ? bytes.subarray(1) : bytes
  if (hexDigits(taprootProgram(internal)) !== hexDigits(form.program)) throw notOfUser()
  return { kind: 'witness', shown: { tapInternalKey: internal } }
}

const notOfUser = () => new OwnerKeyError('is not the key of user')

/**
 * Witness program of an output that only its key can spend: the tweaked key commits to an empty script tree. @source
 * BIP 341, BIP 86
 */
function taprootProgram(internalKey: Uint8Array): Uint8Array {
  const { ProjectivePoint, CURVE } = bitcoinCurve()
  const tweak = BigInt(`0x${hexDigits(bitcoinLibrary().crypto.taggedHash('TapTweak', internalKey))}`)
  try {
    // 2: of the two points with this coordinate the even one, as taproot demands.
    const point = ProjectivePoint.fromHex(concatBytes([Uint8Array.of(2), internalKey]))
    return point
      .add(ProjectivePoint.BASE.multiply(tweak % CURVE.n))
      .toRawBytes(true)
      .subarray(1)
  } catch (error) {
    if (error instanceof Error) throw new OwnerKeyError('is no point of the curve')
    throw error
  }
}
