import { encodeFillExtraData, encodeOrderCall, type Hex, type PaymentQuestion } from '@causeway/core'
import { encodeTransfer } from '@causeway/families/rules'
import { randomWord, testCalls, testFill } from '@causeway/localnet'
import { concatHex, encodeFunctionData, erc20Abi } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { aSignal } from '../../families/ethereumSupport/chainBed.ts'
import {
  approveData,
  bundle,
  type DepositoryNetwork,
  type ReaderChange,
  type Sent,
  zeroAddress,
} from './depositoryNetwork.ts'

const recipient: Hex = `0x${'21'.repeat(20)}`
const other: Hex = `0x${'22'.repeat(20)}`
/** Selector by which wrapped native coin is made. */
const wrap: Hex = '0xd0e30db0'

type Call = { readonly to: Hex; readonly data: Hex; readonly value: bigint }
type Fill = {
  readonly id?: Hex
  readonly natives?: readonly { readonly to: Hex; readonly amount: bigint }[]
  readonly tokens?: readonly { readonly token: Hex; readonly to: Hex; readonly amount: bigint }[]
  readonly orderCalls?: ReturnType<typeof testCalls>['orderCalls'] | undefined
}
/** Pairs of payee and currency. */
type Asked = readonly (readonly [payee: Hex, currency: Hex])[]
type Question = Partial<Omit<PaymentQuestion, 'payments'>> & { readonly payments?: Asked }

/** Contract for payments, as every network reads them, by the fill contract and by plain transfers. */
export function describePayments(family: string, start: () => Promise<DepositoryNetwork>): void {
  describe(`a payment of ${family}`, () => {
    let network: DepositoryNetwork
    let usdc: Hex
    let weth: Hex
    let fillContract: Hex
    let depository: Hex
    let multicall3: Hex
    let solver: Hex
    /** Recorded once, so each test has an order of its own. */
    let orderId: Hex

    beforeAll(async () => {
      network = await start()
      const { deployment, network: local } = network.evm
      usdc = deployment.tokens.USDC
      weth = deployment.wrappedNative
      ;({ fillContract, depository, multicall3 } = deployment)
      solver = local.keys.fillWallet.address
    })
    afterAll(() => network?.stop())
    beforeEach(() => {
      orderId = randomWord()
    })

    const bySolver = (to: Hex, data: Hex, value = 0n) =>
      network.send(to, data, value, network.evm.network.keys.fillWallet)
    const tokenTransfer = (to: Hex, amount: bigint, behind: Hex = orderId) =>
      bySolver(usdc, concatHex([encodeTransfer(to, amount), behind]))

    async function paid(
      { transactionId }: Pick<Sent, 'transactionId'>,
      { payments = [[recipient, zeroAddress]], ...question }: Question = {},
      change: ReaderChange = {},
    ) {
      await network.evm.mine(2)
      const extraData = encodeFillExtraData(fillContract)
      const asked = payments.map(([payee, currency]) => ({
        recipient: network.spell(payee),
        currency: network.spell(currency),
      }))
      const whole = { transactionId, orderId, extraData, ...question, payments: asked }
      return network.readerOf(change).readPayment(whole, aSignal())
    }

    /** One transaction of the fill contract, and what the reader is asked about it. */
    async function fill(given: Fill, question: Question = {}, change: ReaderChange = {}) {
      const value = (given.natives ?? []).reduce((sum, { amount }) => sum + amount, 0n)
      const sent = await bySolver(fillContract, testFill({ orderId, ...given }), value)
      return paid(sent, question, change)
    }

    const amountsOf = ({ transfers }: Awaited<ReturnType<typeof paid>>) =>
      transfers.map(({ amount }) => amount)
    /** Calls as the network's readers tell them. */
    const told = (calls: readonly Call[]) => (network.tellsCalls ? calls : undefined)
    const toRecipient = { natives: [{ to: recipient, amount: 5n }] }

    describe('by a record of our fill contract', () => {
      test('P-41: is what the call itself pays, and names its id', async () => {
        const facts = await fill(toRecipient)
        expect(facts).toMatchObject({ referencesOrder: true, recordId: orderId })
        expect(facts.calls).toEqual(told([]))
        expect(facts.transfers).toEqual([
          { recipient: network.spell(recipient), currency: network.spell(zeroAddress), amount: 5n },
        ])
        expect(facts.recordProblem).toBeUndefined()
      })

      test('P-41: may be to several payees in several currencies, each its sum', async () => {
        const facts = await fill(
          {
            natives: [5n, 2n].map((amount) => ({ to: recipient, amount })),
            tokens: [
              { token: usdc, to: recipient, amount: 100n },
              { token: usdc, to: other, amount: 7n },
            ],
          },
          {
            payments: [
              [recipient, zeroAddress],
              [recipient, usdc],
              [other, usdc],
            ],
          },
        )
        expect(amountsOf(facts)).toEqual([7n, 100n, 7n])
      })

      test('P-41: may be to accounts with code, whatever their code does with the coin', async () => {
        // Wrapped native coin takes coin and writes a log.
        const facts = await fill({ natives: [{ to: weth, amount: 5n }] }, { payments: [[weth, zeroAddress]] })
        expect(amountsOf(facts)).toEqual([5n])
      })

      test.each<[string, () => Fill, () => Asked]>([
        [
          'pays a payee that is not the order’s',
          () => ({ natives: [...toRecipient.natives, { to: other, amount: 1n }] }),
          () => [[recipient, zeroAddress]],
        ],
        [
          'pays the payee in a currency that is not the order’s',
          () => ({ ...toRecipient, tokens: [{ token: usdc, to: recipient, amount: 1n }] }),
          () => [[recipient, zeroAddress]],
        ],
        [
          'pays the payee a token in two entries, between which code of the filler may run',
          () => ({ tokens: [1n, 5n].map((amount) => ({ token: usdc, to: recipient, amount })) }),
          () => [[recipient, usdc]],
        ],
        ['pays its sender', () => ({ natives: [{ to: solver, amount: 5n }] }), () => [[solver, zeroAddress]]],
        [
          'pays the depository',
          () => ({ tokens: [{ token: usdc, to: depository, amount: 5n }] }),
          () => [[depository, usdc]],
        ],
      ])('P-41: that %s proves nothing', async (_what, given, payments) => {
        const facts = await fill(given(), { payments: payments() })
        expect(facts).toMatchObject({ recordProblem: 'other_payments' })
        expect(amountsOf(facts)).toEqual([0n])
      })

      test('P-41: of another id is told as one', async () => {
        const id = randomWord()
        expect((await fill({ ...toRecipient, id })).recordId).toBe(id)
      })

      test('P-41: with another order id behind it proves nothing for the order', async () => {
        const data = testFill({ ...toRecipient, id: orderId, orderId: randomWord() })
        const facts = await paid(await bySolver(fillContract, data, 5n))
        expect(facts).toMatchObject({ referencesOrder: false, recordProblem: 'another_order' })
      })

      test('P-41: with bytes between its arguments and the order id proves nothing', async () => {
        const data = concatHex([testFill({ ...toRecipient, orderId }), orderId])
        const facts = await paid(await bySolver(fillContract, data, 5n))
        expect(facts).toMatchObject({ referencesOrder: true, recordProblem: 'not_a_payment' })
      })

      test('P-41: that closes the order is none', async () => {
        const close = concatHex(['0x39c79e0c', orderId, orderId])
        const facts = await paid(await bySolver(fillContract, close))
        expect(facts).toMatchObject({ recordProblem: 'not_a_payment', transfers: [{ amount: 0n }] })
      })

      test('P-42: of a contract that is not known by its code proves nothing to an account with code', async () => {
        const unknown = { recordsPayments: () => false }
        const payments = [[weth, zeroAddress]] as const
        const facts = await fill({ natives: [{ to: weth, amount: 5n }] }, { payments }, unknown)
        expect(amountsOf(facts)).toEqual([0n])
        expect(facts.recordId).toBeUndefined()
      })

      test.each<[string, () => Hex]>([
        ['another', () => encodeFillExtraData(other)],
        ['none', () => '0x'],
      ])('P-41: proves nothing where the order chose %s', async (_chosen, extraData) => {
        expect(amountsOf(await fill(toRecipient, { extraData: extraData() }))).toEqual([0n])
      })

      test('that reverted is refused', async () => {
        const sent = await bySolver(fillContract, testFill({ ...toRecipient, orderId }), 0n)
        await expect(paid(sent)).rejects.toMatchObject({ code: 'TRANSACTION_REVERTED' })
      })
    })

    describe('with calls of its order', () => {
      const encoded = (calls: readonly Call[]) => calls.map(encodeOrderCall)
      const place = () => ({ fillContract, filler: solver, recipient })

      test('P-41: is to the clone that runs them, which they may spend', async () => {
        const calls = [{ to: weth, data: wrap, value: 5n }]
        const { orderCalls, clone } = testCalls(calls, place())
        const facts = await fill(
          { natives: [{ to: clone, amount: 5n }], orderCalls },
          { payments: [[clone, zeroAddress]], calls: encoded(calls) },
        )
        expect(facts.calls).toEqual(told(calls))
        expect(facts.transfers).toMatchObject([{ recipient: network.spell(clone), amount: 5n }])
      })

      test.each<[string, (calls: readonly Call[]) => readonly Call[]]>([
        ['more than the order’s', (calls) => [...calls, { to: other, data: '0x', value: 0n }]],
        ['fewer', (calls) => calls.slice(1)],
        ['none', () => []],
        ['those in another turn', (calls) => calls.toReversed()],
      ])('P-41: proves nothing with %s', async (_what, change) => {
        const ordered = [
          { to: weth, data: wrap, value: 2n },
          { to: other, data: '0x' as const, value: 3n },
        ]
        const run = change(ordered)
        const { orderCalls, clone } = testCalls(run, place())
        const facts = await fill(
          { natives: [{ to: clone, amount: 5n }], orderCalls: run.length === 0 ? undefined : orderCalls },
          { payments: [[clone, zeroAddress]], calls: encoded(ordered) },
        )
        expect(facts).toMatchObject({ recordProblem: 'other_calls', transfers: [{ amount: 0n }] })
      })

      test('P-41: proves nothing where the order has none', async () => {
        const { orderCalls } = testCalls([{ to: other, data: '0x', value: 0n }], place())
        expect(await fill({ ...toRecipient, orderCalls })).toMatchObject({ recordProblem: 'other_calls' })
      })

      test.each<[string, object]>([
        ['salt', {}],
        ['recipient', { recipient: other }],
      ])('P-41: proves nothing by the clone of another %s', async (_what, change) => {
        const calls = [{ to: other, data: '0x' as const, value: 0n }]
        const { clone: ordered } = testCalls(calls, place())
        const { orderCalls } = testCalls(calls, { ...place(), ...change })
        const facts = await fill(
          { natives: [{ to: ordered, amount: 5n }], orderCalls },
          { payments: [[ordered, zeroAddress]], calls: encoded(calls) },
        )
        expect(facts).toMatchObject({ recordProblem: 'other_clone', transfers: [{ amount: 0n }] })
      })

      test.each<[string, (token: Hex) => readonly Hex[], string | undefined]>([
        ['exactly the tokens that it was paid', (token) => [token], undefined],
        ['nothing', () => [], 'other_clone'],
        ['a token that it was not paid', (token) => [token, weth], 'other_clone'],
        ['one token twice', (token) => [token, token], 'other_clone'],
      ])('P-41: whose clone sweeps %s', async (_what, swept, problem) => {
        const calls = [{ to: usdc, data: encodeTransfer(other, 40n), value: 0n }]
        const { orderCalls, clone } = testCalls(calls, { ...place(), sweptTokens: swept(usdc) })
        const facts = await fill(
          { tokens: [{ token: usdc, to: clone, amount: 100n }], orderCalls },
          { payments: [[clone, usdc]], calls: encoded(calls) },
        )
        expect(facts.recordProblem).toBe(problem)
        expect(amountsOf(facts)).toEqual([problem === undefined ? 100n : 0n])
      })
    })

    describe('by a plain transfer', () => {
      const inUsdc = (...to: readonly Hex[]) => ({ payments: to.map((payee) => [payee, usdc] as const) })

      test('P-42: of coin counts where its calldata is exactly the order id, with the time of its block', async () => {
        const sent = await bySolver(recipient, orderId, 5n)
        const facts = await paid(sent)
        expect(facts).toMatchObject({ referencesOrder: true, transfers: [{ amount: 5n }] })
        const receipt = Object(await network.evm.node('eth_getTransactionReceipt', [sent.evmHash]))
        const block = Object(await network.evm.node('eth_getBlockByNumber', [receipt.blockNumber, false]))
        expect(facts.blockTimestampSeconds).toBe(BigInt(block.timestamp))
      })

      test('P-42: of a token counts with the order id behind it', async () => {
        const facts = await paid(await tokenTransfer(recipient, 50n), {
          ...inUsdc(recipient),
          extraData: '0x',
        })
        expect(facts).toMatchObject({ referencesOrder: true, transfers: [{ amount: 50n }] })
        expect(facts.calls).toEqual(told([]))
      })

      test('does not name the order where something stands behind the id', async () => {
        const sent = await tokenTransfer(recipient, 1n, concatHex([orderId, '0x00']))
        expect(await paid(sent)).toMatchObject({ referencesOrder: false })
      })

      test('names the order in any case, and is told once if it is asked for twice', async () => {
        // CAST: the same hex in another case.
        const upper = `0x${orderId.slice(2).toUpperCase()}` as Hex
        const sent = await tokenTransfer(recipient, 50n)
        const facts = await paid(sent, { orderId: upper, ...inUsdc(recipient, recipient) })
        expect(facts.referencesOrder).toBe(true)
        expect(amountsOf(facts)).toEqual([50n])
      })

      test.each<[string, () => Asked]>([
        ['to somebody else', () => [[other, usdc]]],
        ['of another token', () => [[recipient, weth]]],
        ['of a token, where coin is asked for', () => [[recipient, zeroAddress]]],
      ])('%s pays nothing', async (_what, payments) => {
        expect(amountsOf(await paid(await tokenTransfer(recipient, 8n), { payments: payments() }))).toEqual([
          0n,
        ])
      })

      test('P-42: pays nobody who sends it, and no depository', async () => {
        for (const payee of [solver, depository]) {
          orderId = randomWord()
          expect(amountsOf(await paid(await tokenTransfer(payee, 50n), inUsdc(payee)))).toEqual([0n])
        }
      })

      test('P-43: of a stranger whose tokens somebody else moves counts only where the chain file lists both', async () => {
        const user = network.user.address
        await network.send(usdc, approveData(multicall3, 900n))
        const args = [user, recipient, 900n] as const
        const callData = encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args })
        const from = network.evm.network.keys.fillWallet
        const sent = await bundle(network, [{ target: usdc, callData }], { behind: orderId, from })
        const asked = inUsdc(recipient)
        expect((await paid(sent, asked)).transfers).toMatchObject([{ amount: 0n, fromOthers: 900n }])
        expect(amountsOf(await paid(sent, asked, { fillPayers: [user] }))).toEqual([0n])
        expect(amountsOf(await paid(sent, asked, { fillPayers: [user, solver] }))).toEqual([900n])
      })
    })

    test('P-43: of coin that a contract moves inside pays nobody, since no log shows it', async () => {
      const calls = [{ target: recipient, callData: '0x', value: 6n }] as const
      const sent = await bundle(network, calls, { behind: orderId })
      const extraData = encodeFillExtraData(multicall3)
      expect(amountsOf(await paid(sent, { extraData }, { fillContracts: [multicall3] }))).toEqual([0n])
    })

    describe('P-20: by a fill contract that no list names', () => {
      const unlisted = async (...asked: Parameters<typeof paid>) =>
        (await paid(...asked)).unlistedFillContract

      test('P-20: is told with it where the order names it and the transaction calls it', async () => {
        const sent = await bySolver(fillContract, testFill({ ...toRecipient, orderId }), 5n)
        const none = { fillContracts: [] }
        expect(await unlisted(sent)).toBeUndefined()
        for (const change of [none, { fillContracts: [other] }])
          expect(await unlisted(sent, {}, change)).toBe(network.spell(fillContract))
        for (const extraData of ['0x', encodeFillExtraData(other)] as const)
          expect(await unlisted(sent, { extraData }, none)).toBeUndefined()
      })

      test('P-20: is told with it where a listed payer calls it', async () => {
        const calls = [{ target: recipient, callData: '0x', value: 5n }] as const
        const from = network.evm.network.keys.fillWallet
        const sent = await bundle(network, calls, { behind: orderId, from })
        const change = { fillContracts: [], fillPayers: [multicall3] }
        expect(await unlisted(sent, {}, change)).toBe(network.spell(fillContract))
        expect(await unlisted(sent, {}, { fillContracts: [] })).toBeUndefined()
      })

      test('P-20: is told without what could not be listed', async () => {
        for (const named of [depository, zeroAddress]) {
          orderId = randomWord()
          const sent = await tokenTransfer(recipient, 0n)
          const change = { fillContracts: [], fillPayers: [usdc] }
          expect(await unlisted(sent, { extraData: encodeFillExtraData(named) }, change)).toBeUndefined()
        }
      })
    })
  })
}
