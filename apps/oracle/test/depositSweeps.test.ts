// Goal: what was paid to a deposit address and swept is a deposit like any other to oracles and hub: of the
// order that the sweep names, credited to the address's depositor and not to who paid or swept, and the
// solver's once the order is filled or refunded. Method: three peered oracles, real nodes and contracts.
import { randomBytes } from 'node:crypto'
import { type Hex, hubAlias, hubTokenId, orderAddress } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { depositAddressOf, depositOrderSalt } from '@causeway/families/rules'
import { type LocalAccount, startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { generatePrivateKey } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hubBalance, submitExecution } from './support/hubSubmission.ts'
import { type OracleTrio, startOracleTrio } from './support/oracleTrio.ts'
import { native, pay, payAndSweep, refundIdOf, signedOrder } from './support/protocolActors.ts'

const base = { chainId: 'base', ...mainNetwork('ethereum-vm') } as const
const amount = 10n ** 17n
let network: TestNetwork
let trio: OracleTrio

beforeAll(async () => {
  network = await startTestNetwork()
  trio = await startOracleTrio(network)
})
afterAll(async () => {
  await trio?.stop()
  await network?.stop()
})

function user(index: number): LocalAccount {
  const account = network.keys.users[index]
  if (account === undefined) throw new Error(`no user ${index}`)
  return account
}

async function attest(path: string, body: object) {
  const { status, text } = await trio.post(`/attestations/${path}/v1`, {
    ...body,
    requestPeerSignatures: true,
  })
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`)
  return JSON.parse(text)
}

/** An order that was paid through its deposit address by a stranger, its deposit attested and minted. */
async function sweptOrder() {
  const depositor = user(0)
  const { fillWallet } = network.keys
  const nonce = generatePrivateKey()
  const parties = { orderSigner: fillWallet.address, sweeper: fillWallet.address }
  const terms = { ...parties, depositor: depositor.address, nonce }
  const address = depositAddressOf(terms, network.deployment.base.depositAddresses)
  const payments = [{ to: user(4).address, currency: native, amount: amount - 10_000n }]
  const signed = await signedOrder(network, {
    salt: depositOrderSalt(address, randomBytes(12)),
    input: { chain: 'base', currency: native, amount },
    refundTo: depositor.address,
    output: { chain: 'optimism', payments },
  })
  const transactionId = await payAndSweep(network, user(3), { terms, signed, amount })
  const answer = await attest('depository-deposits', { chainId: 'base', transactionId })
  const { result, extraData } = answer.messages[0]
  expect(result).toMatchObject({
    depositId: signed.orderId,
    depositor: depositor.address.toLowerCase(),
    amount: amount.toString(),
  })
  expect(await submitExecution(network, answer.execution)).toBe('accepted')
  const holder = orderAddress(base, {
    depositor: depositor.address,
    timestampSeconds: BigInt(extraData.timestamp),
    depositId: signed.orderId,
  })
  const inputs = [{ transactionId, onchainId: result.onchainId, inputIndex: 0 }] as const
  return { ...signed, payments, inputs, holder, depositor: depositor.address }
}

const token = hubTokenId(base, native)
const solverBalance = () => hubBalance(network, hubAlias(base, network.keys.fillWallet.address), token)

test('a filled order gives the swept deposit to the solver', async () => {
  const { orderId, order, orderSignature, inputs, holder, payments } = await sweptOrder()
  expect(await hubBalance(network, holder, token)).toBe(amount)
  const before = await solverBalance()
  const filled: Hex = await pay(network, 'optimism', { orderId, payments })
  const fill = { transactionId: filled }
  const answer = await attest('solver-fills', { order, orderSignature, inputs, fill })
  expect(await submitExecution(network, answer.execution)).toBe('accepted')
  expect(await hubBalance(network, holder, token)).toBe(0n)
  expect(await solverBalance()).toBe(before + amount)
})

test('a refund to the depositor does as well', async () => {
  const { orderId, order, orderSignature, inputs, depositor } = await sweptOrder()
  const before = await solverBalance()
  const back = { to: depositor, currency: native, amount: (amount * 99n) / 100n }
  const [{ transactionId: swept }] = inputs
  const transactionId = await pay(network, 'base', {
    orderId,
    payments: [back],
    recordId: refundIdOf(network, { orderId }, { transactionId: swept, currency: native, amount }),
  })
  const refunds = [{ transactionId, inputIndex: 0, refundIndex: 0 }]
  const answer = await attest('solver-refunds', { order, orderSignature, inputs, refunds })
  expect(await submitExecution(network, answer.execution)).toBe('accepted')
  expect(await solverBalance()).toBe(before + amount)
})
