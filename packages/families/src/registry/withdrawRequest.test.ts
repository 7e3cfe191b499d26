// Payload parameters per family, and the requests that no allocator can pay.

import { ConfigurationError } from '@causeway/core'
import type { VmType } from '@causeway/core/encodings'
import {
  InvalidAddressError,
  InvalidTransactionIdError,
  InvalidWithdrawRequestError,
} from '@causeway/core/encodings'
import { encodeAbiParameters, parseAbiParameters } from 'viem'
import { describe, expect, test } from 'vitest'
import { repeated } from '../../../core/test/vectors/orders.ts'
import { normaliseWithdrawRequest } from './withdrawRequest.ts'

type Request = Parameters<typeof normaliseWithdrawRequest>[1]

const tronAccount = 'TXtEs6t2oUWQsNos7m68gbHdE9Q5n6x2oN'
const tronBytes = '0xf0623e1012177482912fb057e44e1a9769b1f588'
const usdcMint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const usdcBytes = 'c6fa7af3bedbad3a3d65f36aabc97431b1bbe4c2d2f6e0e47ca60203452f5d61'
const vault = '99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2'
const bitcoinDepository = '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'
const bitcoinRecipient = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'
const bitcoinNative = 'bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8'
const spotUsdc = '0x6d1e7cde53ba9467b783cb7c530ce054'
const hyperliquidNative = `0x${'00'.repeat(16)}`

const normalise = (vmType: VmType, request: Request, network?: string) =>
  normaliseWithdrawRequest({ vmType, network }, request)

test('ethereum-vm is in lower case', () => {
  const upper = `0x${'Ab'.repeat(20)}`
  expect(normalise('ethereum-vm', { depository: upper, currency: upper, recipient: upper })).toEqual({
    kind: 'withdraw-request',
    depository: repeated('ab', 20),
    currency: repeated('ab', 20),
    recipient: repeated('ab', 20),
    data: '0x',
  })
})

test('tron-vm is 20 bytes of hex, zero for TRX', () => {
  const native = 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb'
  expect(
    normalise('tron-vm', { depository: tronAccount, currency: native, recipient: tronAccount }),
  ).toMatchObject({
    depository: tronBytes,
    currency: repeated('00', 20),
    recipient: tronBytes,
    data: '0x',
  })
})

test.each([
  ['11111111111111111111111111111111', ''],
  [usdcMint, usdcBytes],
])('solana-vm: %s is "%s"', (currency, expected) => {
  expect(normalise('solana-vm', { depository: vault, currency, recipient: usdcMint })).toMatchObject({
    depository: vault,
    currency: expected,
    recipient: usdcBytes,
    data: '0x',
  })
})

describe('bitcoin-vm', () => {
  const txid = `${'ab'.repeat(31)}cd`
  const utxo = { txid, vout: 3, value: '70000' }
  const asked = (own: object = {}, request: Partial<Request> = {}): Request => ({
    depository: bitcoinDepository,
    currency: bitcoinNative,
    recipient: bitcoinRecipient,
    additionalData: { 'bitcoin-vm': { allocatorUtxos: [utxo], feeRate: 5, ...own } },
    ...request,
  })
  const utxosType = parseAbiParameters([
    '(Utxo[] utxos, uint64 feeRate)',
    'struct Utxo { bytes32 txid; uint32 index; uint64 value; bytes script; }',
  ])
  const script = '0x76a91462e907b15cbf27d5425399ebf6f0fb50ebb88f1888ac'

  test('has the script of the recipient, and the outputs to spend as data', () => {
    const second = { txid: txid.toUpperCase(), vout: 0, value: 1 }
    const normalised = normalise('bitcoin-vm', asked({ allocatorUtxos: [utxo, second] }))
    const littleEndian = `0xcd${'ab'.repeat(31)}` as const
    const utxos = [
      { txid: littleEndian, index: 3, value: 70_000n, script } as const,
      { txid: littleEndian, index: 0, value: 1n, script } as const,
    ]
    expect(normalised).toMatchObject({
      depository: bitcoinDepository,
      currency: bitcoinNative,
      recipient: Buffer.from('0014e8df018c7e326cc253faac7e46cdc51e68542c42', 'hex').toString('base64'),
      data: encodeAbiParameters(utxosType, [{ utxos, feeRate: 5n }]),
    })
  })

  test('knows the addresses of the chain’s network alone', () => {
    const regtest = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
    const request = asked({}, { depository: regtest, recipient: regtest })
    expect(normalise('bitcoin-vm', request, 'regtest').depository).toBe(regtest)
    expect(() => normalise('bitcoin-vm', request)).toThrow(InvalidAddressError)
    expect(() => normalise('bitcoin-vm', asked(), 'regtest')).toThrow(InvalidAddressError)
    expect(() => normalise('bitcoin-vm', asked(), 'moonnet')).toThrow(ConfigurationError)
    expect(() => normalise('bitcoin-vm', asked(), 'constructor')).toThrow(ConfigurationError)
  })

  test.each<[string, Request]>([
    [
      'no additional data',
      { depository: bitcoinDepository, currency: bitcoinNative, recipient: bitcoinRecipient },
    ],
    ['additional data of another family', asked({}, { additionalData: { 'lighter-vm': {} } })],
    ['no outputs to spend', asked({ allocatorUtxos: [] })],
    ['no fee rate', asked({ feeRate: undefined })],
    ['a negative fee rate', asked({ feeRate: -1 })],
    ['a fee rate above uint64', asked({ feeRate: '18446744073709551616' })],
    [
      'an output that is named twice',
      asked({ allocatorUtxos: [utxo, { ...utxo, txid: txid.toUpperCase() }] }),
    ],
    ['a value in satoshi and a half', asked({ allocatorUtxos: [{ ...utxo, value: 0.5 }] })],
    ['a currency that is an address', asked({}, { currency: bitcoinRecipient })],
  ])('is refused with %s', (_what, request) => {
    expect(() => normalise('bitcoin-vm', request)).toThrow(InvalidWithdrawRequestError)
  })

  test('is refused with an output of no transaction, and for a recipient that nobody is', () => {
    const short = asked({ allocatorUtxos: [{ ...utxo, txid: txid.slice(2) }] })
    expect(() => normalise('bitcoin-vm', short)).toThrow(InvalidTransactionIdError)
    expect(() => normalise('bitcoin-vm', asked({}, { recipient: bitcoinNative }))).toThrow(
      InvalidAddressError,
    )
  })
})

describe('hyperliquid-vm', () => {
  const own = { currencyHyperliquidSymbol: 'USDC', currentTime: 1_761_563_890_702 }
  const asked = (currency: string, change: object = {}): Request => ({
    depository: repeated('11', 20),
    currency,
    recipient: `0x${'Ab'.repeat(20)}`,
    additionalData: { 'hyperliquid-vm': { ...own, ...change } },
  })
  const time = 1_761_563_890_702n

  test.each<[string, string, string, readonly string[]]>([
    ['the native currency', hyperliquidNative, '', []],
    ['a spot token', spotUsdc.toUpperCase().replace('0X', '0x'), `USDC:${spotUsdc}`, ['spot', 'spot']],
    ['a token of a dex', `${spotUsdc}78797a`, `USDC:${spotUsdc}78797a`, ['xyz', 'xyz']],
  ])('spells %s as the exchange does', (_what, currency, expected, [source, destination]) => {
    const data =
      source === undefined || destination === undefined
        ? encodeAbiParameters(parseAbiParameters('uint64'), [time])
        : encodeAbiParameters(parseAbiParameters('uint64, string, string'), [time, source, destination])
    expect(normalise('hyperliquid-vm', asked(currency))).toMatchObject({
      depository: repeated('11', 20),
      currency: expected,
      recipient: repeated('ab', 20),
      data,
    })
  })

  test.each<[string, Request]>([
    ['no additional data, also for the native currency', { ...asked(hyperliquidNative), additionalData: {} }],
    ['no time', asked(spotUsdc, { currentTime: undefined })],
    ['a time with an exponent', asked(spotUsdc, { currentTime: '1e3' })],
    ['no symbol for a token', asked(spotUsdc, { currencyHyperliquidSymbol: '' })],
    [
      'a symbol that brings its own id',
      asked(spotUsdc, { currencyHyperliquidSymbol: `HYPE:0x${'0d'.repeat(16)}` }),
    ],
    ['a symbol with a space', asked(spotUsdc, { currencyHyperliquidSymbol: 'US DC' })],
  ])('is refused with %s', (_what, request) => {
    expect(() => normalise('hyperliquid-vm', request)).toThrow(InvalidWithdrawRequestError)
  })
})

describe('lighter-vm', () => {
  const own = {
    nonce: 7,
    fromRouteType: '0',
    toRouteType: 1,
    apiKeyIndex: 4,
    usdcFee: '3000000',
    memo: 'abcd',
    assetIndex: 3,
  }
  const asked = (change: object = {}, currency = '0'): Request => ({
    depository: '460491',
    currency,
    recipient: '462196',
    additionalData: { 'lighter-vm': { ...own, ...change } },
  })
  const dataType = parseAbiParameters('uint8, uint64, uint64, uint64, uint64, uint64, bytes32')

  test.each<[string, object, string, string, string, bigint]>([
    ['perps USDC', {}, '0', '3', 'abcd', 0n],
    ['spot USDC', { fromRouteType: 1, memo: '0xABCD' }, '3', '3', 'abcd', 1n],
    ['ether', { assetIndex: '1', fromRouteType: 1, memo: 'ab'.repeat(32) }, '1', '1', 'ab'.repeat(32), 1n],
  ])(
    'names %s by its index and pads the memo on the right',
    (_what, change, currency, index, memo, route) => {
      const data = encodeAbiParameters(dataType, [
        0,
        7n,
        route,
        1n,
        4n,
        3_000_000n,
        `0x${memo.padEnd(64, '0')}`,
      ])
      expect(normalise('lighter-vm', asked(change, currency))).toMatchObject({
        depository: '460491',
        currency: index,
        recipient: '462196',
        data,
      })
    },
  )

  test.each<[string, Request]>([
    ['no additional data', { depository: '1', currency: '0', recipient: '2' }],
    ['another asset than the currency', asked({ assetIndex: 1 })],
    ['USDC of the spot account for the native currency', asked({ fromRouteType: 1 })],
    ['USDC of the perps account for the spot one', asked({}, '3')],
    ['a memo that is no hex', asked({ memo: 'hello' })],
    ['a memo of half a byte', asked({ memo: 'abc' })],
    ['a nonce above uint64', asked({ nonce: '18446744073709551616' })],
    ['a missing nonce', asked({ nonce: undefined })],
  ])('P-116: is refused with %s', (_what, request) => {
    expect(() => normalise('lighter-vm', request)).toThrow(InvalidWithdrawRequestError)
  })

  test('names the limit of the memo', () => {
    expect(() => normalise('lighter-vm', asked({ memo: 'ab'.repeat(33) }))).toThrow(
      expect.objectContaining({
        code: 'INVALID_WITHDRAW_REQUEST',
        kind: 'invalid_request',
        message: 'The withdrawal request is invalid: the memo exceeds 32 bytes.',
        data: { reason: 'the memo exceeds 32 bytes', field: 'memo' },
      }),
    )
  })
})
