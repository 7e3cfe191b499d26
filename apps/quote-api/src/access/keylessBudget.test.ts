// Goal: what costs the operator money without a key ends at a stated number, of one caller and of all. Method: the budget
// by a clock that a test moves, and the routes that sign.
import { expect, onTestFinished, test } from 'vitest'
import { orderSigner, testApp } from '../../test/fixtures/app.ts'
import { chainA, chainB, recipient, usdc, user } from '../../test/fixtures/market.ts'
import { linkedKey, testApiKeys } from '../../test/fixtures/sponsor.ts'
import { createKeylessBudget, type KeylessBudget } from './keylessBudget.ts'

function budgetOf(limits: { readonly perCaller: number; readonly all: number }, more: object = {}) {
  const clock = { nowMs: 0 }
  const fixed = { bucket: 'signatures', what: 'signed orders', claim: undefined, now: () => clock.nowMs }
  return { clock, budget: createKeylessBudget({ ...fixed, limits, ...more }) }
}
const taken = (budget: KeylessBudget, ...callers: string[]) =>
  budget.take(callers).then(
    () => 'taken',
    ({ code, retryAfterSeconds }) => `${code} ${retryAfterSeconds}`,
  )

test('Q-43: a caller who spent his own takes nothing from others, and all together end as well', async () => {
  const { budget, clock } = budgetOf({ perCaller: 2, all: 4 })
  const of = (caller: string) => taken(budget, caller)
  expect([await of('a'), await of('a')]).toEqual(['taken', 'taken'])
  clock.nowMs = 15_000
  for (let again = 0; again < 10; again += 1) expect(await of('a')).toBe('KEYLESS_BUDGET_SPENT 45')
  expect([await of('b'), await of('c'), await of('d')]).toEqual(['taken', 'taken', 'KEYLESS_BUDGET_SPENT 45'])
  clock.nowMs = 60_000
  expect(await of('a')).toBe('taken')
})

test('Q-43: a wallet counts beside the network that asks for it', async () => {
  const { budget } = budgetOf({ perCaller: 1, all: 0 })
  expect(await taken(budget, 'ip 1', 'wallet w')).toBe('taken')
  expect(await taken(budget, 'ip 2', 'wallet w')).toBe('KEYLESS_BUDGET_SPENT 60')
})

test('Q-43: a process counts alone while the database does not answer, and 0 is without limit', async () => {
  const { budget } = budgetOf({ perCaller: 1, all: 0 }, { claim: () => Promise.reject(new Error('away')) })
  expect([await taken(budget, 'a'), await taken(budget, 'a')]).toEqual(['taken', 'KEYLESS_BUDGET_SPENT 60'])
  const { budget: free } = budgetOf({ perCaller: 0, all: 0 })
  for (let again = 0; again < 10; again += 1) expect(await taken(free, 'a')).toBe('taken')
})

test('Q-43: signatures that nobody paid for end with the budget, of one address and of all', async () => {
  let signed = 0
  const signer = {
    address: orderSigner,
    assertWorks: () => {},
    sign: async () => {
      signed += 1
      return `0x${'5'.repeat(130)}` as const
    },
  }
  const { budget } = budgetOf({ perCaller: 3, all: 5 })
  const app = await testApp({ apiKeys: testApiKeys, signer, signatureBudget: budget })
  onTestFinished(() => app.close())
  const ask = async (remoteAddress: string, change: object = {}, key?: string) => {
    const answer = await app.inject({
      method: 'POST',
      url: '/quote',
      remoteAddress,
      headers: key === undefined ? {} : { 'x-api-key': key },
      payload: {
        user,
        recipient,
        originChainId: chainA,
        destinationChainId: chainB,
        tradeType: 'EXACT_INPUT',
        originCurrency: usdc,
        destinationCurrency: usdc,
        amount: '50000000',
        includeProtocolData: true,
        ...change,
      },
    })
    return [answer.statusCode, answer.headers['retry-after']]
  }
  for (let again = 0; again < 3; again += 1) expect(await ask('198.51.100.1')).toEqual([200, undefined])
  for (let again = 0; again < 3; again += 1) expect(await ask('198.51.100.1')).toEqual([429, '60'])
  for (const address of ['198.51.100.2', '198.51.100.3']) expect((await ask(address))[0]).toBe(200)
  expect((await ask('198.51.100.4'))[0]).toBe(429)
  expect(signed).toBe(5)
  expect((await ask('198.51.100.4', {}, linkedKey))[0]).toBe(200)
  expect((await ask('198.51.100.4', { includeProtocolData: false }))[0]).toBe(200)
})
