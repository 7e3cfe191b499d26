// Goal: a request is resolved into the operation that it is, executed by whom it must be, or refused by the member that is
// wrong. Method: requests that differ in a member or two from one that is taken.

import { quotingFamilies } from '@causeway/families/rules'
import { describe, expect, test } from 'vitest'
import {
  chainA,
  chainB,
  native,
  testChains,
  testConfig,
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
import { createRegistry, type QuoteRegistry } from '../registry.ts'
import { resolveRoute } from './route.ts'

const registry = registryWithRentChain()
const resolve = (change: object, using: QuoteRegistry = registry) => resolveRoute(using, quoteRequest(change))

const other = `0x${'77'.repeat(20)}`
const dead = `0x${'0'.repeat(36)}dead`
const alone = { destinationChainId: chainA }
const swap = { ...alone, destinationCurrency: usdx }
const appFees = [{ recipient: user, fee: '1' }]
const toNobody = { recipient: coin, destinationChainId: rentChain, destinationCurrency: coin }
const txs = [{ to: usdc, value: '0', data: '0x' }]

test.each([
  ['bridge', false, { destinationCurrency: usdc }],
  ['swap', false, { destinationCurrency: native }],
  ['bridge', false, { originCurrency: native, destinationCurrency: weth }],
  ['send', true, alone],
  ['send', true, { ...alone, originCurrency: native, destinationCurrency: native }],
  ['swap', true, swap],
  ['wrap', true, { ...alone, originCurrency: native, destinationCurrency: weth }],
  ['unwrap', true, { ...alone, originCurrency: weth, destinationCurrency: native }],
  ['swap', true, { ...alone, originCurrency: native, destinationCurrency: usdc }],
  ['swap', true, { ...alone, originCurrency: usdc, destinationCurrency: native }],
  ['swap', true, { ...alone, originCurrency: weth, destinationCurrency: tide }],
  ['swap', true, { ...alone, originCurrency: tide, destinationCurrency: weth }],
  ...[
    { forceSolverExecution: true },
    { usePermit: true },
    { useDepositAddress: true },
    { txs },
    { topupGas: true },
    { appFees },
  ].map((needed) => ['swap', false, { ...swap, ...needed }] as const),
  ['send', false, { ...alone, topupGas: true }],
  ['send', true, { ...alone, appFees }],
] as const)('Q-details-01: %s, alone %s: %j', (operation, selfExecuted, change) => {
  expect(resolve(change)).toMatchObject({ operation, selfExecuted })
})

test.each([
  ['whom the request names', { recipient: other, refundTo: other }, { recipient: other, refundTo: other }],
  ['the user, where it names nobody', { recipient: undefined }, { recipient: user, refundTo: undefined }],
  ['Q-65: the user as whoever pays', { refundTo: native }, { user, refundTo: user }],
  ['Q-158: nobody, for a price', { user: native, recipient: undefined }, { user: native, recipient: native }],
  [
    'Q-158: nobody, by the destination’s own word',
    { ...toNobody, user: native },
    { user: native, recipient: coin },
  ],
])('a route pays %s', (_whom, change, expected) => {
  expect(resolve(change)).toMatchObject(expected)
})

const disabled = (key: 'local-a' | 'local-b') => {
  const file = testConfig()
  const chain = file.chains[key]
  if (chain === undefined) throw new Error('the test configuration has changed')
  return createRegistry(
    { ...file, chains: { ...file.chains, [key]: { ...chain, enabled: false } } },
    testChains,
  )
}

describe('a refusal names the member that is wrong', () => {
  test.each<[string, object, QuoteRegistry]>([
    [
      'UNSUPPORTED_CHAIN {"field":"originChainId","chainId":5} originChainId 5 is not supported; see GET /chains.',
      { originChainId: 5 },
      registry,
    ],
    [
      'UNSUPPORTED_CHAIN {"field":"destinationChainId","chainId":5} destinationChainId 5 is not supported; see GET /chains.',
      { destinationChainId: 5 },
      registry,
    ],
    [
      `CHAIN_DISABLED {"field":"originChainId","chainId":${chainA}} originChainId ${chainA} is disabled at the moment.`,
      {},
      disabled('local-a'),
    ],
    [
      `CHAIN_DISABLED {"field":"destinationChainId","chainId":${chainB}} destinationChainId ${chainB} is disabled at the moment.`,
      {},
      disabled('local-b'),
    ],
    [
      `INVALID_INPUT_CURRENCY {"field":"originCurrency","chainId":${chainA}} originCurrency is not a known currency of chain ${chainA}; see POST /currencies/v2.`,
      { originCurrency: other },
      registry,
    ],
    [
      `INVALID_OUTPUT_CURRENCY {"field":"destinationCurrency","chainId":${chainB}} destinationCurrency is not a known currency of chain ${chainB}: expected 0x and 40 hex digits; see POST /currencies/v2.`,
      { destinationCurrency: 'usdc' },
      registry,
    ],
    [
      `INVALID_ADDRESS {"field":"user","chainId":${chainA},"vmType":"ethereum-vm"} user is not a valid address on chain ${chainA}.`,
      { user: 'me' },
      registry,
    ],
    [
      `INVALID_ADDRESS {"field":"user","chainId":${rentChain},"vmType":"solana-vm"} user has no key on chain ${rentChain}: it cannot sign.`,
      { user: account, originChainId: rentChain, originCurrency: coin },
      registryWithRentChain({
        ...quotingFamilies,
        'solana-vm': {
          ...rentFamily,
          bind: (chain) => ({ ...rentFamily.bind(chain), canSign: () => false }),
        },
      }),
    ],
    [
      `INVALID_ADDRESS {"field":"recipient","chainId":${rentChain},"vmType":"solana-vm"} recipient is required: user is not a valid address on chain ${rentChain}.`,
      { recipient: undefined, destinationChainId: rentChain, destinationCurrency: coin },
      registry,
    ],
    [
      `INVALID_ADDRESS {"field":"recipient","chainId":${chainB},"vmType":"ethereum-vm"} recipient is not a valid address on chain ${chainB}.`,
      { recipient: 'you' },
      registry,
    ],
    [
      `INVALID_RECIPIENT {"field":"recipient","chainId":${chainB}} recipient is the USDC token itself, on chain ${chainB}: name an account that somebody holds.`,
      { recipient: usdc },
      registry,
    ],
    ...[toNobody, { ...toNobody, user: dead, useDepositAddress: true }].map(
      (change): [string, object, QuoteRegistry] => [
        `INVALID_ADDRESS {"field":"recipient","chainId":${rentChain},"vmType":"solana-vm"} recipient is not a valid address on chain ${rentChain}.`,
        change,
        registry,
      ],
    ),
    [
      'INVALID_RECIPIENT {"field":"appFees.1.recipient"} appFees.1.recipient is an account that nobody holds, so nobody can claim the fee.',
      { appFees: [...appFees, { recipient: native, fee: '1' }] },
      registry,
    ],
    [
      `INVALID_RECIPIENT {"field":"appFees.1.recipient","chainId":${chainA}} appFees.1.recipient is the USDC token itself, on chain ${chainA}: name an account that somebody holds.`,
      { appFees: [...appFees, { recipient: usdc, fee: '1' }] },
      registry,
    ],
    [
      `INVALID_ADDRESS {"field":"refundTo","chainId":${chainA},"vmType":"ethereum-vm"} refundTo is not a valid address on chain ${chainA}.`,
      { refundTo: 'me' },
      registry,
    ],
    [
      `INVALID_RECIPIENT {"field":"refundTo","chainId":${chainA}} refundTo is an account that nobody holds: name one in refundTo.`,
      { refundTo: dead },
      registry,
    ],
    [
      `INVALID_RECIPIENT {"field":"refundTo","chainId":${chainA}} refundTo means whoever pays, and user is an account that nobody holds: name one in refundTo.`,
      { refundTo: native, user: native },
      registry,
    ],
    [
      `INVALID_RECIPIENT {"field":"refundTo","chainId":${chainA}} refundTo is the USDC token itself, on chain ${chainA}: name an account that somebody holds.`,
      { refundTo: usdc },
      registry,
    ],
  ])('%s', (expected, change, using) => {
    expect(refusalOf(() => resolve(change, using))).toBe(expected)
  })
})
