// Goal: one order whose inputs and output lie on different families is attested for fill and refund in every
// pairing. Method: the whole HTTP surface over one running chain of each family (a real EVM node, its contracts
// behind Tron's API, a depository program on LiteSVM, and stand-ins of the other APIs); answers are compared
// with core's encoders and their signatures recovered. @source rules P-127, P-129, P-130, F-166
import { attestationKinds } from '@causeway/attestations'
import { depositsExecutionKey, encodeMintAction, hubTokenId, onchainId, orderAddress } from '@causeway/core'
import { type VmType, vmTypes } from '@causeway/core/encodings'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { protocolChain } from '../apps/oracle/src/attestations/context.ts'
import { paths } from '../apps/oracle/test/fixtures/oracleApp.ts'
import { type BedOracle, openBedOracle } from './support/familyBeds/bedOracle.ts'
import {
  askedAmount,
  bpsDiffOf,
  type DepositedOrder,
  depositOrder,
  executionOf,
  filledAmount,
  orderAcross,
  payFor,
  refundedAmount,
} from './support/familyBeds/bedOrders.ts'
import { expectFilled, expectRefunded, expectSigned } from './support/familyBeds/expectSettled.ts'
import type { FamilyBed } from './support/familyBeds/familyBed.ts'
import { type FamilyBeds, startFamilyBeds } from './support/familyBeds/startFamilyBeds.ts'

let beds: FamilyBeds
let oracle: BedOracle
beforeAll(async () => {
  beds = await startFamilyBeds()
  oracle = await openBedOracle(Object.values(beds.of))
})
afterAll(async () => {
  await oracle?.close()
  await beds?.stop()
})

const pairings = vmTypes.flatMap((input) => vmTypes.map((output) => [input, output] as const))

/** One hundredth more than what was asked: amounts of refunds follow. */
const overpaid = (amount: bigint) => (amount * 101n) / 100n

async function deposited(inputs: readonly FamilyBed[], output: FamilyBed): Promise<DepositedOrder> {
  const paid = inputs.map((bed) => ({ bed, amount: overpaid(askedAmount(bed)) }))
  return depositOrder(orderAcross(inputs, output), paid, oracle.networkOf)
}

describe.each(vmTypes)('a deposit on %s', (family) => {
  test('is minted to its order under the ids of the protocol', async () => {
    const bed = beds.of[family]
    const { id, inputs } = await deposited([bed], bed)
    for (const { amount, deposit } of inputs) {
      const { transactionId, onchainId, timestampSeconds } = deposit
      const { depositor, currency, chain } = bed
      const named = protocolChain(chain)
      const question = { chainId: chain.id, transactionId }
      const { status, body } = await oracle.post(paths.deposits, question)
      expect(body).toMatchObject({
        messages: [
          {
            data: question,
            result: {
              onchainId,
              depository: chain.depository,
              depositId: id,
              depositor,
              currency,
              amount: amount.toString(),
            },
            extraData: { timestamp: timestampSeconds.toString() },
          },
        ],
        execution: {
          idempotencyKey: depositsExecutionKey(question),
          actions: [
            encodeMintAction({
              hubTo: orderAddress(named, { depositor, timestampSeconds, depositId: id }),
              hubTokenId: hubTokenId(named, currency),
              amount,
            }),
          ],
        },
      })
      expect(status).toBe(200)
      expectSigned(oracle, attestationKinds.deposits, body)
    }
  })
})

describe.each(vmTypes)('a withdrawal on %s', (family) => {
  test.each([
    ['pending', 0],
    ['executed', 1],
    ['expired', 2],
  ] as const)('that is %s has status %i', async (state, status) => {
    const bed = beds.of[family]
    const question = await bed.withdrawal(state)
    await bed.finalize()
    const answer = await oracle.post(paths.withdrawals, { chainId: bed.chain.id, ...question })
    expect(answer).toMatchObject({ status: 200, body: { message: { result: { status } } } })
    expectSigned(oracle, attestationKinds.withdrawals, answer.body)
  })
})

describe('an order', () => {
  test.each(pairings)(
    'paid on %s and filled on %s is attested for fill and refund',
    async (input, output) => {
      const [paidOn, filledOn] = [beds.of[input], beds.of[output]]
      const ordered = await deposited([paidOn], filledOn)
      await expectFilled(
        oracle,
        ordered,
        await payFor(ordered.id, filledOn, { amount: filledAmount(filledOn) }),
      )
      for (const [refundIndex, bed] of [paidOn, filledOn].entries()) {
        const amount = overpaid(refundedAmount(bed))
        const transactionId = await payFor(ordered.id, bed, { amount })
        await expectRefunded(oracle, ordered, [{ transactionId, inputIndex: 0, refundIndex }])
      }
    },
  )

  test.each(vmTypes)('paid on all six families and filled on %s is attested for both', async (output) => {
    const filledOn = beds.of[output]
    const paidOn = Object.values(beds.of)
    const order = orderAcross(paidOn, filledOn)
    // Too much of some, too little of others: what counts is the weighted sum.
    const paid = paidOn.map((bed, index) => ({
      bed,
      amount: askedAmount(bed) + (BigInt(index - 2) * askedAmount(bed)) / 50n,
    }))
    const ordered = await depositOrder(order, paid, oracle.networkOf)
    await expectFilled(
      oracle,
      ordered,
      await payFor(ordered.id, filledOn, { amount: filledAmount(filledOn) }),
    )
    const scale = bpsDiffOf(ordered)
    const refunds = []
    for (const [inputIndex, bed] of paidOn.entries()) {
      const amount = refundedAmount(bed) + (refundedAmount(bed) * scale) / 10n ** 18n
      refunds.push({ transactionId: await payFor(ordered.id, bed, { amount }), inputIndex, refundIndex: 0 })
    }
    await expectRefunded(oracle, ordered, refunds)
  })
})

/** Families whose ids a family can spell: under those there is no transaction, under others no id. */
const spelledAlike: Readonly<Record<VmType, readonly VmType[]>> = {
  'ethereum-vm': ['hyperliquid-vm'],
  'hyperliquid-vm': ['ethereum-vm'],
  'bitcoin-vm': ['tron-vm'],
  'tron-vm': ['bitcoin-vm', 'ethereum-vm', 'hyperliquid-vm'],
  'lighter-vm': ['bitcoin-vm', 'tron-vm'],
  'solana-vm': [],
}
const strangers = pairings
  .filter(([claimed, happened]) => claimed !== happened)
  .map(([claimed, happened]) => {
    const isSpelled = spelledAlike[claimed].includes(happened)
    return [happened, claimed, isSpelled ? 'TRANSACTION_MISSING' : 'INVALID_TRANSACTION_ID'] as const
  })

const upper = (id: string) => id.toUpperCase()
const prefixed = (id: string) => `0x${id}`
const upperDigits = (id: string) => `0x${id.slice(2).toUpperCase()}`
const withoutPrefix = (id: string) => id.slice(2)
const longer = (id: string) => `${id}1`

type Spelled = readonly ((id: string) => string)[]
const spellings: Readonly<Record<VmType, { readonly accepted: Spelled; readonly refused: Spelled }>> = {
  'ethereum-vm': { accepted: [upperDigits], refused: [upper, withoutPrefix, longer] },
  'hyperliquid-vm': { accepted: [upperDigits], refused: [upper, withoutPrefix, longer] },
  'bitcoin-vm': { accepted: [upper], refused: [prefixed, longer] },
  'tron-vm': { accepted: [upper, prefixed], refused: [(id) => prefixed(prefixed(id)), longer] },
  'lighter-vm': { accepted: [upper], refused: [prefixed, longer] },
  'solana-vm': { accepted: [], refused: [prefixed, longer] },
}

const own = new Map<VmType, Promise<DepositedOrder>>()

/** One order of each family that no test settles. */
function ownOrder(family: VmType): Promise<DepositedOrder> {
  const ordered = own.get(family) ?? deposited([beds.of[family]], beds.of[family])
  own.set(family, ordered)
  return ordered
}

describe('an order paid on all six families', () => {
  let ordered: DepositedOrder
  let fill: { readonly transactionId: string }
  beforeAll(async () => {
    const filledOn = beds.of['solana-vm']
    ordered = await deposited(Object.values(beds.of), filledOn)
    const amount = filledAmount(filledOn)
    fill = { transactionId: await payFor(ordered.id, filledOn, { amount }) }
  })

  test.each([...vmTypes.entries()])('is not settled without entry %i, its deposit on %s', async (missing) => {
    const { settlement } = ordered
    const inputs = settlement.inputs.filter(({ inputIndex }) => inputIndex !== missing)
    expect(await oracle.post(paths.fills, { ...settlement, inputs, fill })).toMatchObject({
      status: 400,
      body: { errorCode: 'MISSING_INPUT' },
    })
  })

  test.each([...vmTypes.entries()])(
    'is not settled when entry %i is the deposit of another order on %s',
    async (replaced, family) => {
      const { settlement } = ordered
      const [other] = (await ownOrder(family)).settlement.inputs
      const inputs = settlement.inputs.map((entry) =>
        entry.inputIndex === replaced ? { ...other, inputIndex: replaced } : entry,
      )
      expect(await oracle.post(paths.fills, { ...settlement, inputs, fill })).toMatchObject({
        status: 400,
        body: { errorCode: 'INVALID_INPUT', errorData: JSON.stringify({ inputIndex: replaced }) },
      })
    },
  )
})

describe('a transaction on another family', () => {
  test.each(strangers)('a payment on %s settles nothing on %s: %s', async (happened, claimed, errorCode) => {
    const { id, settlement } = await ownOrder(claimed)
    const bed = beds.of[happened]
    const transactionId = await payFor(id, bed, { amount: askedAmount(bed) })
    const refused = { status: 400, body: { errorCode } }
    expect(await oracle.post(paths.fills, { ...settlement, fill: { transactionId } })).toMatchObject(refused)
    const refunds = [{ transactionId, inputIndex: 0, refundIndex: 0 }]
    expect(await oracle.post(paths.refunds, { ...settlement, refunds })).toMatchObject(refused)
  })

  test.each(strangers)('a deposit on %s pays no input on %s: %s', async (happened, claimed, errorCode) => {
    const { id, settlement } = await ownOrder(claimed)
    const { order, orderSignature } = settlement
    const bed = beds.of[happened]
    const { transactionId, onchainId } = await bed.deposit({ orderId: id, amount: askedAmount(bed) })
    await bed.finalize()
    const inputs = [{ transactionId, onchainId, inputIndex: 0 }]
    const paid = await payFor(id, beds.of[claimed], { amount: filledAmount(beds.of[claimed]) })
    const fill = { order, orderSignature, inputs, fill: { transactionId: paid } }
    expect(await oracle.post(paths.fills, fill)).toMatchObject({ status: 400, body: { errorCode } })
    const { chain } = beds.of[claimed]
    const claim = { chainId: chain.id, transactionId }
    expect(await oracle.post(paths.deposits, claim)).toMatchObject({ status: 400, body: { errorCode } })
  })
})

describe.each(vmTypes)('on %s', (family) => {
  const refused = (errorCode: string) => ({ status: 400, body: { errorCode } })

  async function fill(payment: { amount?: bigint; recipient?: string; orderId?: `0x${string}` }) {
    const bed = beds.of[family]
    const { id, settlement } = await ownOrder(family)
    const { orderId = id, ...paid } = payment
    const transactionId = await payFor(orderId, bed, { amount: filledAmount(bed), ...paid })
    return oracle.post(paths.fills, { ...settlement, fill: { transactionId } })
  }

  async function refund(payment: { amount?: bigint; recipient?: string; orderId?: `0x${string}` }) {
    const bed = beds.of[family]
    const { id, settlement } = await ownOrder(family)
    const { orderId = id, ...paid } = payment
    const amount = overpaid(refundedAmount(bed))
    const transactionId = await payFor(orderId, bed, { amount, ...paid })
    const refunds = [{ transactionId, inputIndex: 0, refundIndex: 0 }]
    return oracle.post(paths.refunds, { ...settlement, refunds })
  }

  const another = `0x${'0d'.repeat(32)}` as const

  test('a fill for another order settles nothing', async () => {
    expect(await fill({ orderId: another })).toMatchObject(refused('ORDER_NOT_REFERENCED'))
  })

  test('a refund for another order settles nothing', async () => {
    expect(await refund({ orderId: another })).toMatchObject(refused('ORDER_NOT_REFERENCED'))
  })

  test('a fill one unit short settles nothing', async () => {
    const amount = filledAmount(beds.of[family]) - 1n
    expect(await fill({ amount })).toMatchObject(refused('INSUFFICIENT_FILL'))
  })

  test('a refund one unit short of its scaled amount settles nothing', async () => {
    const amount = overpaid(refundedAmount(beds.of[family])) - 1n
    expect(await refund({ amount })).toMatchObject(refused('INSUFFICIENT_REFUND'))
  })

  test('a fill to somebody else settles nothing', async () => {
    const recipient = beds.of[family].otherRecipient
    expect(await fill({ recipient })).toMatchObject(refused('INSUFFICIENT_FILL'))
  })

  test('a refund to somebody else settles nothing', async () => {
    const recipient = beds.of[family].otherRecipient
    expect(await refund({ recipient })).toMatchObject(refused('INSUFFICIENT_REFUND'))
  })

  test('the deposit of another order pays no input', async () => {
    const bed = beds.of[family]
    const { id, settlement } = await ownOrder(family)
    const other = await deposited([bed], bed)
    const transactionId = await payFor(id, bed, { amount: filledAmount(bed) })
    const claimed = { ...settlement, inputs: other.settlement.inputs, fill: { transactionId } }
    expect(await oracle.post(paths.fills, claimed)).toMatchObject(refused('INVALID_INPUT'))
  })

  test('the onchain id of the deposit on another chain pays no input', async () => {
    const bed = beds.of[family]
    const { id, settlement } = await ownOrder(family)
    const transactionId = await payFor(id, bed, { amount: filledAmount(bed) })
    const inputs = settlement.inputs.map((input) => ({
      ...input,
      onchainId: onchainId({
        chainId: 'another',
        onchainIndex: '0',
        transactionId: input.transactionId,
      }),
    }))
    const claimed = { ...settlement, inputs, fill: { transactionId } }
    expect(await oracle.post(paths.fills, claimed)).toMatchObject(refused('INVALID_INPUT'))
  })

  test('a chain is named by its id in its own letters, never by its number on the hub', async () => {
    const { chain } = beds.of[family]
    const { settlement } = await ownOrder(family)
    const { order, inputs } = settlement
    const [{ transactionId = '' } = {}] = inputs
    // No chain of an order has capital letters in its id: there the shape is wrong already.
    for (const [chainId, inOrder] of [
      [chain.hubChainId, 'UNKNOWN_CHAIN'],
      [chain.id.toUpperCase(), 'INVALID_REQUEST'],
    ] as const) {
      const deposit = { chainId, transactionId }
      expect(await oracle.post(paths.deposits, deposit)).toMatchObject(refused('UNKNOWN_CHAIN'))
      const renamed = { ...order, output: { ...order.output, chainId } }
      const fill = { ...settlement, order: renamed, fill: { transactionId } }
      expect(await oracle.post(paths.fills, fill)).toMatchObject(refused(inOrder))
    }
  })

  test('every spelling of its ids has the same answer, and what is no spelling has none', async () => {
    const bed = beds.of[family]
    const { id, settlement } = await ownOrder(family)
    const paid = await payFor(id, bed, { amount: filledAmount(bed) })
    const ask = (spelled: (id: string) => string) => {
      const inputs = settlement.inputs.map((input) => ({
        ...input,
        transactionId: spelled(input.transactionId),
      }))
      return oracle.post(paths.fills, { ...settlement, inputs, fill: { transactionId: spelled(paid) } })
    }
    const plain = await ask((transactionId) => transactionId)
    expect(plain.status).toBe(200)
    const { accepted, refused: none } = spellings[family]
    for (const spelled of accepted) expect(await ask(spelled)).toEqual(plain)
    for (const spelled of none) expect(await ask(spelled)).toMatchObject(refused('INVALID_TRANSACTION_ID'))
  })
})

describe.each(['ethereum-vm', 'hyperliquid-vm', 'bitcoin-vm'] as const)('on %s', (family) => {
  test('an order that spells its addresses in other letters is the same order', async () => {
    const bed = beds.of[family]
    const ordered = await ownOrder(family)
    const { id, settlement } = ordered
    const transactionId = await payFor(id, bed, { amount: filledAmount(bed) })
    const { order } = settlement
    const recipient = bed.recipient.startsWith('0x')
      ? `0x${bed.recipient.slice(2).toUpperCase()}`
      : bed.recipient.toUpperCase()
    expect(recipient).not.toBe(bed.recipient)
    const payments = order.output.payments.map((payment) => ({ ...payment, recipient }))
    const respelled = { ...order, output: { ...order.output, payments } }
    const fill = { ...settlement, order: respelled, fill: { transactionId } }
    expect(await oracle.post(paths.fills, fill)).toMatchObject({
      status: 200,
      body: {
        message: { result: { orderId: id } },
        execution: executionOf(ordered, oracle.networkOf, { paysFees: true }),
      },
    })
  })
})
