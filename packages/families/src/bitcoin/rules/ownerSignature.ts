import { concatBytes, utf8Bytes } from '@causeway/core'
import type { BitcoinNetwork } from '@causeway/core/encodings'
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js'
import { readWholly, sizedBytes } from './bytes.ts'
import { bitcoinLibrary } from './library.ts'
import { sighash, taprootSighash, witnessSighash } from './messageTransaction.ts'
import { encodeScript, outputScript, readScript, type ScriptForm } from './script.ts'
import { doubleSha256 } from './transaction.ts'

/** `owner`: the address that is said to have signed. */
type OwnerSignature = {
  readonly message: string
  readonly signature: Uint8Array
  readonly owner: string
  readonly network: BitcoinNetwork
}

const recoverableBytes = 65
const compressedKeyBytes = 33
const schnorrBytes = 64
const messagePrefix = '\x18Bitcoin Signed Message:\n'

/**
 * True when the key of `owner` signed `message`: by BIP-137 (65 bytes) for P2PKH, P2SH-P2WPKH and P2WPKH, or by the
 * simple form of BIP-322 (a witness) for P2SH-P2WPKH, P2WPKH and the key path of P2TR. Some wallets sign BIP-137 for
 * segwit addresses with the header of a compressed key; both headers are accepted.
 * @throws InvalidAddressError when nobody can own the address on `network`
 * @source rule P-109; BIP 137, BIP 322
 */
export function isBitcoinOwnerSignature({ message, signature, owner, network }: OwnerSignature): boolean {
  const script = outputScript(owner, network)
  const form = readScript(script)
  if (form === undefined) return false
  if (signature.length === recoverableBytes) return isSignedByRecoveredKey(message, signature, form)
  const witness = readWholly(signature, (reader) => reader.readVector())
  if (witness === undefined) return false
  return form.kind === 'witness' && form.version === 1
    ? isTaprootWitness({ message, witness, script, publicKey: form.program })
    : isKeyHashWitness({ message, witness, form })
}

/** First header of a BIP-137 signature. Each address type has four headers, one per way to recover the key. */
const firstHeader = 27
/** Address types in the order of their headers. `nested`: P2SH-P2WPKH; `native`: P2WPKH; others: P2PKH, by the key. */
const headerKinds = ['uncompressed', 'compressed', 'nested', 'native'] as const

const kindOfHeader = (header: number) => headerKinds[(header - firstHeader) >> 2]

function isSignedByRecoveredKey(message: string, signature: Uint8Array, form: ScriptForm): boolean {
  const header = signature[0] ?? 0
  const kind = kindOfHeader(header)
  if (kind === undefined) return false
  const digest = doubleSha256(concatBytes([utf8Bytes(messagePrefix), sizedBytes(utf8Bytes(message))]))
  return verifies(() => {
    const publicKey = secp256k1.Signature.fromCompact(signature.subarray(1))
      .addRecoveryBit((header - firstHeader) & 3)
      .recoverPublicKey(digest)
      .toRawBytes(kind !== 'uncompressed')
    // A header without an address type fits any form; `paysKey` refuses uncompressed keys of segwit addresses.
    const isKindRight = kind === 'uncompressed' || kind === 'compressed' || kind === kindOf(form)
    return isKindRight && paysKey(form, publicKey)
  })
}

function kindOf({ kind }: ScriptForm): 'nested' | 'native' | undefined {
  if (kind === 'script-hash') return 'nested'
  return kind === 'witness' ? 'native' : undefined
}

/** True when the script is that of an address of `publicKey`. Segwit has compressed keys alone. */
function paysKey(form: ScriptForm, publicKey: Uint8Array): boolean {
  const hash = hash160(publicKey)
  if (form.kind === 'public-key-hash') return isSame(form.hash, hash)
  if (publicKey.length !== compressedKeyBytes) return false
  if (form.kind === 'witness') return form.version === 0 && isSame(form.program, hash)
  const redeemScript = encodeScript({ kind: 'witness', version: 0, program: hash })
  return isSame(form.hash, hash160(redeemScript))
}

function isKeyHashWitness(signed: {
  readonly message: string
  readonly witness: readonly Uint8Array[]
  readonly form: ScriptForm
}): boolean {
  const { message, witness, form } = signed
  const [signature, publicKey, ...others] = witness
  if (signature === undefined || publicKey === undefined || others.length > 0) return false
  const isSegwit = form.kind !== 'public-key-hash' && publicKey.length === compressedKeyBytes
  if (!isSegwit || signature.at(-1) !== sighash.all || !paysKey(form, publicKey)) return false
  const digest = witnessSighash(message, encodeScript(form), hash160(publicKey))
  return verifies(() =>
    secp256k1.verify(secp256k1.Signature.fromDER(signature.subarray(0, -1)), digest, publicKey),
  )
}

function isTaprootWitness(signed: {
  readonly message: string
  readonly witness: readonly Uint8Array[]
  readonly script: Uint8Array
  readonly publicKey: Uint8Array
}): boolean {
  const [signature, ...others] = signed.witness
  if (signature === undefined || others.length > 0) return false
  const hasType = signature.length === schnorrBytes + 1 && signature[schnorrBytes] === sighash.all
  if (!hasType && signature.length !== schnorrBytes) return false
  const hashType = hasType ? sighash.all : sighash.default
  const digest = taprootSighash(signed.message, signed.script, hashType)
  return verifies(() => schnorr.verify(signature.subarray(0, schnorrBytes), digest, signed.publicKey))
}

/** Result of a check; false if the library throws, as it does for invalid points and encodings. */
function verifies(check: () => boolean): boolean {
  try {
    return check()
  } catch (error) {
    if (error instanceof Error) return false
    throw error
  }
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0
}

/** RIPEMD-160 of the SHA-256, 20 bytes: how addresses name keys and scripts. */
function hash160(bytes: Uint8Array): Uint8Array {
  return bitcoinLibrary().crypto.hash160(bytes)
}
