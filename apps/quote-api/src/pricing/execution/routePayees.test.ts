// Goal: each payee of a route is asked about once, for what it gets, and the order refunds whom the rules name. Method: every
// question that reaches the chains, and the outcome, for requests that differ in a member or two.
import { describe, expect, test } from 'vitest'
import {
  chainA,
  chainB,
  native,
  recipient,
  testChainMarket,
  testSnapshot,
  tide,
  usdc,
  user,
} from '../../../test/fixtures/market.ts'
import { quoteRequest, refusalOf } from '../../../test/fixtures/quoteRequest.ts'
import { account, coin, registryWithRentChain, rentChain } from '../../../test/fixtures/rentFamily.ts'
import { planLegs } from '../legs/planLegs.ts'
import type { PayeeAnswers } from '../routes/mayBePaid.ts'
import { resolveRoute } from '../routes/route.ts'
import { earlyQuestions, judgePayees, unitsBeyondPlain } from './routePayees.ts'

const other = `0x${'77'.repeat(20)}`
const dead = `0x${'0'.repeat(36)}dead`
const names = new Map([
  [user, 'user'],
  [recipient, 'recipient'],
  [other, 'other'],
  [dead, 'dead'],
  [native, 'nobody'],
  [account, 'abroad'],
])
const registry = registryWithRentChain()
const snapshot = testSnapshot({})
const onChain = (chainId: number) => (chainId === chainA ? 'A' : 'B')

/** Answers that let everybody be paid, but for those that a test names by their question. */
function answersOf(said: Readonly<Record<string, unknown>>) {
  const asked: string[] = []
  const answer = (question: string, usual: unknown) => {
    asked.push(question)
    return question in said ? said[question] : usual
  }
  // CAST: a test names answers of the right form.
  const answers = {
    hasCode: ({ chainId, account }) => answer(`code ${onChain(chainId)} ${names.get(account)}`, false),
    lackOf: ({ chainId, account, currency }) =>
      answer(
        `lack ${onChain(chainId)} ${names.get(account)}${[native, coin].includes(currency) ? ' coin' : ''}`,
        {},
      ),
    tryPayment: ({ chain, account, amount, currency }) =>
      answer(
        `pay ${onChain(chain.chainId)} ${names.get(account)} ${amount}${currency.isNative ? ' coin' : ''}`,
        { refusal: undefined },
      ),
  } as PayeeAnswers
  return { answers, asked }
}

function inputsOf(change: object) {
  const request = quoteRequest(change)
  const route = resolveRoute(registry, request)
  return { request, route, plans: planLegs(route, 'configured'), snapshot }
}

type Priced = Parameters<typeof judgePayees>[2]

function judge(change: object, said: Readonly<Record<string, unknown>> = {}, priced: Partial<Priced> = {}) {
  const inputs = inputsOf(change)
  const { answers, asked } = answersOf(said)
  const solver = { depositAmount: 990n, topup: undefined }
  const { refundAccounts, units } = judgePayees(answers, inputs, {
    amountOut: 980n,
    feeCurrency: inputs.route.currencyIn,
    solver,
    ...priced,
  })
  return {
    refunds: refundAccounts.map((account) => names.get(account)).join(' '),
    units,
    asked: [...asked].sort(),
  }
}

const topup = { currency: inputsOf({}).route.destination.native, amountWei: 5n, valueInFeeCurrency: 1n }
const withTopup = { solver: { depositAmount: 990n, topup } }
const toRent = { recipient: account, destinationChainId: rentChain, destinationCurrency: coin }
const call = { to: usdc, value: '0', data: '0x' }
const toRecipient = ['lack B recipient', 'pay B recipient 980']
const asCandidate = ['code A recipient', 'code B recipient', 'lack A recipient', 'pay A recipient 990']
const toOther = ['lack A other', 'pay A other 990']
const toUser = ['pay A user 990']

describe('the accounts of an order', () => {
  test.each<[string, object, string, readonly string[], Partial<Priced>?]>([
    ['recipient, else user', {}, 'recipient user', [...asCandidate, ...toRecipient, ...toUser]],
    ['user, where nobody is named and nothing is tried', { recipient: undefined }, 'user', ['lack B user']],
    ['user, where he is named', { recipient: user }, 'user', ['lack B user', ...toUser, 'pay B user 980']],
    ['refundTo, else user', { refundTo: other }, 'other user', [...toOther, ...toRecipient, ...toUser]],
    [
      'refundTo, where nobody receives',
      { refundTo: other, recipient: undefined },
      'other user',
      [...toOther, 'lack B user', ...toUser],
    ],
    ['refundTo as user', { refundTo: user }, 'user', [...toRecipient, ...toUser, ...toUser]],
    [
      'refundTo alone of a deposit address',
      { refundTo: other, useDepositAddress: true },
      'other',
      [...toOther, ...toRecipient, ...toUser],
    ],
    [
      'recipient alone of a deposit address',
      { useDepositAddress: true },
      'recipient',
      [...asCandidate, ...toRecipient, ...toUser],
    ],
    ['user for a burnt recipient', { recipient: dead }, 'user', ['lack B dead', 'pay B dead 980', ...toUser]],
    ['recipient for a burnt user', { user: dead }, 'recipient', [...asCandidate, ...toRecipient]],
    ['refundTo for a burnt user', { user: dead, refundTo: other }, 'other', [...toOther, ...toRecipient]],
    [
      'a user who may lack coin',
      { originCurrency: native, recipient: undefined },
      'user',
      ['lack A user coin', 'lack B user'],
    ],
    [
      'a recipient whose calls get the output, and who gets a top-up',
      { txs: [call], refundTo: user },
      'user',
      ['lack B recipient', 'lack B recipient coin', 'pay B recipient 5 coin', ...toUser, ...toUser],
      withTopup,
    ],
    [
      'a top-up for whom nobody named',
      { recipient: undefined },
      'user',
      ['lack B user', 'lack B user coin'],
      withTopup,
    ],
    ['nobody, where no solver pays', {}, '', [], { solver: undefined }],
  ])('Q-62, Q-63, Q-64: %s', (_what, change, refunds, asked, priced) => {
    const outcome = judge(change, {}, priced)
    expect(outcome).toMatchObject({ refunds, asked: [...asked].sort() })
    expect(outcome.units).toMatchObject({ payeeUnits: 0n, refundUnits: 0n })
  })

  const no = { refusal: 'is paused' }
  const codeAbroad = { 'code B recipient': true }
  test.each<[string, object, Readonly<Record<string, unknown>>, string]>([
    ['recipient cannot be paid', {}, { 'pay A recipient 990': no }, 'user'],
    ['recipient has code on the destination alone', {}, codeAbroad, 'user'],
    ['recipient has code on both', {}, { ...codeAbroad, 'code A recipient': true }, 'recipient user'],
    ['user cannot be paid', {}, { 'pay A user 990': no }, 'recipient'],
    ['the chain is silent about user, who is second', {}, { 'pay A user 990': undefined }, 'recipient'],
    [
      'the fill makes the state that recipient lacks',
      {},
      { 'lack B recipient': { stateBytes: 1 } },
      'recipient user',
    ],
    [
      'user lacks his account of coin, since he deposits',
      { originCurrency: native, recipient: undefined },
      { 'lack A user coin': { accountFee: 1n } },
      'user',
    ],
    ['user is not asked about and is alone', { user: dead, recipient: dead }, {}, 'dead'],
  ])('Q-63, Q-64: a refund where %s', (_what, change, said, refunds) => {
    expect(judge(change, said).refunds).toBe(refunds)
  })

  const facts = (account: string) => `"chainId":${chainA},"recipient":"${account}"`
  const silence = (account: string) =>
    `SERVICE_UNAVAILABLE {"chainId":${chainA},"reason":"recipient_unknown"} Chain ${chainA} did not say in time whether ${account} can be paid (refundTo).`
  const refundRefused = `INVALID_RECIPIENT {"field":"refundTo",${facts(other)},"refundToInstead":"${user}"} refundTo is paused.`
  const userRefused = `INVALID_RECIPIENT {"field":"refundTo",${facts(user)}} refundTo is missing, and user is paused.`
  test.each<[string, object, Readonly<Record<string, unknown>>, string]>([
    ['refundTo', { refundTo: other }, { 'pay A other 990': no }, refundRefused],
    [
      'refundTo and user',
      { refundTo: other },
      { 'pay A other 990': no, 'pay A user 990': no },
      `INVALID_RECIPIENT {"field":"refundTo",${facts(other)}} refundTo is paused.`,
    ],
    [
      'refundTo of a burnt user',
      { refundTo: other, user: dead },
      { 'pay A other 990': no },
      `INVALID_RECIPIENT {"field":"refundTo",${facts(other)}} refundTo is paused.`,
    ],
    [
      'refundTo, which is user',
      { refundTo: user },
      { 'pay A user 990': no },
      `INVALID_RECIPIENT {"field":"refundTo",${facts(user)}} refundTo is paused.`,
    ],
    ['recipient and user', {}, { 'pay A recipient 990': no, 'pay A user 990': no }, userRefused],
    ['user, who is alone', { recipient: user }, { 'pay A user 990': no }, userRefused],
    ['silence about recipient', {}, { 'pay A recipient 990': undefined }, silence(recipient)],
    ['silence about code on the destination', {}, { 'code B recipient': undefined }, silence(recipient)],
    ['silence about code on the origin', {}, { 'code A recipient': undefined }, silence(recipient)],
    [
      'the recipient of the output',
      {},
      { 'pay B recipient 980': no },
      `INVALID_RECIPIENT {"field":"recipient","chainId":${chainB},"recipient":"${recipient}"} recipient is paused.`,
    ],
    [
      'user as the recipient',
      { recipient: undefined },
      { 'lack B user': { isUnpayable: true } },
      `INVALID_RECIPIENT {"field":"user","chainId":${chainB},"recipient":"${user}"} user is no account of chain ${chainB}, and no payment makes it: open it there first.`,
    ],
    [
      'a refund account that nobody was charged to make',
      { refundTo: other },
      { 'lack A other': { stateBytes: 1 } },
      `INVALID_RECIPIENT {"field":"refundTo",${facts(other)},"refundToInstead":"${user}"} refundTo has no account of USDC on chain ${chainA}, and this payment makes none: make it first, or name one that has it.`,
    ],
  ])('Q-61, Q-63: refuse a route by %s', (_what, change, said, refusal) => {
    expect(refusalOf(() => judge(change, said))).toBe(refusal)
  })
})

test('Q-48: a fill is charged for all of its payees, a refund for the dearest of its own', () => {
  const takes = (units: bigint) => ({ refusal: undefined, units })
  const said = {
    'pay B recipient 980': takes(40_100n),
    'pay B recipient 5 coin': takes(41_000n),
    'pay A recipient 990': takes(50_000n),
    'pay A user 990': takes(60_000n),
  }
  // Beyond the 40,000 of a plain payment, and a tenth.
  expect(judge({}, said, withTopup).units).toEqual({ payeeUnits: 1_210n, refundUnits: 22_000n })
})

test('Q-48: a payment is charged beyond a plain one of its own kind and lack', () => {
  const { destination: chain, currencyOut: currency } = inputsOf({}).route
  const beyond = (judged: Parameters<typeof unitsBeyondPlain>[1]['judged'], of = snapshot) =>
    unitsBeyondPlain(of, { kind: 'fill', chain, currency, judged })
  expect([
    beyond(undefined),
    beyond({ lack: {}, units: undefined }),
    beyond({ lack: undefined, units: 39_999n }),
    beyond({ lack: {}, units: 40_000n }),
    beyond({ lack: {}, units: 40_001n }),
    beyond({ lack: {}, units: 40_010n }),
  ]).toEqual([0n, 0n, 0n, 0n, 2n, 11n])

  const market = testChainMarket(chainB)
  const charging = (gasOf: typeof market.fees.gasOf) =>
    testSnapshot({ chains: [{ ...market, fees: Object.assign(Object.create(market.fees), { gasOf }) }] })
  const byState = charging(({ lack }) => {
    const expected = lack?.stateBytes === 1 ? 90_000n : 40_000n
    return { expected, limit: expected }
  })
  expect([
    beyond({ lack: { stateBytes: 1 }, units: 100_000n }, byState),
    beyond({ lack: undefined, units: 100_000n }, byState),
    beyond(
      { lack: {}, units: 100_000n },
      charging(() => undefined),
    ),
  ]).toEqual([11_000n, 66_000n, 110_000n])
})

describe('before a price is known', () => {
  const early = (change: object, more: (inputs: ReturnType<typeof inputsOf>) => object = () => ({})) => {
    const inputs = inputsOf(change)
    const { answers, asked } = answersOf({})
    for (const ask of earlyQuestions(answers, { ...inputs, ...more(inputs) })) ask()
    return asked
  }

  test.each<[string, object, readonly string[]]>([
    ['the recipient is asked about twice', {}, ['lack B recipient', 'lack A recipient']],
    ['refundTo is asked about', { refundTo: other }, ['lack B recipient', 'lack A other']],
    ['user is asked about', { recipient: undefined }, ['lack B user', 'lack A user']],
    ['user is asked about for a burnt recipient', { recipient: dead }, ['lack B dead', 'lack A user']],
    ['user is asked about for a recipient of another family', toRent, ['lack B abroad coin', 'lack A user']],
    ['one plan is guessed', { originCurrency: tide }, ['lack B recipient', 'lack A recipient coin']],
    ['nobody is not asked about', { user: native, recipient: undefined }, []],
  ])('Q-84: %s', (_what, change, asked) => {
    expect(early(change)).toEqual(asked)
  })

  test('code is asked about where it is refused', () => {
    const refusesCode = ({ route }: ReturnType<typeof inputsOf>) => ({
      route: {
        ...route,
        destination: {
          ...route.destination,
          quoting: { ...route.destination.quoting, paysTokensToCode: false },
        },
      },
    })
    expect(early({}, refusesCode)).toEqual(['lack B recipient', 'code B recipient', 'lack A recipient'])
  })

  test('nobody is refunded where no solver pays', () => {
    expect(early({}, () => ({ plans: [] }))).toEqual(['lack B recipient'])
  })
})

test('a route that its user executes alone has no payee', () => {
  const inputs = { ...inputsOf({}), plans: [] }
  const { answers, asked } = answersOf({})
  const priced = { amountOut: 1n, feeCurrency: inputs.route.currencyIn, solver: { depositAmount: 1n, topup } }
  expect(judgePayees(answers, inputs, priced).refundAccounts).toEqual([])
  expect(asked).toEqual([])
})
