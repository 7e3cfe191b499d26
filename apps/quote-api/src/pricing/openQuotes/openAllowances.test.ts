// Goal: whatever deposits of one holder's quotes come in whatever order, none fails for want of an allowance, and no
// stranger changes a step. Adversary: who quotes in somebody else's name, who floods, who lets quotes lie. Method: the
// memory itself, with time as an argument, beside a token that is paid from.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/fixtures/app.ts'
import { chainA, chainB, native, recipient, usdc, user } from '../../../test/fixtures/market.ts'
import { linkedKey, testApiKeys } from '../../../test/fixtures/sponsor.ts'
import { type AllowanceHold, createOpenAllowances, type OpenAllowances } from './openAllowances.ts'

const lifetimeSeconds = 60
type Asked = Partial<Parameters<AllowanceHold['take']>[0]> & { caller?: string; nowSeconds?: number }
let purchases = 0

/** A new quote is told what others take of what is allowed; by default 100 is allowed. */
function ask(
  quotes: OpenAllowances,
  amount: bigint,
  { caller = 'key a', nowSeconds = 0, ...more }: Asked = {},
) {
  const hold = quotes.hold(caller, { nowSeconds, expiresAtSeconds: nowSeconds + lifetimeSeconds })
  purchases += 1
  const purchase = `purchase ${purchases}`
  const where = { chainId: 10, currency: 'usdc', spender: 'depository', user: 'alice', purchase }
  return { others: hold.take({ ...where, allowance: 100n, amount, ...more }), release: hold.release }
}

describe('open quotes of one allowance', () => {
  test('Q-53: count until they expire, and not where they were not answered', () => {
    const quotes = createOpenAllowances()
    expect(ask(quotes, 60n).others).toBe(0n)
    expect(ask(quotes, 30n, { nowSeconds: 10 }).others).toBe(60n)
    const refused = ask(quotes, 5n, { nowSeconds: 61 })
    expect(refused.others).toBe(30n)
    refused.release()
    expect(ask(quotes, 1n, { nowSeconds: 61 }).others).toBe(30n)
  })

  test('Q-53: a quote that is priced twice counts once', () => {
    const quotes = createOpenAllowances()
    const hold = quotes.hold('key a', { nowSeconds: 0, expiresAtSeconds: 60 })
    const spending = { chainId: 10, currency: 'usdc', spender: 'depository', user: 'alice', allowance: 100n }
    expect(hold.take({ ...spending, purchase: 'one', amount: 60n })).toBe(0n)
    expect(hold.take({ ...spending, purchase: 'two', amount: 61n })).toBe(0n)
    expect(ask(quotes, 1n).others).toBe(61n)
  })

  test('Q-53: those that allow their own input ask for no more of another, until their approval stands', () => {
    const quotes = createOpenAllowances()
    for (const amount of [1n, 10n, 100n]) expect(ask(quotes, amount, { allowance: 0n }).others).toBe(0n)
    expect(ask(quotes, 50n, { allowance: 100n }).others).toBe(100n)
  })

  test('Q-53: a quote leaves others what they take, or all that stands where the rest is too little', () => {
    const quotes = createOpenAllowances()
    ask(quotes, 60n)
    expect(ask(quotes, 40n, { purchase: 'enough' }).others).toBe(60n)
    // One unit more needs an approve step, of all that stands and its own input.
    expect(ask(quotes, 41n, { purchase: 'enough' }).others).toBe(100n)
    // It may overwrite what stands at any time, until it does.
    const after = (allowance: bigint | undefined) => {
      const asked = ask(quotes, 1n, { allowance })
      asked.release()
      return asked.others
    }
    expect([after(100n), after(undefined), after(141n)]).toEqual([100n, 100n, 101n])
    // The step leaves what is allowed otherwise, until it sets a value of its own.
    expect(after(500n)).toBe(60n)

    const covered = createOpenAllowances()
    for (const amount of [60n, 40n]) ask(covered, amount)
    expect(ask(covered, 1n, { allowance: 500n }).others).toBe(100n)
    // Beside nobody there is nothing to leave.
    expect(ask(createOpenAllowances(), 101n).others).toBe(0n)
  })

  test('Q-80: an allowance that is not known has an approve step, and stands as it was last', () => {
    const quotes = createOpenAllowances()
    expect(ask(quotes, 60n, { allowance: undefined }).others).toBe(0n)
    expect(ask(quotes, 30n).others).toBe(0n)
    expect(ask(quotes, 5n, { allowance: undefined }).others).toBe(30n)
    expect(ask(quotes, 1n).others).toBe(100n)
  })

  test.each([
    ['asks in her name', { caller: 'ip 198.51.100.9' }],
    ['is somebody else of the same page', { user: 'bob' }],
    ['has a name that continues the one of a key', { caller: 'key aal', user: 'ice' }],
    ['pays another contract', { spender: 'router' }],
    ['pays another token', { currency: 'dai' }],
    ['pays on another chain', { chainId: 8_453 }],
  ])('Q-54: who %s changes nothing for a holder', (_what, other) => {
    const quotes = createOpenAllowances()
    for (let round = 0; round < 50; round += 1) ask(quotes, 10n ** 30n, other)
    expect(ask(quotes, 60n).others).toBe(0n)
  })

  test('Q-54: a flood of its holder is bounded, and the same purchase counts once', () => {
    const quotes = createOpenAllowances()
    for (let round = 0; round < 1_000; round += 1) ask(quotes, 1n, { allowance: 10_000n })
    expect(ask(quotes, 1n, { allowance: 10_000n }).others).toBe(15n)
    const page = createOpenAllowances()
    for (let round = 0; round < 10; round += 1)
      expect(ask(page, 60n, { purchase: 'the same', nowSeconds: round }).others).toBe(0n)
  })

  test('Q-55: whoever quotes in the name of a holder, with his key, makes him allow no more than stands', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: 1n, max: 10n ** 40n })), (amounts) => {
        const quotes = createOpenAllowances()
        for (const amount of amounts) ask(quotes, amount)
        expect(ask(quotes, 60n).others).toBeLessThanOrEqual(100n)
        expect(ask(quotes, 60n, { allowance: 0n }).others).toBe(0n)
      }),
    )
  })

  test('Q-56: one that was deposited is not counted beside what its deposit took', () => {
    const quotes = createOpenAllowances()
    ask(quotes, 60n)
    ask(quotes, 30n)
    expect(ask(quotes, 10n, { allowance: 40n }).others).toBe(30n)
    expect(ask(quotes, 5n, { allowance: undefined }).others).toBe(40n)
  })

  test('Q-56: a fall is explained by standing approvals first, then by the earliest quotes, also ended ones', () => {
    const approved = createOpenAllowances()
    ask(approved, 30n)
    expect(ask(approved, 71n).others).toBe(100n)
    expect(ask(approved, 1n, { allowance: 171n }).others).toBe(101n)
    expect(ask(approved, 1n, { allowance: 100n }).others).toBe(31n)

    // A step that is still pending has taken nothing.
    const pending = createOpenAllowances()
    for (const amount of [60n, 41n]) ask(pending, amount)
    expect(ask(pending, 1n, { allowance: 40n }).others).toBe(0n)

    const [early, late] = [createOpenAllowances(), createOpenAllowances()]
    for (const quotes of [early, late]) {
      ask(quotes, 30n)
      ask(quotes, 30n, { nowSeconds: 10 })
    }
    expect(ask(early, 1n, { allowance: 70n, nowSeconds: 20 }).others).toBe(30n)
    // The later of both is open still.
    expect(ask(early, 1n, { allowance: 70n, nowSeconds: 65 }).others).toBe(31n)
    expect(ask(late, 1n, { nowSeconds: 60 }).others).toBe(60n)
    expect(ask(late, 1n, { allowance: 70n, nowSeconds: 61 }).others).toBe(31n)
  })

  test('Q-53, Q-56: whoever pays his quotes in whatever order, and asks between, has every deposit go through', () => {
    const amount = fc.bigInt({ min: 1n, max: 50n })
    const act = fc.oneof(
      fc.record({ kind: fc.constant('ask' as const), amount }),
      fc.record({ kind: fc.constant('pay' as const), at: fc.nat(5) }),
    )
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 200n }), fc.array(act, { maxLength: 16 }), (start, acts) => {
        const quotes = createOpenAllowances()
        let allowance = start
        const open: { amount: bigint; approves: bigint | undefined }[] = []
        for (const next of acts) {
          if (next.kind === 'ask') {
            const all = ask(quotes, next.amount, { allowance }).others + next.amount
            open.push({ amount: next.amount, approves: allowance < all ? all : undefined })
          } else {
            const [paid] = open.splice(open.length === 0 ? 0 : next.at % open.length, 1)
            allowance = paid?.approves ?? allowance
            expect(allowance).toBeGreaterThanOrEqual(paid?.amount ?? 0n)
            allowance -= paid?.amount ?? 0n
          }
        }
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('a stranger', () => {
  const body = {
    user,
    recipient,
    originChainId: chainA,
    destinationChainId: chainB,
    tradeType: 'EXACT_INPUT',
    originCurrency: usdc,
    destinationCurrency: native,
  }

  test('Q-54: who names the user of a key gives him no approve step, and his own quote does', async () => {
    const app = await testApp({ facts: { allowance: 100_000_000n }, apiKeys: testApiKeys })
    const steps = async (amount: string, headers: Record<string, string> = {}) => {
      const response = await app.inject({
        method: 'POST',
        url: '/quote',
        payload: { ...body, amount },
        headers,
      })
      return response.json().steps.map(({ id }: { id: string }) => id)
    }
    const own = { 'x-api-key': linkedKey }
    for (const amount of ['50000000', '60000000', '70000000']) await steps(amount)
    expect(await steps('60000000', own)).toEqual(['deposit'])
    expect(await steps('60000000', own)).toEqual(['deposit'])
    const [one, other] = await Promise.all([steps('30000000', own), steps('20000000', own)])
    expect([one, other]).toEqual([['deposit'], ['approve', 'deposit']])
    await app.close()
  })
})
