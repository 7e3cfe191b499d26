// Goal: one order whose inputs and output lie on different families is attested for fill and refund in every
// pairing. Method: the whole HTTP surface over one running chain of each family (a real EVM node, its contracts
// behind Tron's API, a depository program on LiteSVM, and stand-ins of the other APIs); answers are compared
// with core's encoders and their signatures recovered. @source oracle-protocol.md 1.3, 1.4, 2.2, 4
import {
  attestationKinds,
  depositsExecutionKey,
  encodeMintAction,
  hubTokenId,
  orderAddress,
  type ProtocolChain,
  type VmType,
  verifyAttestation,
  vmTypes,
} from '@causeway/core'
import { recoverSigner } from '@causeway/signer'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { protocolChain } from '../apps/oracle/src/attestations/context.ts'
import { paths } from '../apps/oracle/test/fixtures/oracleApp.ts'
import { oracleKey } from '../packages/core/test/vectors/messages.ts'
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

function chainOf(chainId: string): ProtocolChain {
  const bed = Object.values(beds.of).find(({ chain }) => chain.id === chainId)
  if (bed === undefined) throw new Error(`no chain ${chainId}`)
  return protocolChain(bed.chain)
}

function expectSigned(kind: 'deposits' | 'fills' | 'refunds', body: unknown): void {
  const { hub, networkOf } = oracle
  const terms = { hub, networkOf, signers: [privateKeyToAddress(oracleKey)], threshold: 1 }
  const verified = { ...terms, recover: recoverSigner }
  const verdicts = {
    deposits: () => verifyAttestation(body, { ...verified, kind: attestationKinds.deposits }),
    fills: () => verifyAttestation(body, { ...verified, kind: attestationKinds.fills }),
    refunds: () => verifyAttestation(body, { ...verified, kind: attestationKinds.refunds }),
  }
  expect(verdicts[kind]()).toMatchObject({ isQuorum: true, problems: [] })
}

async function expectFilled(ordered: DepositedOrder, transactionId: string): Promise<void> {
  const { id, settlement } = ordered
  const { status, body } = await oracle.post(paths.fills, { ...settlement, fill: { transactionId } })
  expect(body).toMatchObject({
    message: {
      data: { ...settlement, fill: { transactionId } },
      result: { orderId: id, status: 1, totalWeightedInputPaymentBpsDiff: bpsDiffOf(ordered).toString() },
    },
    execution: executionOf(ordered, chainOf, { paysFees: true }),
  })
  expect(status).toBe(200)
  expectSigned('fills', body)
}

async function expectRefunded(
  ordered: DepositedOrder,
  refunds: readonly {
    readonly transactionId: string
    readonly inputIndex: number
    readonly refundIndex: number
  }[],
): Promise<void> {
  const { id, settlement } = ordered
  const { status, body } = await oracle.post(paths.refunds, { ...settlement, refunds })
  expect(body).toMatchObject({
    message: {
      data: { ...settlement, refunds },
      result: { orderId: id, status: 1, totalWeightedInputPaymentBpsDiff: bpsDiffOf(ordered).toString() },
    },
    execution: executionOf(ordered, chainOf, { paysFees: false }),
  })
  expect(status).toBe(200)
  expectSigned('refunds', body)
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
              ...{ onchainId, depository: chain.depository, depositId: id },
              ...{ depositor, currency, amount: amount.toString() },
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
      expectSigned('deposits', body)
    }
  })
})

describe('an order', () => {
  test.each(pairings)(
    'paid on %s and filled on %s is attested for fill and refund',
    async (input, output) => {
      const [paidOn, filledOn] = [beds.of[input], beds.of[output]]
      const ordered = await deposited([paidOn], filledOn)
      await expectFilled(ordered, await payFor(ordered.id, filledOn, { amount: filledAmount(filledOn) }))
      for (const [refundIndex, bed] of [paidOn, filledOn].entries()) {
        const amount = overpaid(refundedAmount(bed))
        const transactionId = await payFor(ordered.id, bed, { amount })
        await expectRefunded(ordered, [{ transactionId, inputIndex: 0, refundIndex }])
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
    await expectFilled(ordered, await payFor(ordered.id, filledOn, { amount: filledAmount(filledOn) }))
    const scale = bpsDiffOf(ordered)
    const refunds = []
    for (const [inputIndex, bed] of paidOn.entries()) {
      const amount = refundedAmount(bed) + (refundedAmount(bed) * scale) / 10n ** 18n
      refunds.push({ transactionId: await payFor(ordered.id, bed, { amount }), inputIndex, refundIndex: 0 })
    }
    await expectRefunded(ordered, refunds)
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

const own = new Map<VmType, Promise<DepositedOrder>>()

/** One order of each family that no test settles. */
function ownOrder(family: VmType): Promise<DepositedOrder> {
  const ordered = own.get(family) ?? deposited([beds.of[family]], beds.of[family])
  own.set(family, ordered)
  return ordered
}

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
})
