// Goal: a payment gives the solver one deposit of an order, and the other one only by giving it back. Method: three
// peered oracles, real nodes and contracts; a solver that fills once and asks for both deposits.
import { type Hex, hubAlias, hubTokenId } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { type LocalAccount, startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hubBalance } from './support/hubSubmission.ts'
import { type OracleTrio, startOracleTrio } from './support/oracleTrio.ts'
import { type Answer, accept, ask } from './support/ownerWithdrawals.ts'
import { deposit, pay, refundIdOf, type SignedOrder, signedOrder } from './support/protocolActors.ts'

const base = { chainId: 'base', ...mainNetwork('ethereum-vm') } as const
const amount = 40_000_000n
const recipient: Hex = `0x${'7e'.repeat(20)}`

let network: TestNetwork
let trio: OracleTrio
let usdc: Hex
beforeAll(async () => {
  network = await startTestNetwork()
  trio = await startOracleTrio(network)
  usdc = network.deployment.base.tokens.USDC
})
afterAll(async () => {
  await trio?.stop()
  await network?.stop()
})

const owner = (): LocalAccount => {
  const [account] = network.keys.users
  if (account === undefined) throw new Error('no user')
  return account
}

let salt = 0
const order = (): Promise<SignedOrder> => {
  salt += 1
  return signedOrder(network, {
    salt: String(salt),
    refundTo: owner().address,
    input: { chain: 'base', currency: usdc, amount },
    output: {
      chain: 'optimism',
      payments: [{ currency: network.deployment.optimism.tokens.USDC, to: recipient, amount: 1_000_000n }],
    },
  })
}

type Entry = { readonly transactionId: Hex; readonly onchainId: Hex; readonly inputIndex: number }

/** Deposits for the order and brings the deposit to the hub. */
async function depositFor({ orderId: id }: SignedOrder, of = amount): Promise<Entry> {
  const transactionId = await deposit(network, 'base', owner(), { currency: usdc, amount: of, id })
  const minted = await ask(trio, 'depository-deposits/v1', { chainId: 'base', transactionId })
  await accept(network, minted)
  return { transactionId, onchainId: minted.body.messages[0].result.onchainId, inputIndex: 0 }
}

const fillOf = ({ orderId }: SignedOrder): Promise<Hex> => {
  const paid = { currency: network.deployment.optimism.tokens.USDC, to: recipient, amount: 1_000_000n }
  return pay(network, 'optimism', { orderId, payments: [paid] })
}
const refundOf = (signed: SignedOrder, { transactionId }: Entry): Promise<Hex> =>
  pay(network, 'base', {
    orderId: signed.orderId,
    payments: [{ currency: usdc, to: owner().address, amount }],
    recordId: refundIdOf(network, signed, { transactionId, currency: usdc, amount }),
  })

function askFill({ order: ordered, orderSignature }: SignedOrder, entry: Entry, transactionId: Hex) {
  const body = { order: ordered, orderSignature, inputs: [entry], fill: { transactionId } }
  return ask(trio, 'solver-fills/v1', body)
}

function askRefund({ order: ordered, orderSignature }: SignedOrder, entry: Entry, transactionId: Hex) {
  const refunds = [{ transactionId, inputIndex: 0, refundIndex: 0 }]
  return ask(trio, 'solver-refunds/v1', { order: ordered, orderSignature, inputs: [entry], refunds })
}

const solverHas = () =>
  hubBalance(network, hubAlias(base, network.keys.fillWallet.address), hubTokenId(base, usdc))
const isHeld = ({ status, body }: Answer) =>
  status === 200 && body.executionHeld === 'ORDER_SETTLED' && body.execution === undefined

test('one fill gives the solver one of two deposits; the other is its own once it gave it back', async () => {
  const signed = await order()
  const [first, second] = [await depositFor(signed), await depositFor(signed)]
  const filled = await fillOf(signed)
  const before = await solverHas()
  const [one, other] = [await askFill(signed, first, filled), await askFill(signed, second, filled)]
  await accept(network, one)
  // The message is true of either deposit, and two oracles say so.
  expect([isHeld(other), other.body.message.signatures.length >= 2]).toEqual([true, true])
  await expect(fillOf(signed)).rejects.toThrow(/AlreadyPaid|revert/)
  expect(await solverHas()).toBe(before + amount)

  const back = await refundOf(signed, second)
  await accept(network, await askRefund(signed, second, back))
  expect(await solverHas()).toBe(before + 2n * amount)
  const third = await depositFor(signed)
  expect(isHeld(await askFill(signed, third, filled))).toBe(true)
  // The contract recorded for which deposit it paid.
  const ofThird = await askRefund(signed, third, back)
  expect([ofThird.status, ofThird.body.errorCode]).toEqual([400, 'INSUFFICIENT_REFUND'])
})

test('700 that ask for both deposits at once get the execution of one', async () => {
  const signed = await order()
  const entries = [await depositFor(signed), await depositFor(signed)]
  const transactionId = await fillOf(signed)
  const { order: ordered, orderSignature } = signed
  const answers = await Promise.all(
    Array.from({ length: 700 }, async (_, index) => {
      const inputs = entries.slice(index % 2).slice(0, 1)
      const body = { order: ordered, orderSignature, inputs, fill: { transactionId } }
      const { status, text } = await trio.post('/attestations/solver-fills/v1', body)
      const { execution, executionHeld } = JSON.parse(text)
      return `${status} ${execution?.idempotencyKey ?? executionHeld}`
    }),
  )
  const different = [...new Set(answers)].sort()
  expect(different).toEqual([expect.stringMatching(/^200 0x[0-9a-f]{64}$/), '200 ORDER_SETTLED'])
})

test('dust that somebody deposits and settles first takes nothing from the solver', async () => {
  const signed = await order()
  const [dust, first] = [await depositFor(signed, 1n), await depositFor(signed)]
  const filled = await fillOf(signed)
  await accept(network, await askFill(signed, dust, filled))
  await accept(network, await askFill(signed, first, filled))
})
