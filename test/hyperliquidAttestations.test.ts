// Goal: the routes attest what happened on Hyperliquid like on any other chain, with the protocol's ids. Method:
// the whole HTTP surface over the real reader and the stand-in of the exchange, with real signatures; entries of
// the hub are constructed.
// CAUSEWAY_FAULTS=1 runs the long form of what endpoints say. @source rules P-89, P-127, F-151, F-155

import { type Hex, type Order, onchainId } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import {
  encodeHyperliquidWithdrawal,
  type HyperliquidWithdrawal,
  hyperliquidWithdrawalId,
} from '@causeway/families/rules'
import { encodeAbiParameters, parseAbiParameters } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { paths } from '../apps/oracle/test/fixtures/oracleApp.ts'
import { mutateAnswers } from '../packages/chains/test/fixtures/mutateAnswers.ts'
import {
  account,
  chainId,
  depository,
  type HyperliquidBed,
  hype,
  native,
  openReader,
  otherDepository,
  recipient,
  sendAsset,
  sender,
  startHyperliquidBed,
  timeMs,
  timeSeconds,
  usdc,
  usdSend,
} from './families/hyperliquidSupport/hyperliquidBed.ts'
import type { FamilySide, SeenWithdrawal } from './support/familyRoutes/familySide.ts'
import { depositedOrder, familyOrder } from './support/familyRoutes/orders.ts'
import { evmOwner } from './support/familyRoutes/owners.ts'
import { routeFuzz } from './support/familyRoutes/routeFuzz.ts'
import { depositCases, oracleOf, refused, settlementCases } from './support/familyRoutes/settlementCases.ts'
import { withdrawalCases } from './support/familyRoutes/withdrawalCases.ts'
import { withdrawalFlowCases } from './support/familyRoutes/withdrawalFlowCases.ts'

const units = (amount: bigint) => `0.${amount.toString().padStart(8, '0')}`

let bed: HyperliquidBed
let side: FamilySide
beforeAll(async () => {
  bed = await startHyperliquidBed()
  side = createSide()
})
afterAll(() => bed?.stop())

let nonce = BigInt(timeMs)

/** Lists a transfer of the native currency, and maps its nonce. */
function listed(change: {
  readonly destination: string
  readonly amount: bigint
  readonly orderId?: Hex
  readonly user?: Hex
}): Hex {
  nonce += 1n
  const { destination, amount, orderId, user = sender } = change
  const unmapped = { data: '0x', createdAtSeconds: 0n, readAtSeconds: timeSeconds + 3_601n } as const
  bed.map({ user, nonce, ...(orderId === undefined ? unmapped : { data: orderId }) })
  return bed.list(usdSend({ destination, amount: units(amount), time: nonce }), { user })
}

function createSide(): FamilySide {
  return {
    chain: {
      id: chainId,
      ...mainNetwork('hyperliquid-vm'),
      hubChainId: '59000',
      depository,
      additionalDepositories: [otherDepository],
    },
    currency: native,
    native,
    recipient,
    stranger: account('99'),
    hubToken: 103917556741680225303801409477047529438646539725594852362405311954551467894825n,
    missingTransactionId: `0x${'99'.repeat(32)}`,
    openReader(count) {
      const { reader, quorum } = openReader(bed, {
        count,
        limits: { finalEntriesMax: 0 },
        quorumLimits: { patienceMs: 10 },
      })
      return { reader, close: () => quorum.close() }
    },
    async deposit(orderId) {
      const named = orderId === undefined ? {} : { orderId }
      const transactionId = listed({ destination: depository, amount: 1_000n, ...named })
      return { transactionId, onchainIndex: '0', depositor: sender, timestampSeconds: timeSeconds }
    },
    // Not the depositor, who may be paid back.
    pay: async ({ recipient: destination, ...payment }) =>
      listed({ destination, ...payment, user: account('55') }),
    withdraw: async () => executed(),
    lie(seed) {
      if (seed === undefined) return void bed.exchanges[0].set({ kind: 'none' })
      const rewrite = (_path: string, body: unknown) =>
        JSON.parse(mutateAnswers(JSON.stringify({ result: body }), seed)).result
      bed.exchanges[0].set({ kind: 'lie', rewrite })
    },
    fail: () => bed.exchanges[0].set({ kind: 'html' }),
  }
}

/** A withdrawal of 12.5 USDC on the spot dex; no two are one. */
function payout(): HyperliquidWithdrawal {
  nonce += 1n
  return sendAsset({ destination: recipient, nonce })
}

function seen(
  action: HyperliquidWithdrawal,
  change: Pick<SeenWithdrawal, 'status'> & Partial<SeenWithdrawal>,
): SeenWithdrawal {
  return {
    withdrawal: encodeHyperliquidWithdrawal(action),
    withdrawalId: hyperliquidWithdrawalId(action),
    currency: usdc,
    recipient,
    amount: 1_250_000_000n,
    ...change,
  }
}

function executed(): SeenWithdrawal & { readonly transactionId: string } {
  const action = payout()
  const transactionId = bed.list(action, { user: depository })
  const named = { transactionId, executingTransactionId: transactionId }
  return { ...seen(action, { status: 'executed' }), ...named }
}

describe('a deposit on the exchange', () => {
  const ask = async (transactionId: string) =>
    (await oracleOf(side)).post(paths.deposits, { chainId, transactionId })

  test('whose nonce the hub does not know within the hour is asked for again', async () => {
    nonce += 1n
    expect(await ask(bed.list(usdSend({ time: nonce })))).toMatchObject({
      status: 400,
      body: { errorCode: 'NONCE_MAPPING_MISSING', retryable: true },
    })
  })

  test('that failed is none', async () => {
    expect(await ask(bed.list(usdSend(), { error: 'Insufficient balance' }))).toMatchObject(
      refused('TRANSACTION_REVERTED'),
    )
  })

  test('of a token that the first perps dex does not have, or that the hub has no name for, is refused', async () => {
    bed.map({})
    const perps = { sourceDex: '', destinationDex: '' }
    expect(await ask(bed.list(sendAsset({ ...perps, token: `HYPE:${hype}` })))).toMatchObject(
      refused('PERPS_TOKEN_UNSUPPORTED'),
    )
    expect(await ask(bed.list(sendAsset({ destinationDex: 'xyz' })))).toMatchObject(
      refused('INVALID_ADDRESS'),
    )
    expect(await ask(bed.list(sendAsset({ token: `X:0x${'01'.repeat(16)}` })))).toMatchObject(
      refused('CURRENCY_DECIMALS_UNKNOWN'),
    )
  })

  test('is none where nothing was sent to the depository', async () => {
    for (const action of [usdSend({ destination: recipient }), { type: 'order' }]) {
      expect(await ask(bed.list(action))).toMatchObject({ status: 200, body: { messages: [] } })
    }
  })
})

describe('a hint', () => {
  /** Sends a token, which a ledger shows; the hint names where. */
  function sent(amount: bigint, orderId: Hex) {
    nonce += 1n
    bed.map({ nonce, data: orderId })
    const timestamp = Number(nonce)
    const action = sendAsset({ destination: recipient, amount: units(amount), nonce })
    const transactionId = bed.list(action, { timeMs: timestamp })
    return { transactionId, hints: { 'hyperliquid-vm': { user: sender, timestamp } } }
  }

  /** Questions to the explorer for single transactions. */
  async function explored<T>(ask: () => Promise<T>): Promise<readonly [T, number]> {
    bed.exchanges[0].resetCounters()
    const answer = await ask()
    return [answer, bed.exchanges[0].counters()['/explorer txDetails'] ?? 0]
  }

  const inUsdc = (inputs: number): Order => {
    const order = familyOrder({ ...side, currency: usdc })
    const [input] = order.inputs
    if (input === undefined) throw new Error('no input')
    const payment = { ...input.payment, currency: native }
    return { ...order, inputs: Array.from({ length: inputs }, () => ({ ...input, payment })) }
  }

  const hinting = { wrong: { 'hyperliquid-vm': { user: account('77'), timestamp: 1 } } }

  test('of a fill saves the question for it, and changes nothing that is signed', async () => {
    const { post, networkOf } = await oracleOf(side)
    const { id, settlement } = await depositedOrder(side, networkOf, inUsdc(1))
    const { transactionId, hints } = sent(900n, id)
    const fill = { ...settlement, fill: { transactionId } }
    const [plain, questions] = await explored(() => post(paths.fills, fill))
    expect([plain.status, questions]).toEqual([200, 2])
    expect(await explored(() => post(paths.fills, { ...fill, hints }))).toEqual([plain, 1])
    expect(await explored(() => post(paths.fills, { ...fill, hints: hinting.wrong }))).toEqual([plain, 2])
  })

  test('of each refund saves the question for it, and changes nothing that is signed', async () => {
    const { post, networkOf } = await oracleOf(side)
    const { id, onchainId: first, settlement } = await depositedOrder(side, networkOf, inUsdc(2))
    const second = await side.deposit(id)
    const inputs = [
      ...settlement.inputs,
      {
        transactionId: second.transactionId,
        inputIndex: 1,
        onchainId: onchainId({ chainId, transactionId: second.transactionId, onchainIndex: '0' }),
      },
    ]
    expect(inputs.map((input) => input.onchainId)).toContain(first)
    const payments = [sent(950n, id), sent(950n, id)]
    const body = (hintOf: (payment: ReturnType<typeof sent>) => object) => ({
      ...settlement,
      inputs,
      refunds: payments.map((payment, inputIndex) => ({
        transactionId: payment.transactionId,
        inputIndex,
        refundIndex: 0,
        ...hintOf(payment),
      })),
    })
    const none = body(() => ({}))
    const [plain, questions] = await explored(() => post(paths.refunds, none))
    expect([plain.status, questions]).toEqual([200, 4])
    const each = body(({ hints }) => ({ hints }))
    expect(await explored(() => post(paths.refunds, each))).toEqual([plain, 2])
    const [{ hints } = {}] = payments
    expect(await explored(() => post(paths.refunds, { ...none, hints }))).toEqual([plain, 3])
    expect(await explored(() => post(paths.refunds, { ...each, hints: hinting.wrong }))).toEqual([plain, 2])
  })

  test.each<[string, object]>([
    ['a user who is none', { user: 'nobody', timestamp: 1 }],
    ['a time before 1970', { user: sender, timestamp: -1 }],
    ['a time that is a text', { user: sender, timestamp: '1' }],
    ['no time', { user: sender }],
  ])('with %s is refused', async (_what, hint) => {
    const { post, networkOf } = await oracleOf(side)
    const { id, settlement } = await depositedOrder(side, networkOf, inUsdc(1))
    const { transactionId } = sent(950n, id)
    const entry = { transactionId, inputIndex: 0, refundIndex: 0 }
    const hints = { 'hyperliquid-vm': hint }
    const bodies: readonly (readonly [string, object])[] = [
      [paths.fills, { fill: { transactionId }, hints }],
      [paths.refunds, { refunds: [entry], hints }],
      [paths.refunds, { refunds: [{ ...entry, hints }] }],
    ]
    for (const [path, body] of bodies) {
      expect((await post(path, { ...settlement, ...body })).status).toBe(400)
    }
  })
})

depositCases(() => side)
settlementCases(() => side)
withdrawalFlowCases(
  () => side,
  () => ({
    owner: evmOwner,
    currency: usdc,
    recipient,
    additionalData: { 'hyperliquid-vm': { currencyHyperliquidSymbol: 'USDC', currentTime: timeMs } },
    payload: {
      depository,
      currency: `USDC:${usdc}`,
      recipient,
      data: encodeAbiParameters(parseAbiParameters('uint64, string, string'), [
        BigInt(timeMs),
        'spot',
        'spot',
      ]),
    },
    hostile: [
      ['without a symbol and a time', { additionalData: undefined }, 'INVALID_WITHDRAW_REQUEST'],
      [
        'with those of another family',
        { additionalData: { 'lighter-vm': undefined } },
        'INVALID_WITHDRAW_REQUEST',
      ],
      [
        'of another token by its symbol',
        { additionalData: { 'hyperliquid-vm': { currencyHyperliquidSymbol: 'X:0x00', currentTime: 1 } } },
        'INVALID_WITHDRAW_REQUEST',
      ],
      ['to a token', { recipient: usdc }, 'INVALID_ADDRESS'],
      ['of an account', { currency: `0x${'ab'.repeat(20)}` }, 'INVALID_ADDRESS'],
    ],
  }),
)
withdrawalCases(
  () => side,
  [
    ['that no transaction carries is pending', async () => seen(payout(), { status: 'pending' })],
    ['is burnt under the transaction that carries it', async () => executed()],
    [
      'is burnt under it also where nobody names it',
      async () => {
        const { transactionId: _named, ...unnamed } = executed()
        return unnamed
      },
    ],
    [
      'of the native currency is burnt',
      async () => {
        nonce += 1n
        const action = usdSend({ destination: recipient, time: nonce })
        const transactionId = bed.list(action, { user: depository })
        const named = { transactionId, executingTransactionId: transactionId }
        return seen(action, { status: 'executed', currency: native, ...named })
      },
    ],
    [
      'of an additional depository is burnt from the address of that one',
      async () => {
        const action = payout()
        const transactionId = bed.list(action, { user: otherDepository })
        const named = { transactionId, executingTransactionId: transactionId }
        return seen(action, { status: 'executed', depository: otherDepository, ...named })
      },
    ],
    [
      'whose named transaction failed goes back to its owner',
      async () => {
        const action = payout()
        const transactionId = bed.list(action, { user: depository, error: 'Insufficient balance' })
        return seen(action, { status: 'expired', transactionId })
      },
    ],
    [
      'whose transaction failed stays pending where nobody names it',
      async () => {
        const action = payout()
        bed.list(action, { user: depository, error: 'Insufficient balance' })
        return seen(action, { status: 'pending' })
      },
    ],
    [
      'that somebody else sent in its words is pending',
      async () => {
        const action = payout()
        return seen(action, { status: 'pending', transactionId: bed.list(action) })
      },
    ],
  ],
)

routeFuzz(() => side)
