// The rules of fills over plain facts, P-92, P-129, P-130 and F-166 above all, with the vectors of order B.
import {
  encodeOrderCall,
  encodeTransferAction,
  fillMessageId,
  hubAlias,
  hubTokenId,
  type Order,
  orderAddress,
  type PaymentFacts,
} from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { describe, expect, test } from 'vitest'
import { fillExecution, fillOfOrderB } from '../../../../packages/core/test/vectors/messages.ts'
import { orderB, orderBId, repeated } from '../../../../packages/core/test/vectors/orders.ts'
import { fillRequest, inputsB, signedOrder } from '../../test/fixtures/requests.ts'
import {
  fill as attest,
  depositAt,
  options,
  refusalOfFill as refusal,
  fillOf as requestFor,
  withOutput,
  worldOfFill as worldOf,
} from '../../test/fixtures/settling.ts'
import {
  blockTime,
  depositB,
  depositFacts,
  depositTransaction,
  fillTransaction,
  nativeCurrency,
  onchainIdB,
  paymentFacts,
  recipient,
  usdc,
  world,
} from '../../test/fixtures/world.ts'
import { attestFill } from './fills.ts'

/** Writes a `Transfer` for each movement of ether, where EIP-7708 is live. */
const noToken = `0x${'ff'.repeat(19)}fe`

describe('a fill of order B', () => {
  test('P-130: has the published message and the published execution', async () => {
    const { unsigned, isFinal, evidence } = await attest(fillRequest())
    expect(unsigned.message).toEqual({ ...fillOfOrderB('0'), signatures: [] })
    expect(fillMessageId(unsigned.message, worldOf().networkOf)).toBe(
      '0x4c9c4a84dbef1ebd181ec5ec341c4079fe5ab0e7a8ae0cf0f147cc60d760a30d',
    )
    expect(unsigned.execution).toEqual({ ...fillExecution, signatures: [] })
    expect(isFinal).toBe(true)
    expect(evidence.map(({ chainId }) => chainId)).toEqual(['ethereum', 'base'])
  })

  test('tells by how much the deposit missed the order', async () => {
    const amount = 10n ** 18n - 10n ** 16n
    const { unsigned } = await attest(fillRequest(), { deposits: depositFacts([{ ...depositB, amount }]) })
    expect(unsigned.message.result.totalWeightedInputPaymentBpsDiff).toBe('-10000000000000000')
    expect(fillMessageId(unsigned.message, worldOf().networkOf)).toBe(
      '0xaae8f0e41a3ab2fd54ef1ebcd77b5980fb3c2f549b23342698bc0cfbf402f213',
    )
  })

  test('reads each transaction once, however many payments the order has', async () => {
    const [payment] = orderB.output.payments
    const payments = Array.from({ length: 32 }, () => ({ ...payment, minimumAmount: '0' }))
    // CAST: the one payment of order B, 32 times.
    const order = withOutput({ payments: payments as unknown as Order['output']['payments'] })
    const { request, deposits } = await requestFor(order)
    const asked = worldOf({ deposits })
    await attestFill(request, asked, options)
    expect(asked.asked.map(({ what }) => what).sort()).toEqual(['deposits', 'payment'])
  })

  test('echoes what is hashed and nothing else, in canonical spelling', async () => {
    const upper = (hex: string) => `0x${hex.slice(2).toUpperCase()}`
    const spelled = fillRequest({
      inputs: [{ transactionId: upper(depositTransaction), onchainId: upper(onchainIdB), inputIndex: 0 }],
      fill: { transactionId: upper(fillTransaction), extra: 1 },
      hints: { 'hyperliquid-vm': { user: 'somebody', timestamp: 1 } },
      requestPeerSignatures: true,
      unknown: 'field',
    })
    expect((await attest(spelled)).unsigned).toEqual((await attest(fillRequest())).unsigned)
  })
})

describe('inputs', () => {
  test('that name one onchain id twice are refused', async () => {
    const inputs = [...inputsB, { ...inputsB[0], inputIndex: 0 }]
    expect(await refusal(fillRequest({ inputs }))).toBe('DUPLICATE_ONCHAIN_ID')
  })

  test('must name every input of the order', async () => {
    expect(await refusal(fillRequest({ inputs: [] }))).toBe('MISSING_INPUT')
  })

  test('P-92: may not hold a second entry for an input, which nobody would check', async () => {
    const second = { transactionId: depositTransaction, onchainId: repeated('0e', 32), inputIndex: 0 }
    expect(await refusal(fillRequest({ inputs: [...inputsB, second] }))).toBe('INVALID_INPUT')
  })

  test('may not name an input that the order lacks', async () => {
    const second = { transactionId: depositTransaction, onchainId: repeated('0e', 32), inputIndex: 1 }
    expect(await refusal(fillRequest({ inputs: [...inputsB, second] }))).toBe('UNKNOWN_ORDER_PART')
  })

  test('P-129: must name a deposit for this order', async () => {
    const deposits = depositFacts([{ ...depositB, depositId: repeated('0e', 32) }])
    expect(await refusal(fillRequest(), { deposits })).toBe('INVALID_INPUT')
  })

  test('must name the deposit by its onchain id', async () => {
    const inputs = [{ ...inputsB[0], onchainId: repeated('0e', 32) }]
    expect(await refusal(fillRequest({ inputs }))).toBe('INVALID_INPUT')
  })

  test('in another currency than the order asks for are refused', async () => {
    const deposits = depositFacts([{ ...depositB, currency: usdc }])
    expect(await refusal(fillRequest(), { deposits })).toBe('DEPOSIT_CURRENCY_MISMATCH')
  })

  test('of an order that asks for nothing are refused, not divided by zero', async () => {
    const [input] = orderB.inputs
    const payment = { ...input?.payment, weight: '0' }
    // CAST: order B's input with another weight.
    const order = { ...orderB, inputs: [{ ...input, payment }] } as Order
    const { request, deposits } = await requestFor(order)
    await expect(attest(request, { deposits })).rejects.toMatchObject({
      code: 'INVALID_ORDER',
      message: expect.stringContaining('zero'),
    })
  })
})

test.each<[string, (order: Order) => Order, string]>([
  [
    'asks for',
    (order) => ({
      ...order,
      inputs: order.inputs.map((input) => ({ ...input, payment: { ...input.payment, currency: noToken } })),
    }),
    'inputs[].payment.currency',
  ],
  [
    'pays',
    (order) => ({
      ...order,
      output: {
        ...order.output,
        payments: order.output.payments.map((payment) => ({ ...payment, currency: noToken })),
      },
    }),
    'output.payments[].currency',
  ],
])('F-46: an order that %s what tells of moved ether is refused by name', async (_what, change, field) => {
  const order = change(orderB)
  await expect(attest(fillRequest({ order }))).rejects.toMatchObject({
    code: 'INVALID_ADDRESS',
    message: expect.stringMatching(/no token.*EIP-7708/),
    data: { field: expect.stringContaining(field) },
  })
})

describe('weights', () => {
  test('two of three is minus a third, truncated toward zero', async () => {
    const [input] = orderB.inputs
    const payment = { ...input?.payment, amount: '3' }
    // CAST: order B's input with another amount.
    const order = { ...orderB, inputs: [{ ...input, payment }] } as Order
    const { request, id } = await requestFor(order)
    const deposits = depositFacts([{ ...depositB, depositId: id, amount: 2n }])
    const { unsigned } = await attest(request, { deposits })
    expect(unsigned.message.result.totalWeightedInputPaymentBpsDiff).toBe('-333333333333333333')
  })

  test('an overpayment of one percent is a positive difference', async () => {
    const deposits = depositFacts([{ ...depositB, amount: 1_010_000_000_000_000_000n }])
    const { unsigned } = await attest(fillRequest(), { deposits })
    expect(unsigned.message.result.totalWeightedInputPaymentBpsDiff).toBe('10000000000000000')
    const full = encodeTransferAction({
      hubFrom: '0x48dd97456ea2aed0520f5386f4146f867c61e565',
      hubTo: '0x37af10adbc4864042698b5735132a3c8c2b146bf',
      hubTokenId: hubTokenId({ chainId: 'ethereum', ...mainNetwork('ethereum-vm') }, nativeCurrency),
      amount: 1_010_000_000_000_000_000n,
    })
    expect(unsigned.execution.actions[0]).toBe(full)
  })

  test.each([
    ['the most that a message can hold is signed', 0n, 'accepted'],
    ['more than a message can hold is refused', 1n, 'INVALID_ORDER'],
  ])('P-129: a deposit beyond all measure: %s', async (_what, more, code) => {
    const amount = 10n ** 18n + 2n ** 255n - 1n + more
    const deposits = depositFacts([{ ...depositB, amount }])
    expect(await refusal(fillRequest(), { deposits })).toBe(code)
  })

  test('inputs count by their weights', async () => {
    const [input] = orderB.inputs
    const inputOf = (amount: string, weight: string) => ({
      ...input,
      payment: { ...input?.payment, amount, weight },
    })
    // CAST: order B with two inputs of its own kind.
    const order = { ...orderB, inputs: [inputOf('100', '1'), inputOf('100', '3')] } as Order
    const { id, orderSignature } = await signedOrder(order)
    const deposits = depositFacts([
      { ...depositB, depositId: id, amount: 100n },
      { ...depositB, depositId: id, amount: 200n, onchainIndex: '8' },
    ])
    const inputs = [
      { transactionId: depositTransaction, onchainId: depositAt('8'), inputIndex: 1 },
      { transactionId: depositTransaction, onchainId: depositAt('7'), inputIndex: 0 },
    ]
    const { unsigned } = await attest(fillRequest({ order, orderSignature, inputs }), { deposits })
    expect(unsigned.message.result.totalWeightedInputPaymentBpsDiff).toBe('750000000000000000')
    expect(unsigned.execution.actions).toHaveLength(3)
    const from = orderAddress(
      { chainId: 'ethereum', ...mainNetwork('ethereum-vm') },
      { depositor: depositB.depositor, timestampSeconds: blockTime, depositId: id },
    )
    expect(unsigned.execution.actions[0]).toContain(from.slice(2))
    expect(BigInt(`0x${unsigned.execution.actions[0]?.slice(-64)}`)).toBe(100n)
  })
})

describe('the order', () => {
  test('must be signed by its solver', async () => {
    const orderSignature = `${fillRequest().orderSignature.slice(0, -4)}001b`
    expect(await refusal(fillRequest({ orderSignature }))).toBe('INVALID_ORDER_SIGNATURE')
    expect(await refusal(fillRequest({ orderSignature: '0x' }))).toBe('INVALID_ORDER_SIGNATURE')
  })

  test('must be the one that was signed', async () => {
    const order = withOutput({ deadline: 1 })
    expect(await refusal(fillRequest({ order }))).toBe('INVALID_ORDER_SIGNATURE')
  })

  test('on an unknown chain is refused', async () => {
    expect(await refusal(fillRequest({ order: withOutput({ chainId: 'moon' }) }))).toBe('UNKNOWN_CHAIN')
    const { request, deposits } = await requestFor({ ...orderB, solverChainId: 'moon' })
    expect(await refusal(request, { deposits })).toBe('UNKNOWN_CHAIN')
  })

  test.each(['tron', 'solana', 'bitcoin', 'lighter'])(
    'P-4: whose solver is named on %s, where an EVM key has no account, is told so',
    async (solverChainId) => {
      const { request, deposits } = await requestFor({ ...orderB, solverChainId })
      await expect(attest(request, { deposits })).rejects.toMatchObject({
        code: 'SOLVER_CHAIN_NOT_SUPPORTED',
        message: `order.solverChainId must name an EVM chain: the solver is an EVM account, and ${solverChainId} has none.`,
        data: { field: 'order.solverChainId', solverChainId },
      })
    },
  )

  test('P-4: a chain of another family that has accounts of EVM keys may name the solver', async () => {
    const { request, deposits } = await requestFor({ ...orderB, solverChainId: 'hyperliquid' })
    const { unsigned } = await attest(request, { deposits })
    const alias = hubAlias({ chainId: 'hyperliquid', ...mainNetwork('hyperliquid-vm') }, orderB.solver)
    expect(unsigned.execution.actions[0]).toContain(alias.slice(2))
  })

  test('of a solver on the hub itself settles with its alias there', async () => {
    const { request, deposits } = await requestFor({ ...orderB, solverChainId: 'relay' })
    const { unsigned } = await attest(request, { deposits })
    const alias = hubAlias({ chainId: 'relay', ...mainNetwork('ethereum-vm') }, orderB.solver)
    expect(unsigned.execution.actions[0]).toContain(alias.slice(2))
  })
})

describe('the payment', () => {
  test.each<[string, Partial<PaymentFacts>, string]>([
    [
      'below the minimum',
      { transfers: [{ recipient, currency: usdc, amount: 2_999_999_999n }] },
      'INSUFFICIENT_FILL',
    ],
    [
      'to somebody else',
      { transfers: [{ recipient: repeated('23', 20), currency: usdc, amount: 10n ** 12n }] },
      'INSUFFICIENT_FILL',
    ],
    [
      'in another currency',
      { transfers: [{ recipient, currency: nativeCurrency, amount: 10n ** 20n }] },
      'INSUFFICIENT_FILL',
    ],
    ['in a transaction of another order', { referencesOrder: false }, 'ORDER_NOT_REFERENCED'],
    ['after the deadline', { blockTimestampSeconds: 2_000_000_001n }, 'DEADLINE_PASSED'],
  ])('%s is refused', async (_what, change, code) => {
    expect(await refusal(fillRequest(), { payment: paymentFacts(change) })).toBe(code)
  })

  test('at the second of the deadline counts', async () => {
    const payment = paymentFacts({ blockTimestampSeconds: 2_000_000_000n })
    expect(await refusal(fillRequest(), { payment })).toBe('accepted')
  })

  test('may come in several transfers', async () => {
    const half = { recipient, currency: usdc, amount: 1_500_000_000n }
    expect(await refusal(fillRequest(), { payment: paymentFacts({ transfers: [half, half] }) })).toBe(
      'accepted',
    )
  })
})

describe('who paid', () => {
  const moved = (change: object) =>
    paymentFacts({ transfers: [{ recipient, currency: usdc, amount: 0n, ...change }] })

  test('is named where enough came, but not from the solver’s side', async () => {
    const paid = { amount: 1_000_000_000n }
    const enough = moved({ ...paid, fromOthers: 2_000_000_000n })
    expect(await refusal(fillRequest(), { payment: enough })).toBe('PAYER_NOT_LISTED')
    const short = moved({ ...paid, fromOthers: 1_999_999_999n })
    expect(await refusal(fillRequest(), { payment: short })).toBe('INSUFFICIENT_FILL')
  })

  test('P-41: is nobody where the fill contract recorded another id, or proves nothing', async () => {
    const recorded = (change: object) => paymentFacts({ recordId: orderBId, ...change })
    expect(await refusal(fillRequest(), { payment: recorded({}) })).toBe('accepted')
    for (const change of [{ recordId: `0x${'0e'.repeat(32)}` }, { recordProblem: 'other_payments' }])
      expect(await refusal(fillRequest(), { payment: recorded(change) })).toBe('INSUFFICIENT_FILL')
  })

  test('P-20: is an unlisted fill contract where the order names one and the payment does not count', async () => {
    const unlistedFillContract = repeated('fc', 20)
    for (const change of [{}, { amount: 1n }, { fromOthers: 3_000_000_000n }]) {
      const payment = { ...moved(change), unlistedFillContract }
      await expect(attest(fillRequest(), { payment })).rejects.toMatchObject({
        code: 'FILL_CONTRACT_UNKNOWN',
        message: expect.stringMatching(`${unlistedFillContract}.*fillContracts.*base`),
        data: { paymentIndex: 0, contract: unlistedFillContract, setting: 'chains: base.fillContracts' },
      })
    }
    const counted = paymentFacts({ unlistedFillContract })
    expect(await refusal(fillRequest(), { payment: counted })).toBe('accepted')
  })

  test('P-20: is an unlisted fill contract where the order’s calls are missing', async () => {
    const order = withOutput({ calls: [encodeOrderCall({ to: repeated('ca', 20), data: '0x', value: 0n })] })
    const { request, deposits } = await requestFor(order)
    const unlistedFillContract = repeated('fc', 20)
    const missing = { deposits, payment: paymentFacts() }
    expect(await refusal(request, missing)).toBe('MISSING_CALLS')
    const unlisted = { deposits, payment: paymentFacts({ unlistedFillContract }) }
    expect(await refusal(request, unlisted)).toBe('FILL_CONTRACT_UNKNOWN')
  })
})

describe('one transfer satisfies one payment only', () => {
  const twice = (first: string, second: string) =>
    withOutput({
      payments: [first, second].map((to) => ({
        recipient: to,
        currency: usdc,
        minimumAmount: '4900',
        expectedAmount: '4900',
      })),
    })
  const moved = (amount: bigint) => paymentFacts({ transfers: [{ recipient, currency: usdc, amount }] })

  test('P-129: so two identical output payments of 4,900 are not paid by one transfer of 4,950', async () => {
    const { request, deposits } = await requestFor(twice(recipient, recipient))
    expect(await refusal(request, { deposits, payment: moved(4_950n) })).toBe('INSUFFICIENT_FILL')
    expect(await refusal(request, { deposits, payment: moved(9_799n) })).toBe('INSUFFICIENT_FILL')
    expect(await refusal(request, { deposits, payment: moved(9_800n) })).toBe('accepted')
  })

  test('whatever the spelling of the recipient', async () => {
    const mixed = `0x${'Ab'.repeat(20)}`
    const { request, deposits } = await requestFor(twice(mixed, mixed.toLowerCase()))
    const payment = paymentFacts({
      transfers: [{ recipient: mixed.toLowerCase(), currency: usdc, amount: 4_950n }],
    })
    expect(await refusal(request, { deposits, payment })).toBe('INSUFFICIENT_FILL')
  })
})

describe('calls', () => {
  const call = (value: bigint) => ({ to: repeated('55', 20), data: '0xabcdef', value }) as const
  const order = withOutput({ calls: [encodeOrderCall(call(1n)), encodeOrderCall(call(2n))] })

  test.each<[string, readonly bigint[] | undefined, string]>([
    ['executed in turn', [1n, 2n], 'accepted'],
    ['with others between', [9n, 1n, 9n, 2n, 9n], 'accepted'],
    ['in the wrong order', [2n, 1n], 'MISSING_CALLS'],
    ['of which one is missing', [1n], 'MISSING_CALLS'],
    ['of which none was executed', [], 'MISSING_CALLS'],
    ['F-166: on a family that cannot prove them', undefined, 'CALLS_NOT_SUPPORTED'],
  ])('%s', async (_what, values, outcome) => {
    const { request, deposits } = await requestFor(order)
    const { calls: _calls, ...without } = paymentFacts()
    const payment = values === undefined ? without : { ...without, calls: values.map(call) }
    expect(await refusal(request, { deposits, payment })).toBe(outcome)
  })

  test('F-166: that the order does not have need no proof, on any family', async () => {
    const { calls: _calls, ...payment } = paymentFacts()
    expect(await refusal(fillRequest(), { payment })).toBe('accepted')
  })

  test('executed once do not count twice', async () => {
    const same = withOutput({ calls: [encodeOrderCall(call(1n)), encodeOrderCall(call(1n))] })
    const { request, deposits } = await requestFor(same)
    const once = paymentFacts({ calls: [call(1n)] })
    expect(await refusal(request, { deposits, payment: once })).toBe('MISSING_CALLS')
    const both = paymentFacts({ calls: [call(1n), call(1n)] })
    expect(await refusal(request, { deposits, payment: both })).toBe('accepted')
  })
})

describe('refusals have one order', () => {
  test('what is wrong with the inputs is told before what is wrong with the fill', async () => {
    const found = { deposits: depositFacts([]), payment: paymentFacts({ referencesOrder: false }) }
    expect(await refusal(fillRequest(), found)).toBe('INVALID_INPUT')
  })

  test('a missing fill does not hide a missing input', async () => {
    const nothing = world({ ethereum: { deposits: { [depositTransaction]: depositFacts([]) } }, base: {} })
    await expect(attestFill(fillRequest(), nothing, options)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})

describe('force', () => {
  const forced = (change: object = {}) => fillRequest({ force: true, orderSignature: '0x', ...change })

  test('settles by the deposits alone, without signature, payment or calls', async () => {
    const asked = world({ ethereum: { deposits: { [depositTransaction]: depositFacts([depositB]) } } })
    const { unsigned } = await attestFill(forced(), asked, options)
    expect(unsigned.message.result).toEqual({
      orderId: orderBId,
      status: 1,
      totalWeightedInputPaymentBpsDiff: '0',
    })
    expect(unsigned.execution).toEqual({ ...fillExecution, signatures: [] })
    expect(asked.asked.map(({ what }) => what)).toEqual(['deposits'])
  })

  test('P-92: takes all deposits for the order, each once though its transaction is named twice', async () => {
    const second = { ...depositB, onchainIndex: '8', amount: 5n }
    const others = { ...depositB, onchainIndex: '9', depositId: repeated('0e', 32) }
    const deposits = depositFacts([depositB, second, others])
    const inputs = [...inputsB, { ...inputsB[0], onchainId: depositAt('8') }]
    const one = await attest(forced(), { deposits })
    const two = await attest(forced({ inputs }), { deposits })
    expect(one.unsigned.execution.actions).toHaveLength(3)
    expect(two.unsigned.execution).toEqual(one.unsigned.execution)
  })

  test('never signs an entry that names no deposit of the order', async () => {
    const inputs = [...inputsB, { ...inputsB[0], onchainId: repeated('0e', 32) }]
    expect(await refusal(forced({ inputs }))).toBe('INVALID_INPUT')
  })

  test('without deposits and fees has nothing to settle', async () => {
    const request = fillRequest({ order: { ...orderB, fees: [] }, inputs: [], force: true })
    expect(await refusal(request)).toBe('MISSING_ACTIONS')
  })

  test('does not relax the reading: an unfinal deposit is refused', async () => {
    const nothing = world({ ethereum: {} })
    await expect(attestFill(forced(), nothing, options)).rejects.toMatchObject({
      code: 'TRANSACTION_MISSING',
    })
  })
})
