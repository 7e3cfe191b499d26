// Fills and refunds of orders on real nodes, with and without their reasons to be refused.

import {
  deposit,
  native,
  noOrder,
  type Payment,
  pay,
  payeeOfCalls,
  refundIdOf,
  signedOrder,
} from '../../../apps/oracle/test/support/protocolActors.ts'
import { type Answered, textAt } from '../support/session.ts'
import { hexOf, type OracleStage } from '../support/stage.ts'
import { operatorKey, peerKey } from '../support/world.ts'

const fillsPath = '/attestations/solver-fills/v1'
const refundsPath = '/attestations/solver-refunds/v1'
const depositsPath = '/attestations/depository-deposits/v1'
const callee = hexOf(`0x${'ca11'.repeat(10)}`)

export async function recordSettlement(stage: OracleStage): Promise<void> {
  await recordOrder(stage, { name: 'native', salt: '1', amount: 500_000_000_000_000_000n, callWei: 7n })
  const { base, optimism } = stage.world.network.deployment
  const tokens = { base: base.tokens.USDC, optimism: optimism.tokens.USDC }
  await recordOrder(stage, { name: 'USDC', salt: '2', amount: 25_000_000n, callWei: 0n, tokens })
}

type Case = {
  readonly name: string
  readonly salt: string
  readonly amount: bigint
  readonly callWei: bigint
  readonly tokens?: { readonly base: `0x${string}`; readonly optimism: `0x${string}` }
}

async function recordOrder(stage: OracleStage, { name, salt, amount, callWei, tokens }: Case): Promise<void> {
  const { oracle, world, user } = stage
  const { network } = world
  const payer = user(0)
  const [currency, paidCurrency] = [tokens?.base ?? native, tokens?.optimism ?? native]
  const calls = callWei === 0n ? [] : [{ to: callee, data: '0x' as const, value: callWei }]
  const spent = { to: payeeOfCalls(network, 'optimism', calls), currency: native, amount: callWei }
  const output = { to: payer.address, currency: paidCurrency, amount: amount - 10_000n }
  const payments: Payment[] = callWei === 0n ? [output] : [output, spent]
  const fees = [
    { recipientChainId: 'base', recipient: callee, currencyChainId: 'base', currency, amount: '77' },
  ]
  const signed = await signedOrder(network, {
    salt,
    refundTo: payer.address,
    fees,
    input: { chain: 'base', currency, amount },
    output: { chain: 'optimism', payments, calls },
  })
  const { order, orderId, orderSignature } = signed
  const transactionId = await deposit(network, 'base', payer, { currency, amount, id: orderId })
  const deposited = await oracle.ask({
    name: `${name}: deposit`,
    path: depositsPath,
    body: { chainId: 'base', transactionId },
  })
  const onchainId = textAt(deposited, 'messages', 0, 'result', 'onchainId')
  const inputs = [{ transactionId, onchainId, inputIndex: 0 }]

  const short = await pay(network, 'optimism', {
    orderId,
    payments: payments.map((one) => ({ ...one, amount: one.amount - 1n })),
    // The order is recorded once, by what fills it.
    recordId: transactionId,
  })
  const filled = await pay(network, 'optimism', { orderId, payments, calls })
  const body = { order, orderSignature, inputs, fill: { transactionId: filled } }
  const fills = (
    what: string,
    change: object = {},
    headers: Record<string, string> = {},
  ): Promise<Answered> =>
    oracle.ask({
      name: `${name}: fill ${what}`,
      path: fillsPath,
      body: { ...body, ...change },
      headers,
    })
  await fills('')
  await fills('with evidence', { includeEvidence: true })
  await fills('with peers', { requestPeerSignatures: true })
  await fills('by force without key', { force: true })
  await fills('by force with the key of a peer', { force: true }, { 'x-api-key': peerKey })
  await fills('by force', { force: true }, { 'x-api-key': operatorKey })
  await fills('that is short', { fill: { transactionId: short } })
  await fills('by a deposit', { fill: { transactionId } })
  await fills('by no transaction', { fill: { transactionId: `0x${'63'.repeat(32)}` } })
  await fills('by a transaction of no form', { fill: { transactionId: 'x' } })
  await fills('without inputs', { inputs: [] })
  await fills('with an input twice', { inputs: [...inputs, ...inputs] })
  await fills('with an input that does not exist', { inputs: [{ ...inputs[0], inputIndex: 3 }] })
  await fills('with another deposit', { inputs: [{ ...inputs[0], onchainId: `0x${'64'.repeat(32)}` }] })
  await fills('signed by nobody', { orderSignature: `0x${'11'.repeat(65)}` })
  await fills('of another salt', { order: { ...order, salt: '9' } })
  await fills('of an order without outputs', {
    order: { ...order, output: { ...order.output, payments: [] } },
  })
  await fills('of an order on an unknown chain', {
    order: { ...order, output: { ...order.output, chainId: 'moon' } },
  })

  const refundPayments = [{ to: payer.address, currency, amount: (amount * 99n) / 100n }]
  const recordId = refundIdOf(network, signed, { transactionId, currency, amount })
  const refunded = await pay(network, 'base', { orderId, payments: refundPayments, recordId })
  const less = await pay(network, 'base', {
    orderId,
    payments: refundPayments.map((one) => ({ ...one, amount: 1n })),
    recordId: transactionId,
  })
  const refund = { transactionId: refunded, inputIndex: 0, refundIndex: 0 }
  const refunds = (
    what: string,
    change: object = {},
    headers: Record<string, string> = {},
  ): Promise<Answered> =>
    oracle.ask({
      name: `${name}: refund ${what}`,
      path: refundsPath,
      headers,
      body: { order, orderSignature, inputs, refunds: [refund], ...change },
    })
  await refunds('')
  await refunds('with evidence', { includeEvidence: true })
  await refunds('with peers', { requestPeerSignatures: true })
  await refunds('by force without key', { force: true })
  await refunds('by force', { force: true }, { 'x-api-key': operatorKey })
  await refunds('that is short', { refunds: [{ ...refund, transactionId: less }] })
  await refunds('by a fill', { refunds: [{ ...refund, transactionId: filled }] })
  await refunds('without a refund', { refunds: [] })
  await refunds('twice', { refunds: [refund, refund] })
  await refunds('of an input that does not exist', { refunds: [{ ...refund, inputIndex: 4 }] })
  await refunds('of a kind that does not exist', { refunds: [{ ...refund, refundIndex: 4 }] })
  await refunds('without inputs', { inputs: [] })

  const alone = await deposit(network, 'base', user(1), { currency, amount, id: noOrder })
  const own = { chainId: 'base', transactionId: alone }
  await oracle.ask({
    name: `${name}: deposit without order, with peers`,
    path: depositsPath,
    body: { ...own, requestPeerSignatures: true },
  })
  await oracle.ask({
    name: `${name}: deposits of a fill`,
    path: depositsPath,
    body: { chainId: 'optimism', transactionId: filled },
  })
}
