// Goal: a user signs the terms of his deposit and nothing else: the token's own permit where it has one that pays the
// depository, else Permit2, where somebody relays it. Method: whole terms of each kind.
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
import { quoteRequest } from '../../../test/fixtures/quoteRequest.ts'
import { findCurrency } from '../registry.ts'
import { permitKindOf, permitTerms, takesPermits } from './permit.ts'
import { resolveRoute } from './route.ts'

const permitRouter = registryWithPermits().chainById.get(chainA)?.config.permitRouter
const permit2Router = `0x${'22'.repeat(20)}` as const
const relayer = `0x${'f1'.repeat(20)}` as const
const orderId = `0x${'0d'.repeat(32)}` as const
const both = { permit2Router } as const
const neither = { permitRouter: undefined } as const

type Change = Parameters<typeof registryWithPermits>[0]

function chainWith(change: Change) {
  const chain = registryWithPermits(change).chainById.get(chainA)
  if (chain === undefined) throw new Error('no chain')
  return chain
}

test.each<[string, Change, string, string | undefined, boolean]>([
  ['a token with its own permit', {}, usdc, 'eip3009', true],
  ['a token with its own permit, beside Permit2', both, usdc, 'eip3009', true],
  ['a token with its own permit and no router for it', neither, usdc, undefined, false],
  [
    'a token with its own permit and the router of Permit2 alone',
    { ...neither, ...both },
    usdc,
    'permit2',
    false,
  ],
  ['a token with its own permit that is swapped first', {}, usdx, undefined, false],
  ['a token with its own permit that is swapped first, beside Permit2', both, usdx, 'permit2', false],
  ['a token without one', {}, tide, undefined, false],
  ['a token without one, beside Permit2', both, tide, 'permit2', false],
  ['a token without one that the solver takes', {}, weth, undefined, false],
  ['a token without one that the solver takes, beside Permit2', both, weth, 'permit2', false],
  ['coin', both, native, undefined, false],
])('%s has the permit that deposits it', (_what, change, address, kind, isOwn) => {
  const chain = chainWith(change)
  const currency = findCurrency(chain, address)
  if (currency === undefined) throw new Error('it is listed')
  expect([permitKindOf(chain, currency), takesPermits(chain, currency)]).toEqual([kind, isOwn])
})

describe('the terms that a user signs', () => {
  const call = { to: usdc, data: '0x', value: 1n } as const
  const domain = { name: 'Token', version: '2', chainId: chainA }

  const termsOf = (
    originCurrency: string,
    { change = {}, relay = relayer, expiry = 100 }: { change?: Change; relay?: string; expiry?: number },
    permit?: 'eip2612',
  ) => {
    const request = quoteRequest({ originCurrency, permitExpiry: expiry })
    const route = resolveRoute(registryWithPermits(change), request)
    const currencyIn = permit === undefined ? route.currencyIn : { ...route.currencyIn, permit }
    return permitTerms(
      { domainOf: async () => domain, nonceOf: async (_token, owner) => (owner === user ? 7n : 0n) },
      { route: { ...route, currencyIn }, amountIn: 90n, amountInMax: 95n },
      request,
      { orderId, nowSeconds: 1_000, deadlineSeconds: 1_600 },
      { from: relay === '' ? undefined : relay, calls: () => [call] },
    )
  }
  const deposit = { owner: user, orderId, deadlineSeconds: 1_100 }

  test('Q-191: are those of EIP-3009 for the amount, until the signature or the order ends', async () => {
    const terms = { ...deposit, token: usdc, amount: 90n, router: permitRouter, domain, kind: 'eip3009' }
    expect(await termsOf(usdc, {})).toEqual(terms)
    expect(await termsOf(usdc, { change: both })).toEqual(terms)
    expect(await termsOf(usdc, { expiry: 601 })).toEqual({ ...terms, deadlineSeconds: 1_600 })
  })

  test('Q-191: are those of EIP-2612 with the nonce of the owner', async () => {
    expect(await termsOf(usdc, {}, 'eip2612')).toEqual({
      ...deposit,
      token: usdc,
      amount: 90n,
      router: permitRouter,
      domain,
      kind: 'eip2612',
      nonce: 7n,
    })
  })

  test('Q-191: are those of Permit2 for the most, with the calls and who relays', async () => {
    expect(await termsOf(tide, { change: both })).toEqual({
      ...deposit,
      token: tide,
      amount: 95n,
      kind: 'permit2',
      chainId: chainA,
      router: permit2Router,
      relayer,
      calls: [call],
    })
  })

  test.each<[string, string, Change, string]>([
    ['nobody relays Permit2', tide, both, ''],
    ['a token has none', tide, {}, relayer],
    ['no router takes its own', usdc, neither, relayer],
  ])('are none where %s', async (_what, token, change, relay) => {
    await expect(termsOf(token, { change, relay })).rejects.toMatchObject({
      code: 'UNSUPPORTED_EXECUTION_TYPE',
      message: `Permits are not relayed on chain ${chainA}.`,
      data: { field: 'usePermit', chainId: chainA },
    })
  })
})
