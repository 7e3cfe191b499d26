import { createHash } from 'node:crypto'
import { base58, bech32, bech32m, createBase58check } from '@scure/base'
import fc from 'fast-check'
import type { VmType } from '../../src/encodings/codecs.ts'

/** A spelling and the protocol bytes that it must have, built from the bytes, never by our codecs. */
export type Spelled = { readonly text: string; readonly bytes: Uint8Array }

const base58check = createBase58check((bytes: Uint8Array) =>
  Uint8Array.from(createHash('sha256').update(bytes).digest()),
)

function bytesOf(length: number) {
  return fc.uint8Array({ minLength: length, maxLength: length })
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

const evmAddress: fc.Arbitrary<Spelled> = fc
  .tuple(bytesOf(20), fc.constantFrom('lower', 'upper', 'mixed'))
  .map(([bytes, spelling]) => {
    const digits = hexOf(bytes)
    const mixed = [...digits].map((digit, index) => (index % 3 === 0 ? digit.toUpperCase() : digit)).join('')
    const cased = { lower: digits, upper: digits.toUpperCase(), mixed }[spelling]
    return { text: `0x${cased}`, bytes }
  })

const solanaAddress: fc.Arbitrary<Spelled> = bytesOf(32).map((bytes) => ({
  text: base58.encode(bytes),
  bytes,
}))

function witness(version: number, program: Uint8Array, isUpperCase: boolean): Spelled {
  const words = [version, ...bech32.toWords(program)]
  const text = version === 0 ? bech32.encode('bc', words) : bech32m.encode('bc', words)
  return {
    text: isUpperCase ? text.toUpperCase() : text,
    bytes: Uint8Array.of(version, ...program),
  }
}

/** P2PKH, P2SH, P2WPKH, P2WSH and P2TR. */
const bitcoinAddress: fc.Arbitrary<Spelled> = fc.oneof(
  fc.tuple(fc.constantFrom(0x00, 0x05), bytesOf(20)).map(([version, hash]) => ({
    text: base58check.encode(Uint8Array.of(version, ...hash)),
    bytes: Uint8Array.of(0xff, version, ...hash),
  })),
  fc.tuple(bytesOf(20), fc.boolean()).map(([program, isUpper]) => witness(0, program, isUpper)),
  fc.tuple(bytesOf(32), fc.boolean()).map(([program, isUpper]) => witness(0, program, isUpper)),
  fc.tuple(bytesOf(32), fc.boolean()).map(([program, isUpper]) => witness(1, program, isUpper)),
)

const tronAddress: fc.Arbitrary<Spelled> = bytesOf(20).map((account) => {
  const bytes = Uint8Array.of(0x41, ...account)
  return { text: base58check.encode(bytes), bytes }
})

const lighterIndex: fc.Arbitrary<Spelled> = fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }).map((index) => ({
  text: index.toString(),
  bytes: Uint8Array.from(Buffer.from(index.toString(16).padStart(32, '0'), 'hex')),
}))

const hyperliquidCurrency: fc.Arbitrary<Spelled> = fc
  .tuple(bytesOf(16), fc.stringMatching(/^[a-z0-9]{0,4}$/))
  .map(([token, dex]) => {
    const bytes = Uint8Array.of(...token, ...Buffer.from(dex, 'ascii'))
    return { text: `0x${hexOf(bytes)}`, bytes }
  })

/** Accounts of every family; the native sentinels, which are no accounts, do not occur. */
export const accounts: Readonly<Record<VmType, fc.Arbitrary<Spelled>>> = {
  'ethereum-vm': evmAddress,
  'solana-vm': solanaAddress,
  'bitcoin-vm': bitcoinAddress,
  'hyperliquid-vm': evmAddress,
  'lighter-vm': lighterIndex,
  'tron-vm': tronAddress,
}

export const currencies: Readonly<Record<VmType, fc.Arbitrary<Spelled>>> = {
  ...accounts,
  'hyperliquid-vm': hyperliquidCurrency,
}

export type SpelledTransactionId = Spelled & { readonly canonical: string }

function hexTransactionId(
  byteLength: fc.Arbitrary<number>,
  prefixes: readonly string[],
  canonicalPrefix: string,
) {
  return fc
    .tuple(byteLength.chain(bytesOf), fc.boolean(), fc.constantFrom(...prefixes))
    .map(([bytes, isUpperCase, prefix]) => {
      const digits = hexOf(bytes)
      const text = `${prefix}${isUpperCase ? digits.toUpperCase() : digits}`
      return { text, bytes, canonical: `${canonicalPrefix}${digits}` }
    })
}

export const transactionIds: Readonly<Record<VmType, fc.Arbitrary<SpelledTransactionId>>> = {
  'ethereum-vm': hexTransactionId(fc.constant(32), ['0x'], '0x'),
  'hyperliquid-vm': hexTransactionId(fc.constant(32), ['0x'], '0x'),
  'bitcoin-vm': hexTransactionId(fc.constant(32), [''], ''),
  'tron-vm': hexTransactionId(fc.constant(32), ['', '0x'], ''),
  'lighter-vm': hexTransactionId(fc.integer({ min: 1, max: 128 }), [''], ''),
  'solana-vm': bytesOf(64).map((bytes) => {
    const text = base58.encode(bytes)
    return { text, bytes, canonical: text }
  }),
}
