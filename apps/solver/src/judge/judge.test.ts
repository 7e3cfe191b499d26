// Goal: what is paid is bounded by what was deposited, a tolerance and a loss per order, whatever work claims; a
// deposit goes back once and to nobody else. Method: facts of every kind, and random ones.
import { encodeFillExtraData, encodeOrderCall, type Order } from '@causeway/core'
import { gasBudgetsOf } from '@causeway/core/config'
import { orderCloneAddress } from '@causeway/families/rules'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type DestinationFacts, fillStateOf, type SignedFill } from './fillState.ts'
import { judgeClaim } from './judgeClaim.ts'
import { type FillFacts, judgeFill } from './judgeFill.ts'
import { type FillState, fitsOrder, isUnderpaid, judgeRefund, type RefundFacts } from './judgeRefund.ts'
import { refuseTerms } from './signedOrder.ts'
import { depositKey, type SeenDeposit, type Valuer } from './verdict.ts'

const usdc = `0x${'aa'.repeat(20)}` as const
const recipient = `0x${'bb'.repeat(20)}` as const
const fillContract = `0x${'cc'.repeat(20)}` as const
const native = `0x${'0'.repeat(40)}` as const
const orderId = `0x${'0d'.repeat(32)}` as const
const call = { to: usdc, data: '0x12' as const, value: 3n }
const filler = `0x${'ee'.repeat(20)}` as const
const salt = `0x${'5a'.repeat(32)}` as const
const clone = orderCloneAddress({ fillContract, filler, orderSalt: salt, recipient, calls: [call] })

const order: Order = {
  version: 'v1',
  solverChainId: 'base',
  solver: recipient,
  salt,
  fees: [],
  inputs: [
    {
      payment: { chainId: 'base', currency: usdc, amount: '100', weight: '1' },
      refunds: [
        {
          chainId: 'base',
          recipient,
          currency: usdc,
          minimumAmount: '95',
          deadline: 9,
          extraData: '0x',
        },
      ],
    },
  ],
  output: {
    chainId: 'optimism',
    payments: [{ recipient: clone, currency: usdc, minimumAmount: '90', expectedAmount: '99' }],
    calls: [encodeOrderCall(call)],
    deadline: 9,
    extraData: encodeFillExtraData(fillContract),
  },
}
const asked = {
  orderId,
  chainKey: 'optimism',
  chainId: 10,
  fillContract,
  deadline: 9,
  payments: [{ recipient: clone, currency: usdc, amount: 99n }],
  calls: [call],
  recipient,
  filler,
} as const
const deposit: SeenDeposit = {
  chainId: 8453,
  chainKey: 'base',
  refundChainId: 8453,
  transactionId: '0x1',
  ordinal: 0,
  orderId,
  depositor: recipient,
  currency: usdc,
  amount: 100n,
  inTransaction: 100n,
}
const depositOf = (amount: bigint): SeenDeposit => ({ ...deposit, amount, inTransaction: amount })
/** A token of 12 decimals worth a dollar, and native coin worth nothing: an amount is micro-USD. */
const value: Valuer = (_chain, currency, amount) => (currency === native ? 0n : amount * 10n ** 12n)
/** Prices of one chain alone. */
const onlyOn =
  (chainId: number): Valuer =>
  (chain, currency, amount) =>
    chain === chainId ? value(chain, currency, amount) : undefined
const limits = { toleranceBps: 0, lossPerOrderMicroUsd: 5n }
const fill: FillFacts = {
  asked,
  order,
  deposits: [deposit],
  inputCurrency: usdc,
  isGivenBack: false,
  value,
  limits,
}

describe('terms of a fill', () => {
  test('are those of its order', () => {
    expect(refuseTerms(asked, order)).toBeUndefined()
    expect(
      refuseTerms({ ...asked, payments: [{ ...asked.payments[0], amount: 90n }] }, order),
    ).toBeUndefined()
  })

  test.each([
    ['another chain', { chainKey: 'base' }],
    ['another deadline', { deadline: 10 }],
    ['another fill contract', { fillContract: usdc }],
    ['more than was quoted', { payments: [{ ...asked.payments[0], amount: 100n }] }],
    ['less than the least', { payments: [{ ...asked.payments[0], amount: 89n }] }],
    ['another recipient', { payments: [{ ...asked.payments[0], recipient: usdc }] }],
    ['another currency', { payments: [{ ...asked.payments[0], currency: native }] }],
    ['one payment more', { payments: [asked.payments[0], asked.payments[0]] }],
    ['no payment', { payments: [] }],
    ['no calls', { calls: [] }],
    ['a call with more coin', { calls: [{ ...call, value: 4n }] }],
    ['a call with other bytes', { calls: [{ ...call, data: '0x13' as const }] }],
    ['a call to another', { calls: [{ ...call, to: recipient }] }],
    ['a rest for somebody else', { recipient: usdc }],
    ['a rest for nobody', { recipient: undefined }],
    ['a clone of another filler', { filler: usdc }],
  ])('L-35: are not %s', (_what, change) => {
    expect(refuseTerms({ ...asked, ...change }, order)).toBeDefined()
  })
})

const leastInput = { chainId: 'base', currency: usdc, amount: '1', weight: '1' }

describe('a fill', () => {
  test('is paid for what was deposited', () => {
    expect(judgeFill(fill)).toEqual({ kind: 'pay', lossMicroUsd: 0n })
  })

  const nothing = 'nothing was deposited'
  test.each<[string, Partial<FillFacts>, string, string]>([
    ['its deposit is not deep enough', { deposits: undefined }, 'wait', 'deep'],
    ['no price of its deposit is known', { value: onlyOn(10) }, 'wait', 'price'],
    ['no price of its payment is known', { value: onlyOn(8453) }, 'wait', 'price'],
    ['nothing was deposited', { deposits: [] }, 'refuse', nothing],
    ['less was deposited', { deposits: [{ ...deposit, amount: 99n }] }, 'refuse', 'less'],
    ['it is of another order', { deposits: [{ ...deposit, orderId: '0x' }] }, 'refuse', nothing],
    ['it is on another chain', { deposits: [{ ...deposit, chainKey: 'optimism' }] }, 'refuse', nothing],
    ['it is of another currency', { deposits: [{ ...deposit, currency: native }] }, 'refuse', nothing],
    ['it was given back', { isGivenBack: true }, 'refuse', 'given back'],
    ['its order has no input', { order: { ...order, inputs: [] } }, 'refuse', 'no input'],
  ])('is not paid when %s', (_what, change, kind, reason) => {
    expect(judgeFill({ ...fill, ...change })).toEqual({ kind, reason: expect.stringContaining(reason) })
  })

  test('L-12: what it leaves owed in app fees counts as paid', () => {
    const owing = (amount: bigint) => ({
      ...fill,
      asked: { ...asked, appFees: [{ amount: 1n }, { amount }] },
    })
    expect(judgeFill(owing(5n))).toEqual({ kind: 'pay', lossMicroUsd: 5n })
    expect(judgeFill(owing(6n))).toMatchObject({ kind: 'refuse' })
  })

  test('Q-220: never costs more than the tolerance and the loss of one order, and says what it costs', () => {
    const amounts = fc.bigInt(1n, 10n ** 9n)
    fc.assert(
      fc.property(
        amounts,
        amounts,
        fc.integer({ min: 0, max: 500 }),
        amounts,
        (input, paid, toleranceBps, loss) => {
          const verdict = judgeFill({
            ...fill,
            order: { ...order, inputs: [{ payment: leastInput, refunds: [] }] },
            deposits: [{ ...deposit, amount: input }],
            asked: { ...asked, payments: [{ ...asked.payments[0], amount: paid }], calls: [] },
            limits: { toleranceBps, lossPerOrderMicroUsd: loss },
          })
          const most = input + (input * BigInt(toleranceBps)) / 10_000n + loss
          if (verdict.kind !== 'pay') return paid > input
          return paid <= most + 1n && verdict.lossMicroUsd >= paid - input && verdict.lossMicroUsd >= 0n
        },
      ),
    )
  })
})

describe('a refund', () => {
  const refund: RefundFacts = {
    order,
    refund: { orderId, chainId: 8453, chainKey: 'base', recipient, currency: usdc, amount: 95n },
    deposit,
    isGivenBack: false,
    givenBackThere: 0n,
    hasFilledFrom: false,
    inputCurrency: usdc,
    fill: { kind: 'over' },
    appFees: 0n,
    value,
    limits,
  }
  const roomy = { toleranceBps: 0, lossPerOrderMicroUsd: 1_000n }
  const refundingTo = (...options: readonly { chainId: string; recipient: string }[]): Order => ({
    ...order,
    inputs: order.inputs.map(({ payment, refunds }) => ({
      payment,
      refunds: refunds.flatMap((refund) => options.map((option) => ({ ...refund, ...option }))),
    })),
  })
  const filled = (amount: bigint, deposits: readonly string[] = [depositKey(deposit)]): FillState => ({
    kind: 'filled',
    chainId: 10,
    payments: [{ currency: usdc, amount }],
    deposits,
  })

  test('goes back when the order can take its deposit no more', () => {
    expect(judgeRefund(refund)).toEqual({ kind: 'pay', lossMicroUsd: 0n })
  })

  test.each<[string, Partial<RefundFacts>, string]>([
    ['while the order can be filled', { fill: { kind: 'open' } }, 'wait'],
    ['of an order that was filled, for nobody knows what', { fill: { kind: 'filled_unknown' } }, 'refuse'],
    ['of the deposit that its fill used', { fill: filled(99n) }, 'refuse'],
    ['before its deposit is deep enough', { deposit: undefined }, 'wait'],
    ['twice', { isGivenBack: true }, 'refuse'],
    ['of more than was deposited', { deposit: depositOf(94n) }, 'refuse'],
    ['of a deposit of another order', { deposit: { ...deposit, orderId: '0x' } }, 'refuse'],
    ['of a deposit on another chain', { deposit: { ...deposit, chainKey: 'optimism' } }, 'refuse'],
    ['of another currency', { deposit: { ...deposit, currency: native } }, 'refuse'],
    ['to somebody else', { refund: { ...refund.refund, recipient: usdc } }, 'refuse'],
    ['on another chain', { refund: { ...refund.refund, chainKey: 'optimism' } }, 'refuse'],
    ['of an order without input', { order: { ...order, inputs: [] } }, 'refuse'],
    ['of an order that another wallet filled', { fill: { kind: 'filled_by_another' } }, 'wait'],
    [
      'of more than was deposited, though its transaction has another deposit',
      { deposit: { ...depositOf(94n), inTransaction: 300n } },
      'refuse',
    ],
    [
      'to an account that the order names on another chain alone',
      { order: refundingTo({ chainId: 'optimism', recipient }, { chainId: 'base', recipient: usdc }) },
      'refuse',
    ],
  ])('is not paid %s', (_what, change, kind) => {
    expect(judgeRefund({ ...refund, ...change }).kind).toBe(kind)
  })

  test('of all that was deposited goes back, to any account that the order names on its chain', () => {
    expect(judgeRefund({ ...refund, deposit: depositOf(95n) })).toMatchObject({ kind: 'pay' })
    const either = refundingTo({ chainId: 'base', recipient: usdc }, { chainId: 'base', recipient })
    expect(judgeRefund({ ...refund, order: either })).toMatchObject({ kind: 'pay' })
  })

  test('Q-222: of a deposit of another chain, or for an order without input, waits for no fill', () => {
    const elsewhere = {
      order: refundingTo({ chainId: 'optimism', recipient }),
      refund: { ...refund.refund, chainKey: 'optimism' },
      deposit: { ...deposit, chainKey: 'optimism' },
    }
    expect(judgeRefund({ ...refund, ...elsewhere, fill: { kind: 'open' } })).toMatchObject({ kind: 'pay' })
    expect(fitsOrder(deposit, { ...order, inputs: [] }, usdc)).toBe(false)
    expect(fitsOrder(deposit, order, usdc)).toBe(true)
  })

  test('of one of two deposits that paid for the fill gives back the surplus alone', () => {
    const keys = [depositKey({ ...deposit, transactionId: '0x2' }), depositKey(deposit)]
    expect(judgeRefund({ ...refund, fill: filled(99n, keys) })).toMatchObject({ kind: 'refuse' })
  })

  test('Q-221: of a surplus leaves the order its input, whatever the fill was worth', () => {
    const surplus = { ...refund, deposit: depositOf(194n), fill: filled(0n) }
    expect(judgeRefund(surplus)).toEqual({ kind: 'refuse', reason: expect.stringContaining('has used') })
    expect(judgeRefund({ ...surplus, deposit: depositOf(195n) })).toEqual({ kind: 'pay', lossMicroUsd: 0n })
  })

  test('of a surplus costs what it adds to the loss of the fill', () => {
    const lossy = { ...refund, deposit: depositOf(195n), fill: filled(196n), limits: roomy }
    expect(judgeRefund(lossy)).toEqual({ kind: 'pay', lossMicroUsd: 95n })
  })

  test('of a surplus waits for each of its prices', () => {
    const surplus = { ...refund, deposit: depositOf(195n), fill: filled(99n) }
    const without =
      (lost: (chainId: number, amount: bigint) => boolean): Valuer =>
      (chainId, currency, amount) =>
        lost(chainId, amount) ? undefined : value(chainId, currency, amount)
    for (const lost of [
      (_chainId: number, amount: bigint) => amount === 195n,
      (chainId: number) => chainId === 10,
      (_chainId: number, amount: bigint) => amount === 95n,
    ])
      expect(judgeRefund({ ...surplus, value: without(lost) })).toMatchObject({ kind: 'wait' })
  })

  test('of what was deposited beyond a filled order, and of a second deposit', () => {
    const overpaid = depositOf(195n)
    expect(judgeRefund({ ...refund, deposit: overpaid, fill: filled(99n) })).toMatchObject({ kind: 'pay' })
    expect(
      judgeRefund({ ...refund, fill: filled(99n, [depositKey({ ...deposit, transactionId: '0x2' })]) }),
    ).toMatchObject({ kind: 'pay' })
  })

  test('Q-222: of a deposit that pays for no fill waits for none: dust of a stranger stops nobody', () => {
    const refunded = { ...refund.refund, amount: 5n }
    for (const fill of [{ kind: 'open' } as const, filled(99n)])
      expect(judgeRefund({ ...refund, refund: refunded, deposit: depositOf(99n), fill })).toMatchObject({
        kind: 'pay',
      })
    const [input] = order.inputs
    const other = { ...deposit, currency: native }
    const option = { ...refunded, currency: native }
    if (input === undefined) throw new Error('an order has one input')
    expect(judgeRefund({ ...refund, refund: option, deposit: other, fill: { kind: 'open' } })).toMatchObject({
      kind: 'pay',
    })
  })

  test('P-44: of what a contract deposits in one branch of the chain and not in another takes nothing twice', () => {
    // Filled for 100 units, which are 101 in this branch: no other deposit, though its key is another one.
    const other = {
      ...refund,
      refund: { ...refund.refund, amount: 99n },
      fill: filled(99n),
      hasFilledFrom: true,
    }
    for (const amount of [99n, 101n])
      expect(judgeRefund({ ...other, deposit: depositOf(amount) })).toMatchObject({ kind: 'refuse' })
    // Given back as the only deposit, and offered again as the second of two.
    const moved = { ...deposit, ordinal: 1, amount: 60n }
    const offered = { ...refund, refund: { ...refund.refund, amount: 55n }, givenBackThere: 95n }
    expect(judgeRefund({ ...offered, deposit: { ...moved, inTransaction: 100n } })).toMatchObject({
      kind: 'refuse',
    })
    expect(judgeRefund({ ...offered, deposit: { ...moved, inTransaction: 160n } })).toMatchObject({
      kind: 'pay',
    })
  })

  test('of a second deposit in the transaction that paid for the fill leaves the fill its own', () => {
    const twice = { ...deposit, inTransaction: 200n }
    const asked = { ...refund, deposit: twice, fill: filled(99n), hasFilledFrom: true }
    expect(judgeRefund(asked)).toMatchObject({ kind: 'pay' })
    expect(judgeRefund({ ...asked, givenBackThere: 95n })).toMatchObject({ kind: 'refuse' })
  })

  test('Q-221: of an order that asks for little and paid much gives nothing back', () => {
    const overpaid = depositOf(195n)
    expect(judgeRefund({ ...refund, deposit: overpaid, fill: filled(190n) })).toMatchObject({
      kind: 'refuse',
    })
    const cheap = judgeRefund({ ...refund, deposit: overpaid, fill: filled(103n) })
    expect(cheap).toEqual({ kind: 'pay', lossMicroUsd: 3n })
  })

  test('L-12: of a filled order gives back nothing that its app fees take', () => {
    const surplus = { ...refund, deposit: depositOf(195n), fill: filled(95n) }
    expect(judgeRefund({ ...surplus, appFees: 10n })).toEqual({ kind: 'pay', lossMicroUsd: 5n })
    expect(judgeRefund({ ...surplus, appFees: 11n })).toMatchObject({ kind: 'refuse' })
  })
})

describe('the gas of a refund', () => {
  test.each([
    [100n, 100n, false],
    [50n, 100n, false],
    [49n, 100n, true],
    [0n, 1n, true],
    [undefined, 100n, true],
    [100n, undefined, true],
  ])('of which %s is kept and that costs %s now is not paid for: %s', (kept, cost, is) => {
    expect(isUnderpaid(kept, cost)).toBe(is)
  })

  test('that is not paid for has a quarter of the budget of fills, unless it is named', () => {
    const policy = {
      maxFeePerGasWei: 1n,
      gasPerHourWei: 401n,
      relayGasPerHourWei: 7n,
      bumpAfterSeconds: 30,
      floors: [],
    }
    expect(gasBudgetsOf(policy).refundGasPerHourWei).toBe(100n)
    expect(gasBudgetsOf({ ...policy, refundGasPerHourWei: 0n }).refundGasPerHourWei).toBe(0n)
  })
})

describe('an order', () => {
  const signed = { outcome: 'done', chainId: 10, payments: [], deposits: [] } as const
  const open = { ...signed, outcome: 'open' } as const
  const failed = { ...signed, outcome: 'cancelled' } as const

  test.each<[string, readonly SignedFill[], DestinationFacts['recorded'], number, FillState['kind']]>([
    ['recorded as paid', [signed], 'paid', 0, 'filled'],
    ['recorded as paid, after its record was lost', [], 'paid', 0, 'filled_unknown'],
    ['recorded as paid, while its record is not final', [open], 'paid', 0, 'open'],
    ['closed', [failed], 'closed', 0, 'over'],
    ['open', [failed], 'open', 0, 'open'],
    ['open, with a fill that was sent', [open], 'open', 0, 'open'],
    ['open at its deadline', [], 'open', 9, 'open'],
    ['open after its deadline, at a final block', [], 'open', 10, 'over'],
    ['recorded as paid, by a fill that is done beside another', [open, signed], 'paid', 0, 'filled'],
    ['recorded as paid, by none of the fills that are known', [failed], 'paid', 0, 'filled_unknown'],
  ])('that is %s', (_what, fills, recorded, finalSeconds, kind) => {
    expect(fillStateOf(fills, 9, { recorded, finalSeconds }).kind).toBe(kind)
  })

  test('that has no deadline on its chain stays open', () => {
    expect(fillStateOf([], undefined, { recorded: 'open', finalSeconds: 10 })).toEqual({ kind: 'open' })
  })
})

describe('a claim', () => {
  const payments = [{ currency: usdc, amount: 7n }]
  const judge = (claim: object, perHour = 7n) =>
    judgeClaim({ claim: { chainId: 10, payments, ...claim }, claimsPerHourMicroUsd: perHour, value })

  test('costs its worth, and never more than an hour may', () => {
    expect(judge({})).toEqual({ kind: 'pay', lossMicroUsd: 7n })
    expect(judge({}, 6n)).toMatchObject({ kind: 'refuse' })
    expect(judge({ payments: [...payments, ...payments] })).toMatchObject({ kind: 'refuse' })
    expect(judge({ payments: [] })).toMatchObject({ kind: 'refuse' })
  })

  test('waits for its price', () => {
    const claim = { chainId: 10, payments }
    const value: Valuer = () => undefined
    expect(judgeClaim({ claim, claimsPerHourMicroUsd: 7n, value })).toMatchObject({ kind: 'wait' })
  })
})
