// Encodings and canonical spellings of addresses and transaction ids in each family, rule F-149.
import { bech32 } from '@scure/base'
import { describe, expect, test } from 'vitest'
import { bytesToHex } from '../hashing/hexBytes.ts'
import { createBitcoinCodec } from './bitcoin.ts'
import { codecOf, mainNetwork, type VmType, vmTypes } from './codecs.ts'
import { InvalidAddressError, InvalidTransactionIdError } from './errors.ts'
import { ethereumCodec } from './ethereum.ts'
import { createTronCodec } from './tron.ts'

const p2pkh = '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'
const p2wpkh = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'
const taproot = 'bc1p5d7rjq7g6rdk2yhzks9smlaqtedr4dekq08ge8ztwac72sfr9rusxg3297'
const otherPrefix = bech32.encode('bc1x', [0, ...bech32.toWords(new Uint8Array(20))])
const solanaSignature =
  '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW'

describe('encodeAddress', () => {
  test.each<[VmType, string, string]>([
    [
      'ethereum-vm',
      '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
    ],
    [
      'solana-vm',
      'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
      '0xc6fa7af3bedbad3a3d65f36aabc97431b1bbe4c2d2f6e0e47ca60203452f5d61',
    ],
    ['bitcoin-vm', p2pkh, '0xff0062e907b15cbf27d5425399ebf6f0fb50ebb88f18'],
    ['bitcoin-vm', '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy', '0xff05b472a266d0bd89c13706a4132ccfb16f7c3b9fcb'],
    ['bitcoin-vm', p2wpkh, '0x00e8df018c7e326cc253faac7e46cdc51e68542c42'],
    ['bitcoin-vm', taproot, '0x01a37c3903c8d0db6512e2b40b0dffa05e5a3ab73603ce8c9c4b7771e5412328f9'],
    ['lighter-vm', '723071', '0x000000000000000000000000000b087f'],
    ['tron-vm', 'TXtEs6t2oUWQsNos7m68gbHdE9Q5n6x2oN', '0x41f0623e1012177482912fb057e44e1a9769b1f588'],
  ])('gives the protocol bytes of the %s address %s', (vmType, address, bytes) => {
    expect(bytesToHex(codecOf(mainNetwork(vmType)).encodeAddress(address))).toBe(bytes)
  })

  test('gives the protocol bytes of a hyperliquid spot token as a currency', () => {
    const token = '0x6d1e7cde53ba9467b783cb7c530ce054'
    expect(bytesToHex(codecOf(mainNetwork('hyperliquid-vm')).encodeCurrency(token))).toBe(token)
  })
})

test('F-46: what tells of ether that moved is an account, and no currency', () => {
  const emitter = `0x${'ff'.repeat(19)}fe`
  for (const spelling of [emitter, `0x${emitter.slice(2).toUpperCase()}`]) {
    expect(() => ethereumCodec.encodeCurrency(spelling)).toThrow(/it is no token, .*EIP-7708/)
    expect(() => ethereumCodec.encodeHubCurrency(spelling)).toThrow(/EIP-7708/)
    expect(ethereumCodec.isAddress(spelling)).toBe(true)
  }
})

describe('the native sentinel', () => {
  test.each<[VmType, string, string]>([
    ['ethereum-vm', '0x0000000000000000000000000000000000000000', '00'.repeat(20)],
    ['solana-vm', '11111111111111111111111111111111', '00'.repeat(32)],
    ['bitcoin-vm', 'bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8', '00'.repeat(20)],
    ['hyperliquid-vm', '0x00000000000000000000000000000000', '00'.repeat(16)],
    ['lighter-vm', '0', '00'.repeat(16)],
    ['tron-vm', 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb', `41${'00'.repeat(20)}`],
  ])('of %s is %s, encodes and is no account', (vmType, sentinel, digits) => {
    const codec = codecOf(mainNetwork(vmType))
    expect(codec.nativeCurrency).toBe(sentinel)
    expect(bytesToHex(codec.encodeCurrency(sentinel))).toBe(`0x${digits}`)
    expect(bytesToHex(codec.encodeAddress(sentinel))).toBe(`0x${digits}`)
    expect(codec.canonicalAddress(sentinel)).toBe(sentinel)
    expect(codec.isAddress(sentinel)).toBe(false)
  })

  test('encodes to bytes of its own each time', () => {
    const codec = ethereumCodec
    codec.encodeAddress(codec.nativeCurrency).fill(1)
    expect(codec.encodeAddress(codec.nativeCurrency)).toEqual(new Uint8Array(20))
  })
})

describe('an address is refused', () => {
  test.each<[string, VmType, string]>([
    ['of 19 bytes', 'ethereum-vm', `0x${'11'.repeat(19)}`],
    ['of 21 bytes', 'ethereum-vm', `0x${'11'.repeat(21)}`],
    ['without 0x', 'ethereum-vm', '11'.repeat(20)],
    ['with 0X', 'ethereum-vm', `0X${'11'.repeat(20)}`],
    ['with a letter that is no hex digit', 'ethereum-vm', `0x${'1g'.repeat(20)}`],
    ['with a digit of another script', 'ethereum-vm', `0x${'١'.repeat(40)}`],
    ['of 31 bytes', 'solana-vm', '1'.repeat(31)],
    ['of 33 bytes', 'solana-vm', '1'.repeat(33)],
    ['with a letter outside base58', 'solana-vm', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt0v'],
    ['that is a spot token', 'hyperliquid-vm', '0x6d1e7cde53ba9467b783cb7c530ce054'],
    ['with a broken checksum', 'tron-vm', 'TXtEs6t2oUWQsNos7m68gbHdE9Q5n6x2oM'],
    ['in hex', 'tron-vm', '0x41f0623e1012177482912fb057e44e1a9769b1f588'],
    ['of a Bitcoin account', 'tron-vm', p2pkh],
    ['with a broken checksum', 'bitcoin-vm', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb'],
    ['of a Tron account', 'bitcoin-vm', 'TXtEs6t2oUWQsNos7m68gbHdE9Q5n6x2oN'],
    ['of a test network, legacy', 'bitcoin-vm', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn'],
    ['of a test network, segwit', 'bitcoin-vm', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'],
    ['in mixed case', 'bitcoin-vm', `BC1${p2wpkh.slice(3)}`],
    ['of version 0 under bech32m', 'bitcoin-vm', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh'],
    [
      'of version 1 under bech32',
      'bitcoin-vm',
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd',
    ],
    ['of a prefix that only starts alike', 'bitcoin-vm', otherPrefix],
    ['of version 17', 'bitcoin-vm', 'BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R'],
    ['with a program of one byte', 'bitcoin-vm', 'bc1pw5dgrnzv'],
    ['of version 0 with 16 bytes', 'bitcoin-vm', 'BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P'],
    ['without a program', 'bitcoin-vm', 'bc1gmk9yu'],
    ['with padding of more than four bits', 'bitcoin-vm', 'bc1zw508d6qejxtdg4y5r3zarvaryvqyzf3du'],
    ['with a sign', 'lighter-vm', '-1'],
    ['with a leading zero', 'lighter-vm', '007'],
    ['with an exponent', 'lighter-vm', '1e3'],
    ['in hex', 'lighter-vm', '0x10'],
    ['above uint64', 'lighter-vm', '18446744073709551616'],
  ])('%s (%s)', (_why, vmType, address) => {
    const codec = codecOf(mainNetwork(vmType))
    expect(() => codec.encodeAddress(address)).toThrow(InvalidAddressError)
    expect(codec.isAddress(address)).toBe(false)
  })

  test('names the family and the reason, not the address', () => {
    expect(() => codecOf(mainNetwork('tron-vm')).encodeAddress('secret')).toThrow(
      expect.objectContaining({
        code: 'INVALID_ADDRESS',
        kind: 'invalid_request',
        message: 'The address is not a valid tron-vm address: length, characters or checksum are wrong.',
        data: { vmType: 'tron-vm', reason: 'length, characters or checksum are wrong' },
      }),
    )
  })
})

describe('bitcoin', () => {
  const codec = codecOf(mainNetwork('bitcoin-vm'))

  test.each([p2pkh, p2wpkh, taproot])('%s can receive funds', (address) => {
    expect(codec.isAddress(address)).toBe(true)
  })

  test('an upper-case segwit address is the lower-case one', () => {
    const upper = p2wpkh.toUpperCase()
    expect(codec.canonicalAddress(upper)).toBe(p2wpkh)
    expect(codec.encodeAddress(upper)).toEqual(codec.encodeAddress(p2wpkh))
  })

  test.each([
    ['a version without spending rules', 'bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs'],
    [
      'a version 1 program that is no key',
      'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y',
    ],
  ])('%s can be written but not paid to', (_what, address) => {
    expect(() => codec.encodeAddress(address)).not.toThrow()
    expect(codec.isAddress(address)).toBe(false)
  })

  test('another network is other parameters', () => {
    const testnet = createBitcoinCodec({
      bech32Prefix: 'tb',
      publicKeyHashVersion: 0x6f,
      scriptHashVersion: 0xc4,
    })
    expect(testnet.isAddress('tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx')).toBe(true)
    expect(testnet.isAddress('mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn')).toBe(true)
    expect(testnet.isAddress(p2pkh)).toBe(false)
    expect(testnet.isAddress(p2wpkh)).toBe(false)
  })
})

test('tron on a network with another prefix has other addresses', () => {
  const codec = createTronCodec({ addressPrefix: 0xa0 })
  expect(codec.isAddress('TXtEs6t2oUWQsNos7m68gbHdE9Q5n6x2oN')).toBe(false)
})

describe('a hyperliquid currency', () => {
  const codec = codecOf(mainNetwork('hyperliquid-vm'))
  const token = '6d1e7cde53ba9467b783cb7c530ce054'

  test('may carry the name of a dex', () => {
    const currency = `0x${token.toUpperCase()}78797A`
    expect(bytesToHex(codec.encodeCurrency(currency))).toBe(`0x${token}78797a`)
    expect(codec.canonicalAddress(currency)).toBe(`0x${token}78797a`)
  })

  test.each([
    ['15 bytes', `0x${token.slice(2)}`],
    ['a dex name of five characters', `0x${token}6162636465`],
    ['a dex name that is not ASCII', `0x${token}ff`],
    ['half a byte', `0x${token}7`],
    ['no 0x', token],
  ])('is refused with %s', (_what, currency) => {
    expect(() => codec.encodeCurrency(currency)).toThrow(InvalidAddressError)
    expect(() => codec.canonicalAddress(currency)).toThrow(InvalidAddressError)
  })
})

describe('transaction ids', () => {
  const digits = 'AB'.repeat(32)
  const lower = digits.toLowerCase()

  test.each<[VmType, string, string, string]>([
    ['ethereum-vm', `0x${digits}`, `0x${lower}`, lower],
    ['hyperliquid-vm', `0x${digits}`, `0x${lower}`, lower],
    ['bitcoin-vm', digits, lower, lower],
    ['tron-vm', digits, lower, lower],
    ['tron-vm', `0x${digits}`, lower, lower],
    ['lighter-vm', 'AB'.repeat(40), 'ab'.repeat(40), 'ab'.repeat(40)],
  ])('of %s: %s is %s', (vmType, given, canonical, bytes) => {
    const codec = codecOf(mainNetwork(vmType))
    expect(codec.canonicalTransactionId(given)).toBe(canonical)
    expect(bytesToHex(codec.encodeTransactionId(given))).toBe(`0x${bytes}`)
  })

  test('of bitcoin keep the display order of their bytes', () => {
    const id = '4A5E1E4BAAB89F3A32518A88C31BC87F618F76673E2CC77AB2127B7AFDEDA33B'
    expect(bytesToHex(codecOf(mainNetwork('bitcoin-vm')).encodeTransactionId(id))).toBe(
      `0x${id.toLowerCase()}`,
    )
  })

  test('of solana are base58 of 64 bytes and keep their case', () => {
    const codec = codecOf(mainNetwork('solana-vm'))
    expect(codec.canonicalTransactionId(solanaSignature)).toBe(solanaSignature)
    expect(codec.encodeTransactionId(solanaSignature)).toHaveLength(64)
  })

  test.each<[string, VmType, string]>([
    ['without 0x', 'ethereum-vm', lower],
    ['of 31 bytes', 'ethereum-vm', `0x${lower.slice(2)}`],
    ['with 0X', 'ethereum-vm', `0X${lower}`],
    ['without 0x', 'hyperliquid-vm', lower],
    ['with 0x', 'bitcoin-vm', `0x${lower}`],
    ['of 33 bytes', 'bitcoin-vm', `${lower}00`],
    ['with 0x twice', 'tron-vm', `0x0x${lower}`],
    ['with 0x and 31 bytes', 'tron-vm', `0x${lower.slice(2)}`],
    ['with 0x', 'lighter-vm', '0xab'],
    ['of half a byte', 'lighter-vm', 'abc'],
    ['of 129 bytes', 'lighter-vm', 'ab'.repeat(129)],
    ['of 63 bytes', 'solana-vm', '1'.repeat(63)],
    ['that is an address', 'solana-vm', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'],
    ['with a letter outside base58', 'solana-vm', `${solanaSignature.slice(0, -1)}0`],
  ])('%s are refused (%s)', (_why, vmType, transactionId) => {
    const codec = codecOf(mainNetwork(vmType))
    expect(() => codec.canonicalTransactionId(transactionId)).toThrow(InvalidTransactionIdError)
    expect(() => codec.encodeTransactionId(transactionId)).toThrow(InvalidTransactionIdError)
  })
})

test.each(vmTypes)('%s refuses empty and enormous strings at once', (vmType) => {
  const codec = codecOf(mainNetwork(vmType))
  // A decoder without a bound needs minutes for these: base58 takes time quadratic in the length.
  const enormous = ['1', 'a', 'T', 'bc1q', '0x', '9'].map((start) => start.padEnd(100_000, start.at(-1)))
  for (const text of ['', ...enormous, ...enormous.map((part) => part.repeat(10))]) {
    expect(codec.isAddress(text)).toBe(false)
    expect(() => codec.encodeAddress(text)).toThrow(InvalidAddressError)
    expect(() => codec.encodeCurrency(text)).toThrow(InvalidAddressError)
    expect(() => codec.canonicalAddress(text)).toThrow(InvalidAddressError)
    expect(() => codec.canonicalTransactionId(text)).toThrow(InvalidTransactionIdError)
    expect(() => codec.encodeTransactionId(text)).toThrow(InvalidTransactionIdError)
  }
})

test.each(vmTypes)('the registry has the codec of %s', (vmType) => {
  expect(codecOf(mainNetwork(vmType)).vmType).toBe(vmType)
})
