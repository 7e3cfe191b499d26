// Goal: every way of a route is planned, and none that its chain or caller does not have. Method: the plans of a pair in
// words, over two chains that list five pools and six fee tiers.
import { describe, expect, test } from 'vitest'
import {
  chainA,
  chainB,
  native,
  testChains,
  testConfig,
  testRegistry,
  tide,
  usdc,
  usdx,
  weth,
} from '../../../test/fixtures/market.ts'
import { quoteRequest, refusalOf } from '../../../test/fixtures/quoteRequest.ts'
import { QuoteError } from '../errors.ts'
import { createRegistry, type QuoteRegistry } from '../registry.ts'
import { resolveRoute } from '../routes/route.ts'
import type { Leg, PoolScope } from './legs.ts'
import { adviseFallbacks, chooseRefusal, permittedPlans, planLegs, planSelfExecutedLegs } from './planLegs.ts'

const registry = testRegistry({ fallbackFeeTiers: [100, 3_000] })
const route = (
  originCurrency: string,
  destinationCurrency: string,
  change: object = {},
  using: QuoteRegistry = registry,
) => resolveRoute(using, quoteRequest({ originCurrency, destinationCurrency, ...change }))
const alone = { destinationChainId: chainA }

const legText = ({ kind, from, to, fallback }: Leg): string => {
  const by =
    fallback === undefined
      ? ''
      : 'via' in fallback
        ? ` via ${fallback.via.symbol}`
        : ` of ${fallback.feeTiers.join()}`
  return `${kind} ${from.symbol}->${to.symbol}${by}`
}
const plansOf = (of: ReturnType<typeof route>, scope: PoolScope = 'configured') =>
  planLegs(of, scope).map(({ origin, feeCurrency, payoutCurrency, destination }) =>
    [
      origin && legText(origin),
      `${feeCurrency.symbol} pays ${payoutCurrency.symbol}`,
      destination && legText(destination),
    ]
      .filter((part) => part !== undefined)
      .join(', '),
  )

/** Chain A with other settings. */
function registryWith(change: object): QuoteRegistry {
  const file = testConfig()
  const chain = file.chains['local-a']
  if (chain === undefined) throw new Error('the test configuration has changed')
  return createRegistry(
    { ...file, chains: { ...file.chains, 'local-a': { ...chain, ...change } } },
    testChains,
  )
}

const solves = (symbol: string, solver: boolean, asset?: string) => (currency: { symbol: string }) =>
  currency.symbol === symbol
    ? {
        ...currency,
        solver,
        targetShareBps: solver ? 5_000 : undefined,
        ...(asset !== undefined && { asset }),
      }
    : currency
const currencies = testConfig().chains['local-a']?.currencies ?? []
/** The solver keeps WETH instead of coin. */
const wrappedKept = registryWith({
  currencies: currencies.map(solves('ETH', false)).map(solves('WETH', true)),
})
/** WETH is an asset of its own. */
const wrappedApart = registryWith({ currencies: currencies.map(solves('WETH', false, 'tide')) })
/** USDX is another token of the asset that the solver keeps as USDC. */
const sameAsset = registryWith({ currencies: currencies.map(solves('USDX', false, 'usdc')) })
const coinAlone = registryWith({ currencies: currencies.filter(({ symbol }) => symbol !== 'WETH') })
const intoA = { originChainId: chainB, destinationChainId: chainA }

test.each<[string, ReturnType<typeof route>, readonly string[]]>([
  ['one asset', route(usdc, usdc), ['USDC pays USDC']],
  ['any currency of the asset that the solver takes', route(weth, usdc), ['WETH pays USDC']],
  ['an output that is wrapped', route(native, weth), ['ETH pays ETH, wrap ETH->WETH']],
  [
    'an output that is unwrapped',
    route(usdc, native, intoA, wrappedKept),
    ['USDC pays WETH, unwrap WETH->ETH'],
  ],
  [
    'a swap on the origin',
    route(tide, usdc),
    ['pool TIDE->ETH, ETH pays USDC', 'pool TIDE->USDC, USDC pays USDC'],
  ],
  ['a swap on the destination', route(usdc, usdx), ['USDC pays USDC, pool USDC->USDX']],
  ['a swap within one asset', route(usdc, usdx, intoA, sameAsset), ['USDC pays USDC, pool USDC->USDX']],
  [
    'swaps on both sides',
    route(tide, tide),
    [
      'pool TIDE->ETH, ETH pays ETH, pool ETH->TIDE',
      'pool TIDE->ETH, ETH pays USDC, pool USDC->TIDE',
      'pool TIDE->USDC, USDC pays ETH, pool ETH->TIDE',
      'pool TIDE->USDC, USDC pays USDC, pool USDC->TIDE',
    ],
  ],
])('plans over listed pools: %s', (_what, of, expected) => {
  expect(plansOf(of)).toEqual(expected)
  expect(planLegs(of, 'configured')).toBe(planLegs(of, 'configured'))
})

test.each<[string, ReturnType<typeof route>, readonly string[]]>([
  [
    'on the origin',
    route(tide, usdc),
    [
      'pool TIDE->ETH, ETH pays USDC',
      'pool TIDE->ETH of 100,3000, ETH pays USDC',
      'pool TIDE->ETH via USDC, ETH pays USDC',
      'pool TIDE->USDC, USDC pays USDC',
      'pool TIDE->USDC of 100, USDC pays USDC',
      'pool TIDE->USDC via WETH, USDC pays USDC',
    ],
  ],
  [
    'on the destination',
    route(usdc, usdx),
    [
      'USDC pays ETH, pool ETH->USDX of 100,3000',
      'USDC pays ETH, pool ETH->USDX via USDC',
      'USDC pays USDC, pool USDC->USDX',
      'USDC pays USDC, pool USDC->USDX of 3000',
    ],
  ],
  [
    'via coin, where its wrapped form is not listed',
    route(tide, usdc, {}, coinAlone),
    [
      'pool TIDE->ETH, ETH pays USDC',
      'pool TIDE->ETH via USDC, ETH pays USDC',
      'pool TIDE->USDC, USDC pays USDC',
      'pool TIDE->USDC via ETH, USDC pays USDC',
    ],
  ],
  [
    'never between coin and its wrapped form',
    route(usdc, weth, intoA, wrappedApart),
    ['USDC pays USDC, pool USDC->WETH', 'USDC pays USDC, pool USDC->WETH via TIDE'],
  ],
])('Q-179: plans over other pools too: %s', (_what, of, expected) => {
  expect(plansOf(of, 'fallbacks')).toEqual(expected)
})

describe('a user alone', () => {
  const legsOf = (of: ReturnType<typeof route>, scope: PoolScope = 'configured') =>
    planSelfExecutedLegs(of, scope).map(legText)
  const noRouter = registryWith({ depositRouter: undefined })

  test.each<[string, ReturnType<typeof route>, readonly string[]]>([
    ['wraps', route(native, weth, alone, noRouter), ['wrap ETH->WETH']],
    ['unwraps', route(weth, native, alone, noRouter), ['unwrap WETH->ETH']],
    ['swaps', route(usdx, usdc, alone), ['pool USDX->USDC']],
  ])('%s', (_what, of, legs) => {
    expect(legsOf(of)).toEqual(legs)
  })

  test('Q-179: swaps over other pools too', () => {
    expect(legsOf(route(usdx, usdc, alone), 'fallbacks')).toEqual([
      'pool USDX->USDC',
      'pool USDX->USDC of 3000',
    ])
  })

  test.each([
    ['no pool joins the two', route(usdx, tide, alone)],
    ['the chain has no router', route(usdx, usdc, alone, noRouter)],
  ])('swaps nothing where %s', (_why, of) => {
    expect(refusalOf(() => legsOf(of))).toMatch(/^NO_SWAP_ROUTES_FOUND/)
  })
})

test.each([
  [
    'no pool joins the output to what the solver keeps',
    route(usdc, usdx, intoA, registryWith({ uniswapV3: undefined })),
  ],
  ['the origin has no router', route(tide, usdc, {}, registryWith({ depositRouter: undefined }))],
])('nothing is planned where %s', (_why, of) => {
  const { currencyIn, currencyOut } = of
  for (const scope of ['configured', 'fallbacks'] as const)
    expect(refusalOf(() => planLegs(of, scope))).toBe(
      `NO_SWAP_ROUTES_FOUND ${JSON.stringify({ originCurrency: currencyIn.address, destinationCurrency: currencyOut.address })} No route from ${currencyIn.symbol} on chain ${currencyIn.chainId} to ${currencyOut.symbol} on chain ${currencyOut.chainId}.`,
    )
})

describe('the swaps that a caller permits', () => {
  const all = { isOriginDisabled: false, hasOriginSource: true, hasDestinationSource: true }
  const permits = (of: ReturnType<typeof route>, change: object) =>
    permittedPlans(planLegs(of, 'fallbacks'), { ...all, ...change }).length
  const [direct, wrapped, onOrigin, onDestination] = [
    route(usdc, usdc),
    route(usdc, weth),
    route(tide, usdc),
    route(usdc, usdx),
  ]

  test('leave plans without pools', () => {
    const none = { isOriginDisabled: true, hasOriginSource: false, hasDestinationSource: false }
    expect([permits(direct, none), permits(wrapped, none)]).toEqual([1, 1])
    expect(permittedPlans(planLegs(onOrigin, 'configured'), undefined)).toHaveLength(2)
  })

  test('leave the pools of the other side', () => {
    expect(permits(onOrigin, { hasDestinationSource: false })).toBe(6)
    expect(permits(onDestination, { hasOriginSource: false })).toBe(4)
    expect(permits(onDestination, { isOriginDisabled: true })).toBe(4)
  })

  const onlySource =
    'NO_SWAP_ROUTES_FOUND {"field":"includedSwapSources","source":"uniswap-v3"} The only source of swaps is uniswap-v3.'
  test.each<[ReturnType<typeof route>, object, string]>([
    [
      onOrigin,
      { isOriginDisabled: true },
      'UNSUPPORTED_ROUTE {"field":"disableOriginSwaps"} The input needs a swap on its own chain.',
    ],
    [onOrigin, { hasOriginSource: false }, onlySource],
    [onDestination, { hasDestinationSource: false }, onlySource],
    [onDestination, { hasDestinationSource: false, isOriginDisabled: true }, onlySource],
  ])('are named where they leave none', (of, change, refusal) => {
    expect(refusalOf(() => permits(of, change))).toBe(refusal)
  })
})

describe('a refusal for want of a pool', () => {
  const refused = (data: object, code: 'NO_SWAP_ROUTES_FOUND' | 'AMOUNT_TOO_LOW' = 'NO_SWAP_ROUTES_FOUND') =>
    new QuoteError(code, 'None.', { data: { ...data } })
  const onOrigin = route(tide, usdc)
  const advised = (
    of: ReturnType<typeof route>,
    refusal: QuoteError,
    swaps?: Parameters<typeof permittedPlans>[1],
  ) => adviseFallbacks(refusal, { route: of, swaps })

  test('Q-8: is told that other pools may help, with what it said', () => {
    const leg = { leg: 'TIDE->USDC', chainId: chainA }
    for (const data of [leg, {}]) {
      const { message, data: told } = advised(onOrigin, refused(data))
      expect([message, told]).toEqual([
        'None. useFallbacks: true also tries other pools.',
        { ...data, field: 'useFallbacks' },
      ])
    }
    expect(advised(route(usdx, tide, alone), refused({})).data).toEqual({ field: 'useFallbacks' })
  })

  test.each<[string, ReturnType<typeof route>, QuoteError, Parameters<typeof permittedPlans>[1]?]>([
    ['another refusal', onOrigin, refused({}, 'AMOUNT_TOO_LOW')],
    ['a choice of the caller', onOrigin, refused({ field: 'includedSwapSources' })],
    ['a leg that has no other pools', onOrigin, refused({ leg: 'TIDE->USDX', chainId: chainA })],
    ['the same leg on another chain', onOrigin, refused({ leg: 'TIDE->USDC', chainId: chainB })],
    ['a route that swaps nothing', route(usdc, usdc), refused({})],
    [
      'a route without a plan',
      route(tide, usdc, {}, registryWith({ depositRouter: undefined })),
      refused({}),
    ],
    [
      'pools that the caller does not want',
      onOrigin,
      refused({}),
      { isOriginDisabled: false, hasOriginSource: false, hasDestinationSource: true },
    ],
  ])('Q-8: is left as it is: %s', (_what, of, refusal, swaps) => {
    expect(advised(of, refusal, swaps)).toBe(refusal)
  })

  test('is chosen last among refusals', () => {
    const [missing, first, second] = [
      refused({}),
      refused({}, 'AMOUNT_TOO_LOW'),
      refused({}, 'AMOUNT_TOO_LOW'),
    ]
    expect(chooseRefusal(undefined, missing)).toBe(missing)
    expect(chooseRefusal(missing, first)).toBe(first)
    expect(chooseRefusal(first, missing)).toBe(first)
    expect(chooseRefusal(first, second)).toBe(first)
  })
})
