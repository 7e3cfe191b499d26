// Goal: a payee is asked about no more than its payment needs, one refusal is enough, and each is told with its facts. Method:
// one payee whose chain answers what a test says, and the questions that reach it.
import type { AccountLack } from '@causeway/families/rules'
import { describe, expect, test } from 'vitest'
import { chainA, native, recipient, testRegistry, usdc } from '../../../test/fixtures/market.ts'
import { refusalOf } from '../../../test/fixtures/quoteRequest.ts'
import { findCurrency } from '../registry.ts'
import { judgePayee, lackRefusal, type Payee, type PayeeAnswers, requirePayee } from './mayBePaid.ts'

const chain = testRegistry().chainById.get(chainA)
const currency = chain && findCurrency(chain, usdc)
if (chain === undefined || currency === undefined) throw new Error('it is listed')
const asksCode = { ...chain, quoting: { ...chain.quoting, paysTokensToCode: false } }

const payee: Payee = {
  what: 'claim',
  chain: asksCode,
  account: recipient,
  currency,
  amount: 1n,
  makesState: false,
  isNamed: true,
}
const deposits = { isDepositor: true } as const

/** The outcome for a payee, and the questions that its chain was asked. */
function judge(change: Partial<Payee> = {}, said: Partial<PayeeAnswers> = {}) {
  const asked: string[] = []
  const answers: PayeeAnswers = {
    hasCode: () => false,
    lackOf: () => ({}),
    tryPayment: () => ({ refusal: undefined, units: 9n }),
    ...said,
  }
  const recorded: PayeeAnswers = {
    hasCode: (question) => {
      asked.push('code')
      return answers.hasCode(question)
    },
    lackOf: (question) => {
      asked.push('lack')
      return answers.lackOf(question)
    },
    tryPayment: (question) => {
      asked.push('trial')
      return answers.tryPayment(question)
    },
  }
  const { refusal, lack, units } = judgePayee(recorded, { ...payee, ...change })
  return {
    outcome: typeof refusal === 'object' ? refusal.code : refusal,
    asked: asked.join(' '),
    lack,
    units,
  }
}

describe('a payee', () => {
  test.each<[string, Partial<Payee>, string]>([
    ['is asked about code, lack and trial', {}, 'code lack trial'],
    ['is not asked about code where code is paid', { chain }, 'lack trial'],
    ['is not asked what he lacks of a token that he deposits', deposits, 'code trial'],
    ['is asked what he lacks of coin', { ...deposits, currency: chain.native }, 'code lack trial'],
    ['has nothing tried where nobody names him', { isNamed: false }, 'code lack'],
    ['has nothing tried that pays nothing', { amount: 0n }, 'code lack'],
    ['is not asked about while nobody holds it', { account: native }, ''],
  ])('Q-62: %s', (_what, change, asked) => {
    const units = asked.includes('trial') ? 9n : undefined
    const lack = asked === '' ? undefined : {}
    expect(judge(change)).toEqual({ outcome: undefined, asked, lack, units })
  })

  test.each<[string, Partial<PayeeAnswers>, string]>([
    ['code says nothing', { hasCode: () => undefined }, 'silent'],
    ['lack says nothing', { lackOf: () => undefined }, 'silent'],
    ['a trial says nothing', { tryPayment: () => undefined }, 'silent'],
    [
      'code refuses, whatever is missing',
      { hasCode: () => true, lackOf: () => undefined },
      'RECIPIENT_HAS_CODE',
    ],
    [
      'a trial refuses, whatever is missing',
      { hasCode: () => undefined, tryPayment: () => ({ refusal: 'no' }) },
      'INVALID_RECIPIENT',
    ],
    [
      'lack refuses, whatever is missing',
      { lackOf: () => ({ isUnpayable: true }), tryPayment: () => undefined },
      'INVALID_RECIPIENT',
    ],
  ])('Q-60: is judged by a refusal first, then by silence: %s', (_what, said, outcome) => {
    expect(judge({}, said).outcome).toBe(outcome)
  })
})

test.each<[AccountLack, boolean, string | undefined]>([
  [{}, false, undefined],
  [
    { isUnpayable: true },
    true,
    `is no account of chain ${chainA}, and no payment makes it: open it there first`,
  ],
  [
    { isUncountable: true },
    true,
    'holds more USDC than can be counted exactly, so nobody can prove that it was paid: name another account',
  ],
  [{ refusal: 'is frozen' }, true, 'is frozen: name another account'],
  [{ accountFee: 1n, stateBytes: 1 }, true, undefined],
  [{ accountFee: 0n, stateBytes: 0 }, false, undefined],
  [
    { stateBytes: 1 },
    false,
    `has no account of USDC on chain ${chainA}, and this payment makes none: make it first, or name one that has it`,
  ],
])('Q-61: a payee that lacks %o, with its state made %s: %s', (lack, makesState, why) => {
  expect(lackRefusal(lack, { ...payee, makesState })).toBe(why)
})

test('Q-61: a payee whose first payment takes a fee opens its account first', () => {
  expect(lackRefusal({ accountFee: 1n }, payee)).toBe(
    `has no account on chain ${chainA} yet, and its first payment takes a fee that nobody is charged here: open it first, or name one that is there`,
  )
})

test.each<[string, Partial<Payee>, Partial<PayeeAnswers>, string]>([
  [
    'silence',
    {},
    { hasCode: () => undefined },
    `SERVICE_UNAVAILABLE {"chainId":${chainA},"reason":"recipient_unknown"} Chain ${chainA} did not say in time whether ${recipient} can be paid (named).`,
  ],
  [
    'code',
    {},
    { hasCode: () => true },
    `RECIPIENT_HAS_CODE {"field":"named","chainId":${chainA},"recipient":"${recipient}","payment":"claim"} named is no wallet on chain ${chainA}: USDC is paid to wallets only.`,
  ],
  [
    'a trial',
    {},
    { tryPayment: () => ({ refusal: 'is paused' }) },
    `INVALID_RECIPIENT {"field":"named","chainId":${chainA},"recipient":"${recipient}"} named is paused.`,
  ],
  [
    'an address alone',
    { account: usdc },
    {},
    `INVALID_RECIPIENT {"field":"named","chainId":${chainA},"recipient":"${usdc}"} named is the USDC token itself, on chain ${chainA}: name an account that somebody holds.`,
  ],
])('Q-60: a refusal by %s names the member and its facts', (_what, change, said, refusal) => {
  const answers: PayeeAnswers = {
    hasCode: () => false,
    lackOf: () => ({}),
    tryPayment: () => ({ refusal: undefined }),
    ...said,
  }
  expect(refusalOf(() => requirePayee(answers, { ...payee, ...change }, 'named'))).toBe(refusal)
})
