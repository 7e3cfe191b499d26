// Goal: what a route cannot do is refused by name before anything is priced, and nothing else is. Method: requests that
// differ in one member from one that is taken, over two EVM chains and a family with steps and 64-bit amounts.
import { quotingFamilies } from '@causeway/families/rules'
import { describe, expect, test } from 'vitest'
import {
  chainA,
  native,
  registryWithPermits,
  tide,
  usdc,
  usdx,
  user,
  weth,
} from '../../../test/fixtures/market.ts'
import { quoteRequest, refusalOf } from '../../../test/fixtures/quoteRequest.ts'
import {
  account,
  coin,
  registryWithRentChain,
  rentChain,
  rentFamily,
} from '../../../test/fixtures/rentFamily.ts'
import type { QuoteRegistry } from '../registry.ts'
import type { QuoteRequest } from '../request.ts'
import { type Route, resolveRoute } from '../routes/route.ts'
import { checkCarried, checkExecutionMode, refuseUnsupportedExecution } from './executionMode.ts'

const step = 1_000n
/** A family that moves its coin in steps, and whose transactions tell no calls apart. */
const registry = registryWithRentChain({
  ...quotingFamilies,
  'solana-vm': {
    ...rentFamily,
    bind: (chain) => ({
      ...rentFamily.bind(chain),
      tellsCallsApart: false,
      granularity: ({ isNative }) => (isNative ? step : 1n),
    }),
  },
})

function resolve(change: object, using: QuoteRegistry = registry): readonly [Route, QuoteRequest] {
  const request = quoteRequest(change)
  return [resolveRoute(using, request), request]
}

const toRent = { destinationChainId: rentChain, destinationCurrency: coin, recipient: account }
const fromRent = { originChainId: rentChain, originCurrency: coin, user: account }
const exactOut = { tradeType: 'EXACT_OUTPUT' }
const open = { useDepositAddress: true }
const strict = { ...open, strict: true, refundTo: user }
const txs = [{ to: usdc, value: '0', data: '0x' }]
const within = { destinationChainId: chainA }

describe('checkExecutionMode', () => {
  test.each<[string, object]>([
    ['a plain order', {}],
    ['calls', { txs }],
    ['an open deposit address', open],
    ['an open deposit address for a wrapped output', { ...open, destinationCurrency: weth }],
    [
      'an open deposit address for a swapped output, with refundTo',
      { ...open, destinationCurrency: usdx, refundTo: user },
    ],
    ['Q-205: a strict deposit address of an exact output', { ...strict, ...exactOut }],
    ['a strict deposit address of an input that is swapped first', { ...strict, originCurrency: tide }],
    ['an exact output of an input that is swapped first', { ...exactOut, originCurrency: tide }],
    ['a token’s own permit', { usePermit: true }],
    ['an input in steps', { ...fromRent, amount: '3000' }],
    ['an output in steps', { ...toRent, ...exactOut, amount: '3000' }],
    ['an input of another chain than the one with steps', { ...toRent, amount: '3001' }],
    ['an output of another chain than the one with steps', { ...fromRent, ...exactOut, amount: '3001' }],
  ])('takes %s', (_what, change) => {
    expect(refusalOf(() => checkExecutionMode(...resolve(change)))).toBeUndefined()
  })

  test.each<[object, string]>([
    [{ ...toRent, txs }, `EXTRA_TXS_NOT_SUPPORTED {"field":"txs"} Chain ${rentChain} cannot run txs.`],
    [
      { strict: true },
      'INVALID_REQUEST {"field":"strict"} strict is a kind of deposit address: it needs useDepositAddress.',
    ],
    [
      { ...open, ...fromRent },
      `UNSUPPORTED_EXECUTION_TYPE {"field":"useDepositAddress","chainId":${rentChain}} Chain ${rentChain} has no deposit addresses; leave useDepositAddress out.`,
    ],
    [{ ...open, txs }, 'EXTRA_TXS_NOT_SUPPORTED {"field":"txs"} A deposit address cannot carry txs.'],
    [
      { ...open, ...within },
      'UNSUPPORTED_ROUTE {"field":"useDepositAddress"} Nothing is exchanged: pay the recipient instead.',
    ],
    [
      { ...strict, ...exactOut, originCurrency: tide },
      'UNSUPPORTED_EXECUTION_TYPE {"field":"tradeType"} TIDE is swapped first, so a deposit address takes EXACT_INPUT or EXPECTED_OUTPUT of it.',
    ],
    [
      { ...open, ...exactOut },
      'UNSUPPORTED_EXECUTION_TYPE {"field":"tradeType"} Open deposit addresses take EXACT_INPUT or EXPECTED_OUTPUT; an exact output needs strict.',
    ],
    ...[
      { ...strict, refundTo: undefined },
      { ...open, destinationCurrency: usdx },
    ].map((change): [object, string] => [
      change,
      'INVALID_ADDRESS {"field":"refundTo"} A strict deposit address, and one whose output is swapped on the destination, needs refundTo.',
    ]),
    [
      { ...open, usePermit: true },
      'INVALID_REQUEST {"field":"usePermit"} usePermit and useDepositAddress exclude each other.',
    ],
    [
      { usePermit: true, originCurrency: usdx },
      `UNSUPPORTED_CURRENCY {"field":"usePermit","currency":"${usdx}"} USDX does not support permits.`,
    ],
    [
      { ...fromRent, amount: '3999' },
      `INVALID_REQUEST {"field":"amount","chainId":${rentChain},"amountInstead":"3000"} Transactions of chain ${rentChain} move COIN in multiples of 1000: ask for 3000.`,
    ],
    [
      { ...toRent, tradeType: 'EXPECTED_OUTPUT', amount: '3001' },
      `INVALID_REQUEST {"field":"amount","chainId":${rentChain},"amountInstead":"4000"} Transactions of chain ${rentChain} move COIN in multiples of 1000: ask for 4000.`,
    ],
  ])('Q-183, Q-205: refuses %j', (change, expected) => {
    expect(refusalOf(() => checkExecutionMode(...resolve(change)))).toBe(expected)
  })
})

describe('a permit', () => {
  test.each([
    [
      'on a chain without a router',
      { permitRouter: undefined },
      usdc,
      `UNSUPPORTED_EXECUTION_TYPE {"field":"usePermit","chainId":${chainA}} Permits are not relayed on chain ${chainA}.`,
    ],
    [
      'of a token that is swapped first',
      {},
      usdx,
      `UNSUPPORTED_ROUTE {"field":"usePermit","currency":"${usdx}"} USDX would be swapped first: send it.`,
    ],
    ['of a token that is swapped first, by Permit2', { permit2Router: usdc }, usdx, undefined],
    ['of a token without a permit, by Permit2', { permit2Router: usdc }, tide, undefined],
    [
      'of coin, by Permit2',
      { permit2Router: usdc },
      native,
      `UNSUPPORTED_CURRENCY {"field":"usePermit","currency":"${native}"} ETH does not support permits.`,
    ],
  ])('%s is taken or refused by its reason', (_what, change, originCurrency, expected) => {
    const [route, request] = resolve({ usePermit: true, originCurrency }, registryWithPermits(change))
    expect(refusalOf(() => checkExecutionMode(route, request))).toBe(expected)
  })

  test('within one chain needs a sponsor', () => {
    const quoted = (change: object, isSponsored: boolean) =>
      refusalOf(() => refuseUnsupportedExecution(...resolve(change), { isSponsored }))
    const swapped = { ...within, destinationCurrency: usdx }
    expect(quoted({ ...swapped, usePermit: true }, false)).toBe(
      'UNSUPPORTED_EXECUTION_TYPE {"field":"usePermit"} A permit on one chain needs a sponsor who pays.',
    )
    expect([
      quoted({ ...swapped, usePermit: true }, true),
      quoted(swapped, false),
      quoted({ usePermit: true }, false),
    ]).toEqual([undefined, undefined, undefined])
  })
})

test('F-146: what users do alone where nothing tells calls apart has a price and no quote', () => {
  const quoted = (change: object) =>
    refusalOf(() => refuseUnsupportedExecution(...resolve(change), { isSponsored: false }))
  expect(quoted({ ...fromRent, ...toRent })).toBe(
    `UNSUPPORTED_ROUTE {"field":"destinationChainId","chainId":${rentChain}} Within chain ${rentChain} you can be told a price only: nothing follows what users execute alone there.`,
  )
  expect([quoted(fromRent), quoted({ ...within, destinationCurrency: usdx })]).toEqual([undefined, undefined])
})

test('Q-183: either side carries the most of its family, and no unit more', () => {
  const most = 2n ** 64n - 1n
  const carried = (change: object, amountInMax: bigint, amountOut: bigint) =>
    refusalOf(() => checkCarried({ route: resolve(change)[0], amountInMax, amountOut }))
  const refused = `INVALID_REQUEST {"field":"amount","chainId":${rentChain},"maximumAmount":"${most}"} No transaction of chain ${rentChain} can carry this amount.`
  expect([carried(fromRent, most, most + 1n), carried(toRent, most + 1n, most)]).toEqual([
    undefined,
    undefined,
  ])
  expect([carried(fromRent, most + 1n, 1n), carried(toRent, 1n, most + 1n)]).toEqual([refused, refused])
})
