// Goal: an order names for its refund whom the caller wants, and else who can take it: never an account that is a contract on
// the other chain alone, never the native id. Method: /quote over a fixed market, with chains that say what a test lets
// them say of accounts.
import { describe, expect, onTestFinished, test } from 'vitest'
import { type TestAppOptions, testApp } from '../../../test/fixtures/app.ts'
import { chainA, chainB, depository, native, recipient, usdc, user } from '../../../test/fixtures/market.ts'
import type { CodeLookup, TryPayment } from './mayBePaid.ts'

const other = `0x${'77'.repeat(20)}`
const dead = `0x${'0'.repeat(36)}dead`
const body = {
  user,
  recipient,
  originChainId: chainA,
  destinationChainId: chainB,
  originCurrency: usdc,
  destinationCurrency: native,
  amount: '100000000',
  tradeType: 'EXACT_INPUT',
}

async function quote(change: object, options: TestAppOptions = {}) {
  const app = await testApp(options)
  onTestFinished(() => app.close())
  const response = await app.inject({ method: 'POST', url: '/quote/v2', payload: { ...body, ...change } })
  const json = response.json()
  const refunds: readonly { readonly recipient: string }[] | undefined =
    json.protocol?.v2.orderData.inputs[0].refunds
  return { status: response.statusCode, json, refunded: refunds?.map((refund) => refund.recipient) }
}

const codeOn =
  (...chains: readonly number[]): CodeLookup =>
  async ({ chainId, account }) =>
    account === recipient && chains.includes(chainId)

/** On the origin nobody can pay the account. */
const refuses =
  (...accounts: readonly string[]): TryPayment =>
  async ({ chain, account }) => ({
    refusal: chain.chainId === chainA && accounts.includes(account) ? 'cannot be paid' : undefined,
  })

const silentOn =
  (silent: number): CodeLookup =>
  async ({ chainId }) =>
    chainId === silent ? undefined : false

describe('the account that refunds go to', () => {
  test.each<[string, object, TestAppOptions, readonly string[]]>([
    ['refundTo, else user', { refundTo: other }, {}, [other, user]],
    [
      'refundTo alone, at a deposit address',
      { refundTo: other, useDepositAddress: true },
      { fillWallet: `0x${'f1'.repeat(20)}` },
      [other],
    ],
    ['user where refundTo names him', { refundTo: user }, {}, [user]],
    ['the recipient, else user', {}, {}, [recipient, user]],
    ['the recipient with code on both chains', {}, { hasCode: codeOn(chainA, chainB) }, [recipient, user]],
    ['user, where the recipient has code on the destination alone', {}, { hasCode: codeOn(chainB) }, [user]],
    ['the recipient with code on the origin alone', {}, { hasCode: codeOn(chainA) }, [recipient, user]],
    [
      'user, where the recipient cannot be paid on the origin',
      {},
      { tryPayment: refuses(recipient) },
      [user],
    ],
    ['the recipient alone, where user cannot be paid', {}, { tryPayment: refuses(user) }, [recipient]],
    ['user, where nobody else is named', { recipient: undefined }, {}, [user]],
    ['user, where the recipient is nobody', { recipient: dead }, {}, [user]],
    ['refundTo alone for a user who is nobody', { user: dead, refundTo: other }, {}, [other]],
  ])('Q-63, Q-64: is %s', async (_who, change, options, expected) => {
    const { refunded = [] } = await quote(change, options)
    expect(refunded).toEqual(expected)
  })

  test.each<[string, object, TestAppOptions, string, RegExp]>([
    [
      'refundTo cannot',
      { refundTo: other },
      { tryPayment: refuses(other) },
      'refundTo',
      /^refundTo cannot be paid\.$/,
    ],
    [
      'neither recipient nor user can',
      {},
      { tryPayment: refuses(recipient, user) },
      'refundTo',
      /^refundTo is missing, and user cannot be paid\.$/,
    ],
    [
      'user is a depository',
      { user: depository, recipient: other, refundTo: depository },
      {},
      'refundTo',
      /depository/,
    ],
    ['refundTo is nobody', { refundTo: dead }, {}, 'refundTo', /nobody holds/],
  ])('Q-61, Q-63: is refused where %s', async (_what, change, options, field, message) => {
    const { status, json } = await quote(change, options)
    expect([status, json.errorCode, json.message]).toEqual([
      400,
      'INVALID_RECIPIENT',
      expect.stringMatching(message),
    ])
    expect(JSON.parse(json.errorData)).toMatchObject({ field })
  })

  test('Q-61: a chain that says nothing is no answer', async () => {
    const { status, json } = await quote({}, { tryPayment: async () => undefined })
    expect([status, json.errorCode, json.retryable]).toEqual([503, 'SERVICE_UNAVAILABLE', true])
  })

  test.each<[string, TestAppOptions]>([
    ['the code of recipient on the origin', { hasCode: silentOn(chainA) }],
    ['the code of recipient on the destination', { hasCode: silentOn(chainB) }],
    [
      'what recipient lacks on the origin',
      { lackOf: async ({ chainId }) => (chainId === chainA ? undefined : {}) },
    ],
  ])('Q-84: an unknown default of refunds is no quote: %s', async (_what, options) => {
    const { status, json } = await quote({}, options)
    expect([status, json.errorCode, json.retryable]).toEqual([503, 'SERVICE_UNAVAILABLE', true])
    // A named account needs no default, and a payment by record asks for no code.
    const asked: string[] = []
    const hasCode: CodeLookup = async ({ account }) => {
      asked.push(account)
      return undefined
    }
    expect(await quote({ refundTo: user }, { hasCode })).toMatchObject({ status: 200, refunded: [user] })
    expect(asked).toEqual([])
  })

  test('Q-62: a price that names nobody has no payment tried', async () => {
    const tried: string[] = []
    const tryPayment: TryPayment = async ({ account }) => {
      tried.push(account)
      return { refusal: undefined }
    }
    expect(await quote({ recipient: undefined }, { tryPayment })).toMatchObject({ status: 200 })
    expect(tried).toEqual([])
    await quote({}, { tryPayment })
    expect(new Set(tried)).toEqual(new Set([recipient, user]))
  })

  test('Q-65: the native id means user, whom the order names', async () => {
    expect(await quote({ refundTo: native })).toMatchObject({ status: 200, refunded: [user] })
    const { status, json } = await quote({ refundTo: native, user: dead })
    expect([status, json.errorCode]).toEqual([400, 'INVALID_RECIPIENT'])
    expect(json.message).toBe(
      'refundTo means whoever pays, and user is an account that nobody holds: name one in refundTo.',
    )
  })
})
