import type { VmType } from '@causeway/core/encodings'
import { InvalidWithdrawRequestError } from '@causeway/core/encodings'
import { describe, expect, test } from 'vitest'
import { normaliseWithdrawRequest } from './withdrawRequest.ts'

// 2 ** 64, one above the largest uint64.
const tooLarge = '18446744073709551616'
const token = '0x6d1e7cde53ba9467b783cb7c530ce054'
const bitcoin = {
  depository: '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
  recipient: '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
}
const exchange = { depository: `0x${'11'.repeat(20)}`, recipient: `0x${'22'.repeat(20)}` }
const output = { txid: 'ab'.repeat(32), vout: 3, value: '70000' }
const requests = {
  'bitcoin-vm': {
    ...bitcoin,
    currency: 'bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8',
    own: { allocatorUtxos: [output], feeRate: 5 },
  },
  'hyperliquid-vm': {
    ...exchange,
    currency: token,
    own: { currencyHyperliquidSymbol: 'USDC', currentTime: 1 },
  },
  'lighter-vm': {
    depository: '460491',
    recipient: '462196',
    currency: '0',
    own: {
      nonce: 7,
      fromRouteType: 0,
      toRouteType: 1,
      apiKeyIndex: 4,
      usdcFee: 3,
      memo: 'ab',
      assetIndex: 3,
    },
  },
} satisfies Partial<Record<VmType, object>>

function normalise(vmType: keyof typeof requests, change: object, currency?: string) {
  const { own, ...plain } = requests[vmType]
  const additionalData = { [vmType]: { ...own, ...change } }
  const request = { ...plain, ...(currency !== undefined && { currency }), additionalData }
  return normaliseWithdrawRequest({ vmType, network: undefined }, request)
}

/** The field that is named where the request is refused. */
function refusedField(use: () => unknown): unknown {
  try {
    use()
    return 'none'
  } catch (error) {
    if (error instanceof InvalidWithdrawRequestError) return error.data['field']
    throw error
  }
}

describe('a refused withdraw request names the field', () => {
  test.each<[string, keyof typeof requests, object]>([
    ['feeRate', 'bitcoin-vm', { feeRate: tooLarge }],
    ['allocatorUtxos.value', 'bitcoin-vm', { allocatorUtxos: [{ ...output, value: tooLarge }] }],
    ['allocatorUtxos', 'bitcoin-vm', { allocatorUtxos: [output, output] }],
    ['currentTime', 'hyperliquid-vm', { currentTime: tooLarge }],
    ['currencyHyperliquidSymbol', 'hyperliquid-vm', { currencyHyperliquidSymbol: '' }],
    ['nonce', 'lighter-vm', { nonce: tooLarge }],
    ['fromRouteType', 'lighter-vm', { fromRouteType: tooLarge }],
    ['toRouteType', 'lighter-vm', { toRouteType: tooLarge }],
    ['apiKeyIndex', 'lighter-vm', { apiKeyIndex: tooLarge }],
    ['usdcFee', 'lighter-vm', { usdcFee: tooLarge }],
    ['assetIndex', 'lighter-vm', { assetIndex: tooLarge }],
    ['assetIndex', 'lighter-vm', { assetIndex: 1 }],
    ['memo', 'lighter-vm', { memo: 'hello' }],
    ['memo', 'lighter-vm', { memo: 'ab'.repeat(33) }],
  ])('%s of %s', (field, vmType, change) => {
    expect(refusedField(() => normalise(vmType, {}))).toBe('none')
    expect(refusedField(() => normalise(vmType, change))).toBe(field)
  })

  test('currency, where Bitcoin is asked for another', () => {
    expect(refusedField(() => normalise('bitcoin-vm', {}, bitcoin.recipient))).toBe('currency')
  })
})

test('two outputs of one transaction are two, as are outputs of the same place in two', () => {
  const elsewhere = [output, { ...output, vout: 4 }, { ...output, txid: 'cd'.repeat(32) }]
  expect(refusedField(() => normalise('bitcoin-vm', { allocatorUtxos: elsewhere }))).toBe('none')
})
