// Goal: a user is told to allow what the contract that takes his input may take, and nothing else, and other open quotes
// of his count against it. Method: the question about a user for each way of a deposit, and what is told to be spent.
import { describe, expect, test } from 'vitest'
import {
  chainA,
  depository,
  native,
  registryWithPermits,
  tide,
  usdc,
  user,
} from '../../test/fixtures/market.ts'
import { quoteRequest } from '../../test/fixtures/quoteRequest.ts'
import { planLegs } from './legs/planLegs.ts'
import { resolveRoute } from './routes/route.ts'
import { isHeld, takeAllowance, userQuestion } from './userQuestion.ts'

const permit2Router = `0x${'22'.repeat(20)}` as const
const nobody = `0x${'00'.repeat(20)}`
const payer = `0x${'9a'.repeat(20)}`

function asked(change: object, depositFeePayer?: string) {
  const request = { ...quoteRequest(change), depositFeePayer }
  const route = resolveRoute(registryWithPermits({ permit2Router }), request)
  return { request, route, question: userQuestion(route, planLegs(route, 'configured'), request) }
}

const config = registryWithPermits().chainById.get(chainA)?.config
const permit2 = '0x000000000022d473030f116ddee9f6b43ac78ba3'
const plain = { explicitDeposit: false }
const onOneChain = { destinationChainId: chainA, recipient: payer }

describe('the question about a user', () => {
  test.each<[string, object, string | undefined]>([
    ['a plain transfer needs no allowance', plain, undefined],
    ['an explicit deposit takes the input', {}, depository],
    ['a deposit with a swap goes through the router', { originCurrency: tide }, config?.depositRouter],
    [
      'a swap on one chain goes through the router',
      { ...onOneChain, destinationCurrency: native },
      config?.depositRouter,
    ],
    ['a transfer on one chain needs none', onOneChain, undefined],
    ['a permit of the token needs none', { usePermit: true }, undefined],
    ['Permit2 takes what has no permit', { usePermit: true, originCurrency: tide }, permit2],
    ['a deposit address needs none', { useDepositAddress: true }, undefined],
  ])('%s', (_what, change, spender) => {
    expect(asked(change).question.spender).toBe(spender)
  })

  test.each<[string, object, string | undefined, string | undefined]>([
    ['the user', {}, undefined, user],
    ['whom the request names', {}, payer, payer],
    ['nobody yet, for a placeholder', { user: nobody }, undefined, undefined],
    ['any wallet, to a deposit address', { useDepositAddress: true }, undefined, undefined],
  ])('fees are paid by %s', (_who, change, named, feePayer) => {
    expect(asked(change, named).question.feePayer).toBe(feePayer)
  })

  test('is of the input and its chain', () => {
    expect(asked({}).question).toMatchObject({ chainId: chainA, user, currency: usdc })
  })
})

test.each([
  [user, true],
  [nobody, false],
  ['0x000000000000000000000000000000000000dead', false],
])('%s is held: %s', (account, expected) => {
  expect(isHeld(asked({}).route.origin, account)).toBe(expected)
})

describe('an allowance', () => {
  function taken(change: object, openSpending: Parameters<typeof takeAllowance>[0]['openSpending']) {
    const { request, route, question } = asked(change)
    return takeAllowance({ openSpending }, { route, amountInMax: 1_010n }, request, question, 7n)
  }
  test('Q-53: is counted by holder, spender and purchase, at the most that is taken', () => {
    const told: object[] = []
    const others = taken({ user: user.toUpperCase().replace('0X', '0x') }, (spending) => {
      told.push(spending)
      return 3n
    })
    const { route, request } = asked({})
    const { destination, currencyOut, recipient } = route
    const purchase = `${destination.chainId} ${currencyOut.address} ${recipient} EXACT_INPUT ${request.amount}`
    const spending = { chainId: chainA, currency: usdc, spender: depository, user, purchase }
    expect(told).toEqual([{ ...spending, amount: 1_010n, allowance: 7n }])
    expect(others).toBe(3n)
  })

  test.each<[string, object, boolean]>([
    ['nothing is to be allowed', plain, true],
    ['nobody holds the input', { user: nobody }, true],
    ['open quotes are not counted', {}, false],
  ])('is not counted where %s', (_why, change, isCounted) => {
    const refuse = () => {
      throw new Error('it was counted')
    }
    expect(taken(change, isCounted ? refuse : undefined)).toBe(0n)
  })
})
