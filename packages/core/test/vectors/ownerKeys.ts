// Owners of every family, and the signatures that their wallets make.
import { createHash } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js'
import { base58, bech32, bech32m, createBase58check } from '@scure/base'
import { Transaction } from 'bitcoinjs-lib'
import { keccak256 } from 'viem'
import { orderBSolverKey } from './orders.ts'

type Hex = `0x${string}`

const secretKey = Buffer.from(orderBSolverKey.slice(2), 'hex')
const publicKey = secp256k1.getPublicKey(secretKey, true)
const uncompressedKey = secp256k1.getPublicKey(secretKey, false)

export function sha256(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(createHash('sha256').update(bytes).digest())
}

function hash160(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(createHash('ripemd160').update(sha256(bytes)).digest())
}

export function hexOf(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes).toString('hex')}`
}

function taggedHash(tag: string, bytes: Uint8Array): Uint8Array {
  const tagHash = sha256(Buffer.from(tag))
  return sha256(Buffer.concat([tagHash, tagHash, bytes]))
}

const base58check = createBase58check(sha256)
const keyHash = hash160(publicKey)
/** The secret of a taproot output without scripts: the key with even y, tweaked by itself. */
const order = secp256k1.CURVE.n
const [evenSecret, xOnly] = [evenY(BigInt(hexOf(secretKey))), schnorr.getPublicKey(secretKey)]
const tweaked = (evenSecret + BigInt(hexOf(taggedHash('TapTweak', xOnly)))) % order
const taprootSecret = Buffer.from(tweaked.toString(16).padStart(64, '0'), 'hex')
const outputKey = schnorr.getPublicKey(taprootSecret)

function evenY(secret: bigint): bigint {
  return publicKey[0] === 2 ? secret : order - secret
}

/** Scripts of the key's addresses. */
const scripts = {
  p2wpkh: Uint8Array.of(0, 20, ...keyHash),
  p2tr: Uint8Array.of(0x51, 32, ...outputKey),
}
const nestedHash = hash160(scripts.p2wpkh)
const nestedScript = Uint8Array.of(0xa9, 20, ...nestedHash, 0x87)

/** The owner of one key on every kind of account. */
export const owners = {
  p2pkh: base58check.encode(Uint8Array.of(0, ...keyHash)),
  uncompressed: base58check.encode(Uint8Array.of(0, ...hash160(uncompressedKey))),
  nested: base58check.encode(Uint8Array.of(5, ...nestedHash)),
  p2wpkh: bech32.encode('bc', [0, ...bech32.toWords(keyHash)]),
  p2tr: bech32m.encode('bc', [1, ...bech32.toWords(outputKey)]),
  tron: base58check.encode(
    Uint8Array.of(0x41, ...Buffer.from(keccak256(uncompressedKey.slice(1)).slice(2), 'hex').subarray(12)),
  ),
  solana: base58.encode(ed25519.getPublicKey(secretKey)),
}

/** BIP-137: the header says which address, the rest is a recoverable signature. */
export function signBip137(message: string, firstHeader: 27 | 31 | 35 | 39): Hex {
  const text = Buffer.from(message)
  const preimage = Buffer.concat([
    Buffer.from('\x18Bitcoin Signed Message:\n'),
    Uint8Array.of(text.length),
    text,
  ])
  const signature = secp256k1.sign(sha256(sha256(preimage)), secretKey)
  return hexOf(Uint8Array.of(firstHeader + signature.recovery, ...signature.toCompactRawBytes()))
}

/** The virtual transaction that a simple BIP-322 signature signs, built by another library. */
function bip322Transaction(message: string, script: Uint8Array): Transaction {
  const toSpend = new Transaction()
  toSpend.version = 0
  const commitment = taggedHash('BIP0322-signed-message', Buffer.from(message))
  toSpend.addInput(new Uint8Array(32), 0xffff_ffff, 0, Uint8Array.of(0, 32, ...commitment))
  toSpend.addOutput(script, 0n)
  const toSign = new Transaction()
  toSign.version = 0
  toSign.addInput(toSpend.getHash(), 0, 0)
  toSign.addOutput(Uint8Array.of(0x6a), 0n)
  return toSign
}

function witnessHex(items: readonly Uint8Array[]): Hex {
  return hexOf(
    Buffer.concat([
      Uint8Array.of(items.length),
      ...items.flatMap((item) => [Uint8Array.of(item.length), item]),
    ]),
  )
}

/** BIP-322 of a key hash, for the native address or the nested one. */
export function signBip322(
  message: string,
  address: 'p2wpkh' | 'nested',
  hashType = Transaction.SIGHASH_ALL,
): Hex {
  const script = address === 'nested' ? nestedScript : scripts.p2wpkh
  const scriptCode = Uint8Array.of(0x76, 0xa9, 20, ...keyHash, 0x88, 0xac)
  const digest = bip322Transaction(message, script).hashForWitnessV0(0, scriptCode, 0n, hashType)
  const signature = secp256k1.sign(digest, secretKey).toDERRawBytes()
  return witnessHex([Uint8Array.of(...signature, hashType), publicKey])
}

/** BIP-322 by the key of a taproot output. Hash type 0 is written as no byte. */
export function signTaproot(message: string, hashType = 0): Hex {
  const digest = bip322Transaction(message, scripts.p2tr).hashForWitnessV1(0, [scripts.p2tr], [0n], hashType)
  const signature = schnorr.sign(digest, taprootSecret, new Uint8Array(32))
  return witnessHex([hashType === 0 ? signature : Uint8Array.of(...signature, hashType)])
}

export function signEd25519(message: string, secret: Uint8Array = secretKey): Hex {
  return hexOf(ed25519.sign(Buffer.from(message), secret))
}

/** r‖s‖v of a digest, as wallets of EVM chains and of Tron write it. */
export function signDigest(digest: Uint8Array, secret: Uint8Array = secretKey): Hex {
  const signature = secp256k1.sign(digest, secret)
  return hexOf(Uint8Array.of(...signature.toCompactRawBytes(), 27 + signature.recovery))
}

/** Lower-case address of the key that signed; `undefined` for what no key can have signed. */
export function recoverSigner(digest: Uint8Array, signature: string): Hex | undefined {
  const bytes = Buffer.from(signature.slice(2), 'hex')
  if (bytes.length !== 65) return undefined
  try {
    const point = secp256k1.Signature.fromCompact(bytes.subarray(0, 64))
      .addRecoveryBit((bytes[64] ?? 0) - 27)
      .recoverPublicKey(digest)
    return `0x${keccak256(point.toRawBytes(false).slice(1)).slice(-40)}`
  } catch {
    return undefined
  }
}
