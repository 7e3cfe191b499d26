// Goal: a quote is a promise that anyone can check and that the service cannot forget. Method: the real
// service with its real key and database; orders are hashed with the protocol's types by another
// library, the signer is recovered, and the row is read from PostgreSQL.

import { createHash } from 'node:crypto'
import {
  type Hex,
  orderId as hashOrder,
  type Order,
  orderSchema,
  timelineDomain,
  timelineTypes,
} from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { hashStruct, recoverMessageAddress, recoverTypedDataAddress } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { orderTypedData } from '../../../packages/core/test/vectors/orderTypedData.ts'
import { type TimelineAnswer, timelineSchema } from '../src/requests/timeline/timelineAnswer.ts'
import { price, type QuoteAnswer, quote, readOk, send } from './serviceSupport/callService.ts'
import { type LocalRequest, localRequest } from './serviceSupport/localRequest.ts'
import { type StillService, startStillService } from './serviceSupport/stillService.ts'
import { transactionsOf } from './serviceSupport/transactionsOf.ts'

/** EVM addresses are their own 20 bytes in the protocol's `bytes`. @source rule P-128 */
const orderTypes: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>> =
  orderTypedData

const evidenceKey: Hex = `0x${'5e'.repeat(32)}`

let database: TestDatabase
let still: StillService

beforeAll(async () => {
  database = await startTestDatabase()
  still = await startStillService({
    DATABASE_URL: database.connectionString,
    EVIDENCE_ECDSA_PRIVATE_KEY: evidenceKey,
  })
})
afterAll(async () => {
  await still?.stop()
  await database?.stop()
})

const bridge: LocalRequest = { amount: 40_000_000n }
const others: readonly (readonly [string, LocalRequest])[] = [
  ['a native bridge', { pay: 'native', amount: 10n ** 17n }],
  ['a swap on both sides', { pay: 'TIDE', receive: 'USDX', amount: 10n ** 19n }],
  [
    'calls and a gas top-up',
    { amount: 40_000_000n, more: { topupGas: true, txs: [noop()], txsGasLimit: 50_000 } },
  ],
]

/** A call that any chain runs: nothing, to nobody in particular. */
function noop() {
  return { to: `0x${'ab'.repeat(20)}`, value: '0', data: '0x' }
}

async function quoted(request: LocalRequest): Promise<QuoteAnswer> {
  const more = { includeProtocolData: true, ...request.more }
  return quote(still.url, localRequest(still.network, { ...request, more }))
}

function signedOrder({ protocol }: QuoteAnswer): { order: Order; orderId: Hex; signature: Hex } {
  if (protocol === undefined) throw new Error('the quote has no order')
  const { orderData, orderId, orderSignature } = protocol.v2
  // CAST: 32 and 65 bytes of hex; what follows fails for anything else.
  return { order: orderSchema.parse(orderData), orderId: orderId as Hex, signature: orderSignature as Hex }
}

type StoredRow = {
  readonly order_id: Buffer | null
  readonly order_data: Order | null
  readonly order_signature: Buffer | null
  readonly steps_digest: Buffer
  readonly expires_at: Date
  readonly deadline: Date
  readonly keep_until: Date
}

async function storedRow(requestId: string): Promise<StoredRow> {
  const rows = await database.database.query<StoredRow>(
    `select order_id, order_data, order_signature, steps_digest, expires_at, deadline, keep_until
     from orders where request_id = $1`,
    [bytes(requestId)],
  )
  expect(rows).toHaveLength(1)
  const [row] = rows
  if (row === undefined) throw new Error('not stored')
  return row
}

async function storedCount(): Promise<bigint> {
  const [row] = await database.database.query<{ count: bigint }>('select count(*) from orders')
  return row?.count ?? -1n
}

/** Members of a request in both versions. */
const shownSchema = z.object({
  requests: z.array(
    z.object({
      protocol: z
        .object({ v2: z.object({ orderId: z.string(), orderSignature: z.string().optional() }) })
        .optional(),
    }),
  ),
})

function bytes(hex: string): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}

describe('the order of an answer', () => {
  test.each([['a token bridge', bridge] as const, ...others])(
    'verifies for anyone: %s',
    async (_name, request) => {
      const { order, orderId, signature } = signedOrder(await quoted(request))
      expect(hashOrder(order, () => mainNetwork('ethereum-vm'))).toBe(orderId)
      expect(hashStruct({ data: { ...order }, types: orderTypes, primaryType: 'Order' })).toBe(orderId)
      const signer = await recoverMessageAddress({ message: { raw: orderId }, signature })
      expect(signer.toLowerCase()).toBe(order.solver)
      expect(order.solver).toBe(still.network.keys.orderSigner.address)
    },
  )

  test('verifies no more once a single amount is changed', async () => {
    const { order, signature } = signedOrder(await quoted(bridge))
    const [payment] = order.output.payments
    if (payment === undefined) throw new Error('the order pays nothing')
    const cheaper = { ...payment, minimumAmount: (BigInt(payment.minimumAmount) - 1n).toString() }
    const changed = { ...order, output: { ...order.output, payments: [cheaper] } }
    const raw = hashOrder(changed, () => mainNetwork('ethereum-vm'))
    const signer = await recoverMessageAddress({ message: { raw }, signature })
    expect(signer.toLowerCase()).not.toBe(order.solver)
  })

  test('is another one each time, and its id is in the deposit that the user signs', async () => {
    const answers = [await quoted(bridge), await quoted(bridge)]
    const orders = answers.map(signedOrder)
    expect(new Set(orders.map(({ orderId }) => orderId)).size).toBe(2)
    expect(new Set(answers.map(({ requestId }) => requestId)).size).toBe(2)
    const [first] = answers
    const deposit = first && transactionsOf(first).find(({ id }) => id === 'deposit')
    expect(deposit?.data).toContain(orders[0]?.orderId.slice(2))
    expect(first?.steps.at(-1)?.requestId).toBe(first?.requestId)
  })

  test('binds what the answer shows: the least output, the deposit and the refund', async () => {
    const answer = await quoted(bridge)
    const { order } = signedOrder(answer)
    const { currencyIn, currencyOut, refundCurrency } = answer.details
    expect(order.output.payments).toEqual([
      {
        recipient: answer.details.recipient,
        currency: currencyOut.currency.address,
        minimumAmount: currencyOut.minimumAmount,
        expectedAmount: currencyOut.amount,
      },
    ])
    expect(order.inputs.map(({ payment }) => payment)).toEqual([
      { chainId: 'base', currency: currencyIn.currency.address, amount: currencyIn.amount, weight: '1' },
    ])
    expect(order.inputs[0]?.refunds[0]?.minimumAmount).toBe(refundCurrency.amount)
    expect(order.fees).toEqual([])
  })
})

describe('the timeline of a quote', () => {
  async function timelineOf(requestId: string, query: string): Promise<TimelineAnswer> {
    const response = await fetch(`${still.url}/requests/${requestId}/timeline${query}`)
    expect(response.status).toBe(200)
    return timelineSchema.parse(await response.json())
  }

  test('O-206: tells what each source said of a price, and at which block how many endpoints told the chain alike', async () => {
    const { requestId } = await quoted({ pay: 'native', amount: 10n ** 17n })
    const [step] = (await timelineOf(requestId, '')).steps
    const told = (step?.evidence ?? []).map(({ kind, label, value }) => `${kind} ${label}: ${value}`)
    const feed = still.network.deployment.base.feeds['ETH/USD']
    expect(told).toEqual(
      expect.arrayContaining([
        expect.stringMatching(
          new RegExp(`^price ETH/USD by feed base ${feed}, read at block [0-9]+: [0-9.]+ USD of 20`, 'i'),
        ),
        expect.stringMatching(/^block read at block [0-9]+, alike at 1 of 1 endpoints: 0x[0-9a-f]{64}$/),
        expect.stringMatching(/^price network fee: [0-9]+ wei per gas$/),
      ]),
    )
  })

  test('is signed by the evidence key where that is asked for, and only there', async () => {
    const { requestId } = await quoted(bridge)
    expect((await timelineOf(requestId, '')).signed).toBeUndefined()
    const { signed, ...answer } = await timelineOf(requestId, '?signed=true')
    const signer =
      signed && (await recoverTypedDataAddress(timelineTypedData(answer, signed.asOf, signed.signature)))
    expect(signer).toBe(privateKeyToAddress(evidenceKey))
    expect(signer?.toLowerCase()).not.toBe(still.network.keys.orderSigner.address)
  })

  test('is refused by name for any other word than true and false', async () => {
    const { requestId } = await quoted(bridge)
    const response = await fetch(`${still.url}/requests/${requestId}/timeline?signed=yes`)
    expect([response.status, await response.json()]).toMatchObject([400, { errorCode: 'INVALID_REQUEST' }])
  })
})

/** As another library hashes it. */
function timelineTypedData(answer: TimelineAnswer, asOf: string, signature: string) {
  const { requestId, orderId, status, reason, steps } = answer
  return {
    domain: timelineDomain,
    types: timelineTypes,
    primaryType: 'Timeline' as const,
    message: {
      // CAST: 32 bytes of hex; hashing fails for anything else.
      requestId: requestId as Hex,
      orderId: (orderId ?? '0x') as Hex,
      status,
      reason: reason ?? '',
      asOf,
      steps: steps.map((step) => ({
        ...step,
        reason: step.reason ?? '',
        evidence: step.evidence.map(({ chainId = 0, ...each }) => ({ ...each, chainId: BigInt(chainId) })),
      })),
    },
    // CAST: 65 bytes of hex; recovering fails for anything else.
    signature: signature as Hex,
  }
}

describe('times of a quote', () => {
  test('Q-138: it expires a minute after it was made, its order an hour after', async () => {
    const earliest = Math.floor(Date.now() / 1_000)
    const answer = await quoted(bridge)
    const latest = Math.floor(Date.now() / 1_000)
    expect(answer.expiresAt).toBeGreaterThanOrEqual(earliest + 60)
    expect(answer.expiresAt).toBeLessThanOrEqual(latest + 60)
    const { order } = signedOrder(answer)
    expect(order.output.deadline).toBe(answer.expiresAt + 3_540)
    expect(order.inputs[0]?.refunds[0]?.deadline).toBe(order.output.deadline)
  })
})

describe('the stored quote', () => {
  test.each([['a token bridge', bridge] as const, ...others])(
    'holds the very order, signature and steps of the answer: %s',
    async (_name, request) => {
      const answer = await quoted(request)
      const { order, orderId, signature } = signedOrder(answer)
      const row = await storedRow(answer.requestId)
      expect(row.order_id).toEqual(bytes(orderId))
      expect(row.order_signature).toEqual(bytes(signature))
      expect(row.order_data).toEqual(order)
      expect(row.steps_digest).toEqual(createHash('sha256').update(JSON.stringify(answer.steps)).digest())
      expect(row.expires_at.getTime()).toBe(answer.expiresAt * 1_000)
      expect(row.deadline.getTime()).toBe(order.output.deadline * 1_000)
    },
  )

  test('Q-184: is signed once somebody asks for it or pays, and the same for everybody', async () => {
    const { protocol, requestId } = await quote(still.url, localRequest(still.network, bridge))
    expect(protocol?.v2).not.toHaveProperty('orderSignature')
    expect((await storedRow(requestId)).order_signature).toBeNull()
    const show = async (path: string) =>
      readOk(await send(`${still.url}${path}`), shownSchema).requests[0]?.protocol?.v2
    expect(await show(`/requests/v3?id=${requestId}`)).toBeUndefined()
    expect((await storedRow(requestId)).order_signature).toBeNull()

    const reading = Array.from({ length: 20 }, (_, index) =>
      show(`/requests/v${index % 2 === 0 ? 3 : 2}?id=${requestId}&includeOrderData=true`),
    )
    const read = await Promise.all(reading)
    expect(new Set(read.map((one) => one?.orderSignature)).size).toBe(1)
    const { orderId, orderSignature } = read[0] ?? {}
    expect(orderId).toBe(protocol?.v2.orderId)
    // CAST: 32 and 65 bytes of hex; what follows fails for anything else.
    const made = { message: { raw: orderId as Hex }, signature: orderSignature as Hex }
    expect((await recoverMessageAddress(made)).toLowerCase()).toBe(protocol?.v2.orderData.solver)
    expect((await storedRow(requestId)).order_signature).toEqual(bytes(String(orderSignature)))
  })

  test('Q-138: is kept until thirty days after its deadline', async () => {
    const { deadline, keep_until } = await storedRow((await quoted(bridge)).requestId)
    expect(keep_until.getTime() - deadline.getTime()).toBeGreaterThanOrEqual(30 * 86_400_000)
  })

  test('of what a user executes alone has steps and no order', async () => {
    const answer = await quoted({ to: 'base', pay: 'native', receive: 'wrapped', amount: 10n ** 16n })
    expect(answer.protocol).toBeUndefined()
    const row = await storedRow(answer.requestId)
    expect([row.order_id, row.order_data, row.order_signature]).toEqual([null, null, null])
    expect(row.steps_digest).toEqual(createHash('sha256').update(JSON.stringify(answer.steps)).digest())
  })

  test('is one row per quote, and a price leaves none', async () => {
    const before = await storedCount()
    await Promise.all(Array.from({ length: 20 }, () => quoted(bridge)))
    expect((await storedCount()) - before).toBe(20n)
    await price(still.url, localRequest(still.network, bridge))
    expect((await storedCount()) - before).toBe(20n)
  })
})
