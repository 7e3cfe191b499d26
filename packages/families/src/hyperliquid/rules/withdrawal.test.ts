// Vectors of the public protocol for hyperliquid-vm, currencies and amounts, and what is no send action.

import type { Hex } from '@causeway/core'
import { InvalidWithdrawalError } from '@causeway/core/encodings'
import fc from 'fast-check'
import { encodeAbiParameters, parseAbiParameters } from 'viem'
import { describe, expect, test } from 'vitest'
import { damaged, expectTypedOrSame } from '../../../../core/test/fixtures/hostileBytes.ts'
import { repeated } from '../../../../core/test/vectors/orders.ts'
import {
  decodeHyperliquidWithdrawal,
  encodeHyperliquidWithdrawal,
  type HyperliquidWithdrawal,
  hyperliquidWithdrawalId,
  type SendAsset,
  type UsdSend,
} from './withdrawal.ts'
import { hyperliquidWithdrawalCurrency, hyperliquidWithdrawalTransfer } from './withdrawalTransfer.ts'

const usdc = '0x6d1e7cde53ba9467b783cb7c530ce054'
const usdSend: UsdSend = {
  type: 'UsdSend',
  hyperliquidChain: 'Mainnet',
  destination: repeated('22', 20),
  amount: '100.00000000',
  time: 1_761_563_890_702n,
}
const sendAsset: SendAsset = {
  type: 'SendAsset',
  hyperliquidChain: 'Mainnet',
  destination: repeated('22', 20),
  sourceDex: 'spot',
  destinationDex: 'spot',
  token: `USDC:${usdc}`,
  amount: '100.00000000',
  fromSubAccount: '',
  nonce: 1_761_563_890_702n,
}

test.each<[string, HyperliquidWithdrawal, Hex]>([
  [
    'a send of USDC with few decimals',
    { ...usdSend, destination: repeated('9876543210', 4), amount: '123.45', time: 1_735_680_000_000n },
    '0x3998b4cc49505e4870cb0b1d202152489e8b4237342a705f37a3444c4a9418a1',
  ],
  ['a send of USDC', usdSend, '0x8a41106d639fa8146ae34b86dd3853f9de223f6ab362d5662b264cbe010ad3e4'],
  ['a send of an asset', sendAsset, '0xe2687c748f55ad52901e6f2768cfec3bf114f4be527d1856db404289e9a91d55'],
])('the id of %s is the published one, from its parts and from its bytes', (_what, withdrawal, id) => {
  expect(hyperliquidWithdrawalId(withdrawal)).toBe(id)
  const decoded = decodeHyperliquidWithdrawal(encodeHyperliquidWithdrawal(withdrawal))
  expect(decoded).toEqual(withdrawal)
  expect(hyperliquidWithdrawalId(decoded)).toBe(id)
})

describe('the currency', () => {
  test.each<[string, HyperliquidWithdrawal, string]>([
    ['of a send of USDC is the native one', usdSend, `0x${'00'.repeat(16)}`],
    ['of spot is the id of the token', sendAsset, usdc],
    ['is in lower case', { ...sendAsset, token: `USDC:0x${usdc.slice(2).toUpperCase()}` }, usdc],
    ['of the first perps dex is the native one', { ...sendAsset, sourceDex: '' }, `0x${'00'.repeat(16)}`],
    ['of another dex carries its name', { ...sendAsset, sourceDex: 'xyz' }, `${usdc}78797a`],
  ])('%s', (_what, withdrawal, currency) => {
    expect(hyperliquidWithdrawalCurrency(withdrawal)).toBe(currency)
  })

  test.each<[string, Partial<SendAsset>]>([
    ['another token of the first perps dex', { sourceDex: '', token: `HYPE:0x${'0d'.repeat(16)}` }],
    ['a token without an id', { token: 'USDC' }],
    ['a token without a symbol', { token: `:${usdc}` }],
    ['a token with two ids', { token: `USDC:${usdc}:${usdc}` }],
    ['a token of 20 bytes', { token: `USDC:${repeated('22', 20)}` }],
    ['a token with a line break', { token: `USDC:${usdc}\n` }],
    ['a dex of five letters', { sourceDex: 'abcde' }],
    ['a dex that is not ASCII', { sourceDex: 'é' }],
  ])('does not exist for %s', (_what, change) => {
    expect(() => hyperliquidWithdrawalCurrency({ ...sendAsset, ...change })).toThrow(InvalidWithdrawalError)
  })
})

describe('the payment', () => {
  test.each<[string, string, number, bigint]>([
    ['all decimals', '100.00000000', 8, 10_000_000_000n],
    ['few decimals', '123.45', 8, 12_345_000_000n],
    ['no point', '7', 8, 700_000_000n],
    ['more digits than a float has', '90071992.54740993', 8, 9_007_199_254_740_993n],
    ['a token of two decimals', '1.50000000', 2, 150n],
  ])('P-114: of an amount with %s is exact', (_what, amount, decimals, units) => {
    const transfer = hyperliquidWithdrawalTransfer({ ...sendAsset, amount }, decimals)
    expect(transfer).toEqual({ currency: usdc, amount: units, recipient: repeated('22', 20) })
  })

  test('goes to the destination in lower case', () => {
    const destination: Hex = `0x${'Ab'.repeat(20)}`
    expect(hyperliquidWithdrawalTransfer({ ...usdSend, destination }, 8).recipient).toBe(repeated('ab', 20))
  })

  test.each<[string, Partial<UsdSend>]>([
    ['a destination of 19 bytes', { destination: repeated('22', 19) }],
    ['a destination with a space', { destination: `${repeated('22', 20)} ` }],
    ['an amount in words', { amount: 'all' }],
    ['an amount with an exponent', { amount: '1e8' }],
    ['a negative amount', { amount: '-1.00000000' }],
    ['an amount finer than a unit', { amount: '0.000000001' }],
  ])('is refused with %s', (_what, change) => {
    expect(() => hyperliquidWithdrawalTransfer({ ...usdSend, ...change }, 8)).toThrow(InvalidWithdrawalError)
  })
})

describe('is refused', () => {
  const valid = encodeHyperliquidWithdrawal(usdSend)
  const withWord = (index: number, value: bigint): Hex => {
    const at = 2 + 64 * index
    return `0x${valid.slice(2, at)}${value.toString(16).padStart(64, '0')}${valid.slice(at + 64)}`
  }
  test.each<[string, string]>([
    ['nothing', '0x'],
    ['no prefix', valid.slice(2)],
    ['an unknown action', withWord(1, 2n)],
    ['the type of another action', withWord(1, 1n)],
    ['an enormous type', withWord(1, 2n ** 256n - 1n)],
    ['an enormous length of the parameters', withWord(3, 2n ** 256n - 1n)],
    ['a time above uint64', withWord(8, 2n ** 64n)],
    ['text that is no UTF-8', valid.replace(Buffer.from('Mainnet').toString('hex'), 'ff'.repeat(7))],
    ['a missing word', valid.slice(0, -64)],
    ['a tail', `${valid}${'00'.repeat(32)}`],
  ])('%s', (_what, bytes) => {
    // CAST: what arrives from outside before anything is known about it.
    expect(() => decodeHyperliquidWithdrawal(bytes as Hex)).toThrow(InvalidWithdrawalError)
  })
})

const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const text = fc.string({ maxLength: 70 })
const usdSends: fc.Arbitrary<UsdSend> = fc.record({
  type: fc.constant('UsdSend' as const),
  hyperliquidChain: text,
  destination: text,
  amount: text,
  time: uint64,
})
const sendAssets: fc.Arbitrary<SendAsset> = fc.record({
  type: fc.constant('SendAsset' as const),
  hyperliquidChain: text,
  destination: text,
  sourceDex: text,
  destinationDex: text,
  token: text,
  amount: text,
  fromSubAccount: text,
  nonce: uint64,
})
const actionType = parseAbiParameters('(uint8 txType, bytes parameters)')

test('bytes equal viem, and read back', () => {
  const usdSendType = parseAbiParameters(
    '(string hyperliquidChain, string destination, string amount, uint64 time)',
  )
  const sendAssetType = parseAbiParameters(
    '(string hyperliquidChain, string destination, string sourceDex, string destinationDex, string token, string amount, string fromSubAccount, uint64 nonce)',
  )
  fc.assert(
    fc.property(usdSends, sendAssets, (sent, asset) => {
      const [sentBytes, assetBytes] = [sent, asset].map(encodeHyperliquidWithdrawal)
      const sentParameters = encodeAbiParameters(usdSendType, [sent])
      expect(sentBytes).toBe(encodeAbiParameters(actionType, [{ txType: 0, parameters: sentParameters }]))
      const assetParameters = encodeAbiParameters(sendAssetType, [asset])
      expect(assetBytes).toBe(encodeAbiParameters(actionType, [{ txType: 1, parameters: assetParameters }]))
      expect(decodeHyperliquidWithdrawal(sentBytes ?? '0x')).toEqual(sent)
      expect(decodeHyperliquidWithdrawal(assetBytes ?? '0x')).toEqual(asset)
    }),
    { endOnFailure: true },
  )
})

test('2,000 hostile withdrawals are refused by name or read back as they came', () => {
  const valid = fc.oneof(usdSends, sendAssets).map(encodeHyperliquidWithdrawal)
  fc.assert(
    fc.property(damaged(valid), (bytes) => {
      expectTypedOrSame(bytes, () => encodeHyperliquidWithdrawal(decodeHyperliquidWithdrawal(bytes)))
      expectTypedOrSame(bytes, () => {
        hyperliquidWithdrawalTransfer(decodeHyperliquidWithdrawal(bytes), 8)
        return bytes
      })
    }),
    { numRuns: 2_000, endOnFailure: true },
  )
})
