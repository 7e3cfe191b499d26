import {
  depositsExecutionKey,
  encodeMintAction,
  encodeTransferAction,
  type Hex,
  hubAlias,
  hubTokenId,
  type Order,
  onchainId,
  orderAddress,
  settlementExecutionKey,
} from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { describe, expect, onTestFinished, test } from 'vitest'
import { protocolChain } from '../../../apps/oracle/src/attestations/context.ts'
import { paths } from '../../../apps/oracle/test/fixtures/oracleApp.ts'
import { fillExecution } from '../../../packages/core/test/vectors/messages.ts'
import type { FamilySide } from './familySide.ts'
import { openOracle } from './oracle.ts'
import { depositedOrder, familyOrder } from './orders.ts'

/** An oracle over one endpoint of the family. */
export async function oracleOf(side: FamilySide) {
  const { reader, close } = side.openReader(1)
  onTestFinished(close)
  return openOracle(side.chain, () => reader)
}

export const refused = (errorCode: string, status = 400) => ({ status, body: { errorCode } })

const noOrder: Hex = `0x${'0'.repeat(64)}`

/** @source rules P-127, P-130 */
export function depositCases(sideOf: () => FamilySide): void {
  describe('a deposit', () => {
    test('is minted to its order, under the ids of the protocol', async () => {
      const side = sideOf()
      const { post, networkOf } = await oracleOf(side)
      const { id, deposit, onchainId: depositId } = await depositedOrder(side, networkOf)
      const { transactionId, depositor, timestampSeconds } = deposit
      const hubTo = orderAddress(protocolChain(side.chain), { depositor, timestampSeconds, depositId: id })
      const question = { chainId: side.chain.id, transactionId }
      expect(await post(paths.deposits, question)).toMatchObject({
        status: 200,
        body: {
          messages: [
            {
              data: question,
              result: {
                onchainId: depositId,
                depositId: id,
                depositor,
                amount: '1000',
                depository: side.chain.depository,
                currency: side.currency,
              },
              extraData: { timestamp: timestampSeconds.toString() },
            },
          ],
          execution: {
            idempotencyKey: depositsExecutionKey(question),
            actions: [encodeMintAction({ hubTo, hubTokenId: tokenOf(side), amount: 1_000n })],
          },
        },
      })
    })

    test('for no order is minted to its depositor', async () => {
      const side = sideOf()
      const { post } = await oracleOf(side)
      const { transactionId, depositor } = await side.deposit()
      const hubTo = hubAlias(protocolChain(side.chain), depositor)
      expect(await post(paths.deposits, { chainId: side.chain.id, transactionId })).toMatchObject({
        status: 200,
        body: {
          messages: [{ result: { depositId: noOrder } }],
          execution: {
            actions: [encodeMintAction({ hubTo, hubTokenId: tokenOf(side), amount: 1_000n })],
          },
        },
      })
    })

    test('is shown with its evidence, which changes nothing that is signed', async () => {
      const side = sideOf()
      const { post } = await oracleOf(side)
      const { transactionId } = await side.deposit()
      const question = { chainId: side.chain.id, transactionId }
      const plain = await post(paths.deposits, question)
      const shown = await post(paths.deposits, { ...question, includeEvidence: true })
      const { evidence, ...signed } = Object(shown.body)
      expect(signed).toEqual(plain.body)
      const { id: chainId } = side.chain
      const agreeingEndpoints = [expect.any(String)]
      expect(evidence).toMatchObject([{ chainId, finalityRule: expect.any(String), agreeingEndpoints }])
    })

    test('that is not there, or under no id of the family, is refused by its own code', async () => {
      const side = sideOf()
      const { post } = await oracleOf(side)
      const ask = (transactionId: string) => post(paths.deposits, { chainId: side.chain.id, transactionId })
      expect(await ask(side.missingTransactionId)).toMatchObject(refused('TRANSACTION_MISSING'))
      for (const none of ['0xaa', 'zz', ' ', `${side.missingTransactionId} `, '§'.repeat(64)]) {
        expect(await ask(none), none).toMatchObject(refused('INVALID_TRANSACTION_ID'))
      }
    })

    test('whose endpoint fails is refused as unreadable, and asked for again', async () => {
      const side = sideOf()
      const { post } = await oracleOf(side)
      const { transactionId } = await side.deposit()
      await side.fail()
      onTestFinished(() => side.lie(undefined))
      expect(await post(paths.deposits, { chainId: side.chain.id, transactionId })).toMatchObject({
        status: 503,
        body: { errorCode: 'RPC_HTTP_ERROR', retryable: true },
      })
    })
  })
}

/** The family's token on the hub is the published one, where one was published. */
function tokenOf({ chain, currency, hubToken }: FamilySide): bigint {
  const computed = hubTokenId(protocolChain(chain), currency)
  if (hubToken !== undefined) expect(computed).toBe(hubToken)
  return computed
}

/** @source rules P-129, P-130, F-166 */
export function settlementCases(sideOf: () => FamilySide): void {
  describe('an order', () => {
    test('F-166: is settled by a fill that names it and covers its payment', async () => {
      const { side, post, id, settlement, execution } = await orderAndOracle()
      const transactionId = await side.pay({ orderId: id, amount: 900n, recipient: side.recipient })
      expect(await post(paths.fills, { ...settlement, fill: { transactionId } })).toMatchObject({
        status: 200,
        body: {
          message: { result: { orderId: id, status: 1, totalWeightedInputPaymentBpsDiff: '0' } },
          execution: { ...execution, actions: [...execution.actions, fillExecution.actions[1]] },
        },
      })
    })

    test('is given back by a refund that names it, under the key of its fill', async () => {
      const { side, post, id, settlement, execution } = await orderAndOracle()
      const refund = async (amount: bigint) => {
        const transactionId = await side.pay({ orderId: id, amount, recipient: side.recipient })
        const refunds = [{ transactionId, inputIndex: 0, refundIndex: 0 }]
        return post(paths.refunds, { ...settlement, refunds })
      }
      expect(await refund(949n)).toMatchObject(refused('INSUFFICIENT_REFUND'))
      expect(await refund(950n)).toMatchObject({
        status: 200,
        body: { message: { result: { orderId: id, status: 1 } }, execution },
      })
    })

    test('is given back to its depositor where the refund names the native currency', async () => {
      const { native } = sideOf()
      const { side, post, id, deposit, settlement } = await orderAndOracle((order) =>
        withRefund(order, { recipient: native }),
      )
      const refund = async (recipient: string) => {
        const transactionId = await side.pay({ orderId: id, amount: 950n, recipient })
        const refunds = [{ transactionId, inputIndex: 0, refundIndex: 0 }]
        return post(paths.refunds, { ...settlement, refunds })
      }
      expect(await refund(side.recipient)).toMatchObject(refused('INSUFFICIENT_REFUND'))
      expect((await refund(deposit.depositor)).status).toBe(200)
    })

    test('is not settled by what pays too little, somebody else, or another order', async () => {
      const { side, post, id, settlement } = await orderAndOracle()
      const { recipient, stranger } = side
      const fill = async (payment: Parameters<FamilySide['pay']>[0]) =>
        post(paths.fills, { ...settlement, fill: { transactionId: await side.pay(payment) } })
      expect(await fill({ orderId: id, amount: 899n, recipient })).toMatchObject(refused('INSUFFICIENT_FILL'))
      expect(await fill({ orderId: id, amount: 900n, recipient: stranger })).toMatchObject(
        refused('INSUFFICIENT_FILL'),
      )
      expect(await fill({ amount: 900n, recipient })).toMatchObject(refused('ORDER_NOT_REFERENCED'))
      const another: Hex = `0x${'0d'.repeat(32)}`
      expect(await fill({ orderId: another, amount: 900n, recipient })).toMatchObject(
        refused('ORDER_NOT_REFERENCED'),
      )
      const missing = { fill: { transactionId: side.missingTransactionId } }
      expect(await post(paths.fills, { ...settlement, ...missing })).toMatchObject(
        refused('TRANSACTION_MISSING'),
      )
    })

    test('is not settled after its deadline, nor where it asks for calls', async () => {
      const cases = [
        ['DEADLINE_PASSED', { deadline: 1 }],
        ['CALLS_NOT_SUPPORTED', { calls: ['0x12'] }],
      ] as const
      for (const [code, change] of cases) {
        const { side, post, id, settlement } = await orderAndOracle((order) => ({
          ...order,
          output: { ...order.output, ...change },
        }))
        const { recipient } = side
        const transactionId = await side.pay({ orderId: id, amount: 900n, recipient })
        expect(await post(paths.fills, { ...settlement, fill: { transactionId } })).toMatchObject(
          refused(code),
        )
      }
    })

    test('is not settled by a deposit of another order, twice by one, or with another signature', async () => {
      const { side, post, id, settlement, networkOf } = await orderAndOracle()
      const transactionId = await side.pay({ orderId: id, amount: 900n, recipient: side.recipient })
      const fill = { fill: { transactionId } }
      const other = await depositedOrder(side, networkOf)
      const [input] = settlement.inputs
      const cases: readonly (readonly [string, object])[] = [
        ['INVALID_INPUT', { inputs: other.settlement.inputs }],
        ['INVALID_INPUT', { inputs: [{ ...input, onchainId: other.onchainId }] }],
        ['DUPLICATE_ONCHAIN_ID', { inputs: [input, input] }],
        ['MISSING_INPUT', { inputs: [] }],
        ['INVALID_ORDER_SIGNATURE', { orderSignature: other.settlement.orderSignature }],
      ]
      for (const [code, change] of cases) {
        expect(await post(paths.fills, { ...settlement, ...fill, ...change })).toMatchObject(refused(code))
      }
    })

    test('is settled by its deposit alone with a key and force', async () => {
      const { side, post, settlement, execution } = await orderAndOracle()
      const forced = {
        ...settlement,
        orderSignature: '0x',
        force: true,
        refunds: [{ transactionId: side.missingTransactionId, inputIndex: 0, refundIndex: 0 }],
      }
      expect(await post(paths.refunds, forced)).toMatchObject(refused('FORCE_UNAUTHORIZED', 401))
      expect(await post(paths.refunds, forced, { withKey: true })).toMatchObject({
        status: 200,
        body: { execution },
      })
    })
  })

  /** A deposited order, and the execution that moves its deposit to the solver. */
  async function orderAndOracle(change: (order: Order) => Order = (order) => order) {
    const side = sideOf()
    const { post, networkOf } = await oracleOf(side)
    const deposited = await depositedOrder(side, networkOf, change(familyOrder(side)))
    const { id, deposit } = deposited
    const { order } = deposited.settlement
    const { depositor, timestampSeconds, transactionId, onchainIndex } = deposit
    const chain = protocolChain(side.chain)
    const action = encodeTransferAction({
      hubFrom: orderAddress(chain, { depositor, timestampSeconds, depositId: id }),
      hubTo: hubAlias({ chainId: order.solverChainId, ...mainNetwork('ethereum-vm') }, order.solver),
      hubTokenId: tokenOf(side),
      amount: 1_000n,
    })
    const onchainIds = [onchainId({ chainId: side.chain.id, transactionId, onchainIndex })]
    const execution = {
      idempotencyKey: settlementExecutionKey({ onchainIds, orderId: id }),
      actions: [action],
    }
    return { side, post, networkOf, ...deposited, execution }
  }
}

function withRefund(order: Order, change: Partial<Order['inputs'][number]['refunds'][number]>): Order {
  return {
    ...order,
    inputs: order.inputs.map((input) => ({
      ...input,
      refunds: input.refunds.map((refund) => ({ ...refund, ...change })),
    })),
  }
}
