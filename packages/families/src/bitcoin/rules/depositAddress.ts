import type { Hex } from '@causeway/core'
import { concatBytes, fixedHexToBytes, hexDigits, utf8Bytes } from '@causeway/core'
import type { BitcoinNetwork } from '@causeway/core/encodings'
import { InvalidAddressError } from '@causeway/core/encodings'
import type { DepositAddress, DepositAddressTerms } from '../../rules/depositAddressing.ts'
import { bitcoinCurve, bitcoinLibrary } from './library.ts'
import { encodeScript, outputScript, readScript, scriptAddress } from './script.ts'
import { distinctOutputs, type OutPoint } from './transaction.ts'

/** Blocks above a payment after which its depositor can take it back alone: about thirty days. */
export const depositorWaitsBlocks = 4_320

/** Bytes of the 32-byte script hash that name the address in the salt of its orders. */
const nameBytes = 20

/**
 * The deposit address that only two parties can empty: the sweeper at once, and the depositor after a month, so that
 * nothing is lost if the service disappears. It is P2WSH: the hash of `script`, which a spender must show. A random
 * nonce makes each request's address different. The nonce shifts the sweeper's key, because some nodes relay no
 * script that carries data.
 * @param terms.sweeper compressed public key of the fill wallet, as `0x` and hex digits
 * @param terms.depositor an address that is the hash of one key
 * @throws InvalidAddressError for a depositor whose address does not tell how he signs, and a sweeper that is no key
 * @source BIP 68, BIP 112, BIP 141
 */
export function bitcoinDepositAddress(
  terms: DepositAddressTerms,
  network: BitcoinNetwork,
): Required<DepositAddress> {
  const script = depositScript(terms, network)
  const program = bitcoinLibrary().crypto.sha256(script)
  const address = scriptAddress(encodeScript({ kind: 'witness', version: 0, program }), network)
  if (address === undefined) throw new Error('the hash of a script has an address')
  return { address, terms, script: `0x${hexDigits(script)}` }
}

/** Name of an address in the salt of its orders. @throws InvalidAddressError for an address of another form */
export function bitcoinDepositName(address: string, network: BitcoinNetwork): Hex {
  const form = readScript(outputScript(address, network))
  if (form?.kind !== 'witness' || form.program.length !== 32)
    throw new InvalidAddressError({ vmType: 'bitcoin-vm', reason: 'it is not the hash of a script' })
  return `0x${hexDigits(form.program.subarray(0, nameBytes))}`
}

/** Least output that a sweep takes: a smaller one may not pay for its own input when fees are high. */
const sweptLeastSatoshi = 10_000n
/** Most outputs of a sweep, so that a payment in many parts makes it no dearer; others wait for the next. */
const sweptMax = 10

/** Most outputs of an endpoint's list that are checked. A list may name any number of false ones. */
const namedMax = 100

type ValuedOutput = OutPoint & { readonly value: bigint }

/** Outputs of one address that a sweep takes: the most valuable ones, with the same result for every caller. Pure. */
export const sweptOutputs = (outputs: readonly ValuedOutput[]): readonly ValuedOutput[] =>
  largestFirst(outputs)
    .filter(({ value }) => value >= sweptLeastSatoshi)
    .slice(0, sweptMax)

/** Outputs of an endpoint's list that are worth checking, each once: the largest by their claimed values. Pure. */
export const namedOutputs = (outputs: readonly ValuedOutput[]): readonly ValuedOutput[] =>
  largestFirst(distinctOutputs(outputs)).slice(0, namedMax)

/** Sorts by value, largest first, and equal values by their outpoint, so that every caller has the same order. */
const largestFirst = (outputs: readonly ValuedOutput[]): readonly ValuedOutput[] =>
  outputs.toSorted((one, other) => {
    if (one.value !== other.value) return one.value < other.value ? 1 : -1
    if (one.txid !== other.txid) return one.txid < other.txid ? -1 : 1
    return one.vout - other.vout
  })

/** The sweeper's signature alone, or, after the wait, the depositor's signature and key. */
function depositScript({ sweeper, depositor, nonce }: DepositAddressTerms, network: BitcoinNetwork) {
  const { compile, number, OPS } = bitcoinLibrary().script
  return compile([
    ...[OPS.OP_IF, sweepKey(sweeper, nonce), OPS.OP_CHECKSIG, OPS.OP_ELSE],
    ...[number.encode(depositorWaitsBlocks), OPS.OP_CHECKSEQUENCEVERIFY, OPS.OP_DROP],
    ...[OPS.OP_DUP, OPS.OP_HASH160, keyHashOf(depositor, network), OPS.OP_EQUALVERIFY, OPS.OP_CHECKSIG],
    OPS.OP_ENDIF,
  ])
}

/** The sweeper's key for one address. @throws InvalidAddressError for what is no key of the curve */
function sweepKey(sweeper: string, nonce: Hex): Uint8Array {
  const { ProjectivePoint } = bitcoinCurve()
  const base = pointOf(sweeper)
  if (base === undefined)
    throw new InvalidAddressError({ vmType: 'bitcoin-vm', reason: 'its sweeper is no public key' })
  return base.add(ProjectivePoint.BASE.multiply(shiftOf(sweeper, nonce))).toRawBytes(true)
}

/** True if the key can be a sweeper: 33 bytes of a point of the curve. */
export const isSweeper = (key: string): boolean => pointOf(key) !== undefined

function pointOf(key: string) {
  if (!/^0x0[23][0-9a-f]{64}$/.test(key)) return undefined
  try {
    return bitcoinCurve().ProjectivePoint.fromHex(key.slice(2))
  } catch (error) {
    // The library throws a plain Error for bytes that are no point.
    if (error instanceof Error) return undefined
    throw error
  }
}

/** Secret key that signs sweeps of the address. @param key 32 bytes of the fill wallet's key */
export function sweepSecret(key: Uint8Array, nonce: Hex): Uint8Array {
  const { CURVE, getPublicKey } = bitcoinCurve()
  const sweeper = `0x${hexDigits(getPublicKey(key, true))}`
  const shifted = (BigInt(`0x${hexDigits(key)}`) + shiftOf(sweeper, nonce)) % CURVE.n
  return fixedHexToBytes(`0x${shifted.toString(16).padStart(64, '0')}`, 32)
}

/** Scalar of one address: it is added to the sweeper's secret key, and its point to the sweeper's public key. */
function shiftOf(sweeper: string, nonce: Hex): bigint {
  const { sha256 } = bitcoinLibrary().crypto
  const seed = concatBytes([utf8Bytes(`causeway deposit address ${sweeper} `), fixedHexToBytes(nonce, 32)])
  return BigInt(`0x${hexDigits(sha256(seed))}`) % bitcoinCurve().CURVE.n
}

/** Hash of the depositor's key. @throws InvalidAddressError if the address is not the hash of one key */
function keyHashOf(depositor: string, network: BitcoinNetwork): Uint8Array {
  const form = readScript(outputScript(depositor, network))
  if (form?.kind === 'public-key-hash') return form.hash
  if (form?.kind === 'witness' && form.version === 0 && form.program.length === 20) return form.program
  throw new InvalidAddressError({
    vmType: 'bitcoin-vm',
    field: 'refundTo',
    reason: 'whom a deposit address refunds has an address of one key: bc1q with 42 characters, or 1',
  })
}
