// Goal: a deposit on Tron is the call that the public adapter hands to a node, byte by byte; what wallets cannot sign or
// carry is refused by name, and what is charged is what is burnt. Who gains by breaking it: a user whose transaction runs
// out of energy and burns its limit for nothing, a page that prices for nobody, a token that changes no allowance but
// from zero.

import { createTronCodec } from '@causeway/core/encodings'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { FeeFunds } from '../../../rules/feeFunds.ts'
import type { OriginRoute } from '../../../rules/originRoute.ts'
import type { PlannedTransaction } from '../../../rules/plannedTransaction.ts'
import { SolanaFees } from '../../../solana/rules/quoting/solanaFees.ts'
import { TronFees, usualTokenEnergy } from './tronFees.ts'
import { coinMax, feeLimitSun, TronFeeLimitError, tronQuoting } from './tronQuoting.ts'

const orderId = '0x3066f8a2439e215c99a81077465f375dd7cbf90eb2d7c24b91e2bf1be7b595a4'
const user = 'TCLBgkbfVkJroVBJVqBEsxtPNQEQMTQCLQ'
const userDigits = '19e7e376e7c213b7e7e7e46cc70a5dd086daff2a'
const depository = 'TXtEs6t2oUWQsNos7m68gbHdE9Q5n6x2oN'
const depositoryDigits = 'f0623e1012177482912fb057e44e1a9769b1f588'
const usdt = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'
const usdtDigits = 'a614f803b6fd780986a42c78ec9c7f77e6ded13c'
const codec = createTronCodec()
const quoting = tronQuoting.bind({ chainId: 728_126_428, codec, depository })
const coin = { address: codec.nativeCurrency, isNative: true, resetsAllowance: false }
const token = { address: usdt, isNative: false, resetsAllowance: true }
const fees = new TronFees({ sunPerEnergy: 100n, sunPerByte: 1_000n, tokenEnergy: usualTokenEnergy })
/** Selector of `depositErc20(address,address,uint256,bytes32)`. */
const depositErc20 = 'e8017952'
const word = (digits: string) => digits.padStart(64, '0')

function routeOf(change: Partial<OriginRoute> = {}): OriginRoute {
  const amount = change.amountIn ?? 1_000_000n
  const { currencyIn = coin } = change
  return {
    user,
    recipient: '0x',
    by: 'deposit',
    currencyIn,
    currencyOut: currencyIn,
    swap: undefined,
    amountIn: amount,
    amountInMax: amount,
    amountOut: 1n,
    amountOutMin: 1n,
    deposited: { currency: currencyIn, amount },
    ...change,
  }
}
const identity = { requestId: orderId, orderId, deadlineSeconds: 0, depositAddress: undefined } as const
const stepsOf = (route: OriginRoute, allowance?: bigint): readonly unknown[] =>
  quoting
    .plan(route, { allowance, fees })
    .map((planned) => quoting.encode(planned, route, { identity, fees }).data)
const kindsOf = (route: OriginRoute, allowance?: bigint) =>
  quoting.plan(route, { allowance, fees }).map(({ kind }) => kind)

describe('F-98: who pays the network', () => {
  const route = routeOf({ currencyIn: token })
  const planWith = (feeFunds?: FeeFunds, at = route) => quoting.plan(at, { allowance: 0n, fees, feeFunds })
  const sumOf = (planned: readonly PlannedTransaction[]) =>
    planned.reduce((sum, transaction) => sum + fees.costOf(transaction), 0n)
  const energy = planWith().reduce((sum, transaction) => sum + fees.useOf(transaction).energy, 0n)
  const bytesSun = sumOf(planWith()) - energy * fees.sunPerEnergy

  test('burns what his own energy does not cover, in the order of the steps', () => {
    expect(sumOf(planWith({ coin: 10n ** 9n, units: energy }))).toBe(bytesSun)
    expect(sumOf(planWith({ coin: 10n ** 9n, units: 1n }))).toBe(sumOf(planWith()) - fees.sunPerEnergy)
    const plain = planWith().map((transaction) => fees.costOf(transaction))
    const charged = planWith({ coin: 10n ** 9n, units: 1n }).map((transaction) => fees.costOf(transaction))
    expect(charged.slice(1)).toEqual(plain.slice(1))
  })

  test('is told before the first step where he has no coin, and priced all the same', () => {
    const burnt = energy * fees.sunPerEnergy
    expect(planWith({ coin: burnt - 1n, units: 0n }).map(({ refusal }) => refusal?.data)).toEqual(
      planWith().map(() => ({
        field: 'user',
        availableAmount: `${burnt - 1n}`,
        neededAmount: `${burnt}`,
      })),
    )
    for (const funds of [undefined, { coin: burnt, units: 0n }, { coin: 0n, units: energy }])
      for (const { refusal } of planWith(funds)) expect(refusal).toBeUndefined()
    // Coin that he deposits is told by the balance of the input.
    for (const { refusal } of planWith({ coin: 0n, units: 0n }, routeOf())) expect(refusal).toBeUndefined()
  })

  test('is bounded by the fee limit with staked energy too', () => {
    const dear = new TronFees({ sunPerEnergy: 10_000n, sunPerByte: 1n, tokenEnergy: usualTokenEnergy })
    const known = { allowance: 0n, fees: dear, feeFunds: { coin: 10n ** 12n, units: 10n ** 9n } }
    expect(() => quoting.plan(route, known)).toThrow(TronFeeLimitError)
  })
})

describe('the step of a deposit', () => {
  test('of coin is the vector of the fact sheet', () => {
    expect(stepsOf(routeOf())).toEqual([
      {
        type: 'TriggerSmartContract',
        parameter: {
          owner_address: `41${userDigits}`,
          contract_address: `41${depositoryDigits}`,
          data: `49290c1c${word(userDigits)}${orderId.slice(2)}`,
          call_value: 1_000_000,
        },
      },
    ])
  })

  test('of a token allows it after a reset, and names the order in the call of the depository', () => {
    const route = routeOf({ currencyIn: token })
    const approve = (amount: bigint) => ({
      type: 'TriggerSmartContract',
      parameter: {
        owner_address: `41${userDigits}`,
        contract_address: `41${usdtDigits}`,
        data: `095ea7b3${word(depositoryDigits)}${word(amount.toString(16))}`,
      },
    })
    expect(stepsOf(route, 5n)).toEqual([
      approve(0n),
      approve(1_000_000n),
      {
        type: 'TriggerSmartContract',
        parameter: {
          owner_address: `41${userDigits}`,
          contract_address: `41${depositoryDigits}`,
          data: `${depositErc20}${word(userDigits)}${word(usdtDigits)}${word('f4240')}${orderId.slice(2)}`,
        },
      },
    ])
  })

  test.each<[string, bigint | undefined, readonly string[]]>([
    ['none is allowed', 0n, ['approve', 'deposit']],
    ['another amount is', 1n, ['reset-approval', 'approve', 'deposit']],
    ['nobody knows', undefined, ['reset-approval', 'approve', 'deposit']],
    ['enough is', 1_000_000n, ['deposit']],
  ])('F-129: changes an allowance as its token lets it be changed: %s', (_what, allowance, kinds) => {
    expect(kindsOf(routeOf({ currencyIn: token }), allowance)).toEqual(kinds)
  })

  test('of a token by transfer names the order behind the arguments, and needs no allowance', () => {
    const route = routeOf({ currencyIn: token, by: 'deposit-transfer' })
    expect(stepsOf(route)).toEqual([
      {
        type: 'TriggerSmartContract',
        parameter: {
          owner_address: `41${userDigits}`,
          contract_address: `41${usdtDigits}`,
          data: `a9059cbb${word(depositoryDigits)}${word('f4240')}${orderId.slice(2)}`,
        },
      },
    ])
    // Coin that is only sent carries no order id.
    expect(kindsOf(routeOf({ by: 'deposit-transfer' }))).toEqual(['deposit'])
  })

  test('is refused where its energy would burn more than wallets allow', () => {
    const dear = new TronFees({ sunPerEnergy: 420n, sunPerByte: 1_000n, tokenEnergy: usualTokenEnergy })
    const route = routeOf({ currencyIn: token })
    const refused = () => quoting.plan(route, { allowance: 0n, fees: dear })
    expect(refused).toThrow(TronFeeLimitError)
    expect(refused).toThrow(/42000000 sun .* wallets allow 30000000/)
    expect(() => quoting.plan(routeOf(), { allowance: undefined, fees: dear })).not.toThrow()
  })

  test('is planned for no way but the family\u2019s own, by no other family\u2019s fees, and sent by nobody alone', () => {
    for (const by of ['pay-address', 'swap'] as const)
      expect(() => quoting.plan(routeOf({ by }), { allowance: undefined, fees })).toThrow(
        `deposited by ${by}`,
      )
    const others = new SolanaFees({
      lamportsPerSignature: 1n,
      microLamportsPerUnit: 1n,
      rentLamportsPerByte: 1n,
    })
    expect(() => quoting.plan(routeOf(), { allowance: undefined, fees: others })).toThrow('own family')
    const alone = routeOf({ by: 'send' })
    const bound = { identity: { ...identity, orderId: undefined }, fees }
    for (const planned of quoting.plan(alone, { allowance: undefined, fees }))
      expect(() => quoting.encode(planned, alone, bound)).toThrow('send-input')
  })

  test('carries coin only as far as a number is exact', () => {
    expect([quoting.amountMax(coin), quoting.amountMax(token)]).toEqual([coinMax, 2n ** 256n - 1n])
    expect(() => stepsOf(routeOf({ amountIn: coinMax + 1n }))).toThrow(RangeError)
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: coinMax }), (amountIn) => {
        const [step] = stepsOf(routeOf({ amountIn }))
        const sent: unknown = JSON.parse(JSON.stringify(step))
        expect(BigInt(Object(sent).parameter.call_value)).toBe(amountIn)
      }),
    )
  })
})

describe('an account', () => {
  test('that is not chosen yet is nobody, and everybody else can sign', () => {
    for (const nobody of [codec.nativeCurrency, 'THa7BwoPfacfiELa63pbmm3g5PGKYmtJyt'])
      expect(quoting.isNobody(nobody)).toBe(true)
    expect([quoting.isNobody(user), quoting.canSign(user)]).toEqual([false, true])
    expect(quoting.hexAddress(user)).toBe(`0x${userDigits}`)
    expect(quoting.spenderOf('deposit', token)).toBe(depository)
    expect([quoting.spenderOf('deposit', coin), quoting.spenderOf('swap', token)]).toEqual([
      undefined,
      undefined,
    ])
  })
})

describe('fees', () => {
  test('are energy and bytes at the prices of the chain, and what a first payment makes is rent', () => {
    expect(fees.costOf({ kind: 'deposit', isNative: true })).toBe(10_000n * 100n + 356n * 1_000n)
    expect(fees.costOf({ kind: 'send-input', isNative: true })).toBe(270_000n)
    expect(fees.rentOf({ isAbsent: true })).toBe(2_500_000n)
    expect([fees.rentOf({}), fees.rentOf({ holdsNone: true }), fees.leastPayment()]).toEqual([0n, 0n, 0n])
    const fill = (lack: { readonly holdsNone?: true }) => fees.costOf({ kind: 'fill', isNative: false, lack })
    const { toHolder, toNewHolder } = usualTokenEnergy
    expect(fill({ holdsNone: true }) - fill({})).toBe((toNewHolder - toHolder) * 100n)
    // Whoever deposited all that he had of a token holds none of it when it goes back.
    expect(fees.costOf({ kind: 'refund', isNative: false })).toBe(fill({ holdsNone: true }))
    expect(() => fees.costOf({ kind: 'sweep', isNative: true })).toThrow('sweep')
  })

  test('are equal where every price and every measure is', () => {
    const facts = { sunPerEnergy: 100n, sunPerByte: 1_000n, tokenEnergy: usualTokenEnergy }
    expect(fees.equals(new TronFees(facts))).toBe(true)
    const changes = [
      { sunPerEnergy: 101n },
      { sunPerByte: 1n },
      ...(['toHolder', 'toNewHolder', 'approve'] as const).map((name) => ({
        tokenEnergy: { ...usualTokenEnergy, [name]: 1n },
      })),
    ]
    for (const change of changes) expect(fees.equals(new TronFees({ ...facts, ...change }))).toBe(false)
  })

  test('F-129: never let a planned step burn more than wallets allow', () => {
    const energy = fc.bigInt({ min: 0n, max: 2_000_000n })
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 1_000n }), energy, energy, (sunPerEnergy, toHolder, approve) => {
        const tokenEnergy = { toHolder, toNewHolder: toHolder, approve }
        const at = new TronFees({ sunPerEnergy, sunPerByte: 1_000n, tokenEnergy })
        try {
          const planned = quoting.plan(routeOf({ currencyIn: token }), { allowance: 1n, fees: at })
          for (const transaction of planned)
            expect(at.useOf(transaction).energy * sunPerEnergy <= feeLimitSun).toBe(true)
        } catch (error) {
          expect(error).toBeInstanceOf(TronFeeLimitError)
        }
      }),
    )
  })
})
