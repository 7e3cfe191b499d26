// Goal: a deposit that no solver fills goes back to its depositor, once, by its solver's promise alone, and a
// solver that filled loses nothing by a promise that somebody else gave with its key. Method: three peered
// oracles, real nodes and contracts; the promise is written and the execution run as the oracles signed them.
import {
  attestationKinds,
  bytesToHex,
  type Hex,
  hubAlias,
  hubTokenId,
  mainNetwork,
  noFillOrRefundDigest,
  onchainId,
  orderAddress,
  verifyAttestation,
} from '@causeway/core'
import { depositoryAbi, type LocalAccount, startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { recoverSigner } from '@causeway/signer'
import { encodeFunctionData } from 'viem'
import { sign } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hubBalance, submitEntry, submitExecution } from './support/hubSubmission.ts'
import { type OracleTrio, startOracleTrio } from './support/oracleTrio.ts'
import { type Answer, accept, ask } from './support/ownerWithdrawals.ts'
import { deposit, pay, type SignedOrder, signedOrder } from './support/protocolActors.ts'

const base = { chainId: 'base', ...mainNetwork('ethereum-vm') } as const
const amount = 40_000_000n
const recipient: Hex = `0x${'7e'.repeat(20)}`
/**
 * Twice `recoveryDelaySeconds` of configs/chains.hub.local.json. A chain's clock goes on by a second per block at
 * least, so base, which mines more of them, is some seconds ahead of the hub.
 */
const delaySeconds = 120

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

/** Both clocks go on together. */
async function passTime(seconds: number): Promise<void> {
  for (const chain of ['base', 'hub'] as const) {
    await network.chains[chain].chain.node.increaseTime({ seconds })
    await network.mine(chain, 3)
  }
}

let salt = 0
const order = (): Promise<SignedOrder> => {
  salt += 1
  return signedOrder(network, {
    ...{ salt: String(salt), refundTo: owner().address },
    input: { chain: 'base', currency: usdc, amount },
    output: {
      chain: 'optimism',
      payments: [{ currency: network.deployment.optimism.tokens.USDC, to: recipient, amount: 1_000_000n }],
    },
  })
}

/** A deposit, and what is asked to have it back. */
type Deposited = SignedOrder & {
  readonly body: object
  readonly entry: { readonly transactionId: string; readonly onchainId: Hex; readonly inputIndex: number }
  /** The order's account on the hub. */
  readonly holder: Hex
}

/** Deposits for the order and brings the deposit to the hub. */
async function depositFor(signed: SignedOrder): Promise<Deposited> {
  const transactionId = await deposit(network, 'base', owner(), {
    ...{ currency: usdc, amount, id: signed.orderId },
  })
  const minted = await ask(trio, 'depository-deposits/v1', { chainId: 'base', transactionId })
  await accept(network, minted)
  const [message] = minted.body.messages
  const { order: ordered, orderSignature } = signed
  return {
    ...signed,
    entry: { transactionId, onchainId: message.result.onchainId, inputIndex: 0 },
    body: {
      ...{ chainId: 'base', transactionId, onchainId: message.result.onchainId },
      ...{ order: ordered, orderSignature },
    },
    holder: orderAddress(base, {
      depositor: owner().address,
      timestampSeconds: BigInt(message.extraData.timestamp),
      depositId: signed.orderId,
    }),
  }
}

const recover = (deposited: Deposited): Promise<Answer> => ask(trio, 'recover/v1', deposited.body)
const refusedWith = (errorCode: string) => ({ status: 400, body: { errorCode } })
const held = (account: Hex) => hubBalance(network, account, hubTokenId(base, usdc))

/** What the oracles make of the promise of whoever holds the solver's key. */
async function promise({ order: { solver }, orderId }: SignedOrder): Promise<Answer> {
  const { fillWallet } = network.keys
  const promised = { solverChainId: 'base', solver: fillWallet.address, orderId }
  const hash = bytesToHex(noFillOrRefundDigest(promised, network.chains.base.chainId))
  const signature = await sign({ hash, privateKey: fillWallet.privateKey, to: 'hex' })
  return ask(trio, 'signatures/no-fill-or-refund/v1', { ...promised, solver, signature })
}

async function fill({ orderId, order: ordered, orderSignature, entry }: Deposited): Promise<Answer> {
  const paid = { currency: network.deployment.optimism.tokens.USDC, to: recipient, amount: 1_000_000n }
  const transactionId = await pay(network, 'optimism', { orderId, payments: [paid] })
  return ask(trio, 'solver-fills/v1', {
    ...{ order: ordered, orderSignature, inputs: [entry], fill: { transactionId } },
  })
}

test('a deposit that nobody fills goes back: promise, entry, execution, once', async () => {
  const deposited = await depositFor(await order())
  const alias = hubAlias(base, owner().address)
  const before = await held(alias)
  expect(await recover(deposited)).toMatchObject(refusedWith('NO_FILL_PROMISE_MISSING'))

  const promised = await promise(deposited)
  expect(promised.status).toBe(200)
  expect(await submitEntry(network, promised.body.genericMapping, { blocks: 0 })).toBe('accepted')
  expect(await recover(deposited)).toMatchObject({
    ...refusedWith('HUB_NOT_FINAL'),
    body: { retryable: true },
  })
  await network.mine('hub', 3)
  expect(await recover(deposited)).toMatchObject({
    ...refusedWith('RECOVERY_TOO_EARLY'),
    body: { retryable: true },
  })
  await passTime(delaySeconds)

  const back = await recover(deposited)
  await accept(network, back)
  expect(await held(deposited.holder)).toBe(0n)
  expect(await held(alias)).toBe(before + amount)
  expect(await submitExecution(network, back.body.execution)).toBe('AlreadyExecuted')
  expect(await recover(deposited)).toMatchObject(refusedWith('DEPOSIT_NOT_HELD'))
  expect(await submitEntry(network, promised.body.genericMapping)).toBe('NonceUsed')

  // Two of three signed each answer, every array of it, for this hub.
  const { chainId, oracle, genericMapping } = network.deployment.hub
  const terms = {
    ...{ threshold: 2, networkOf: () => mainNetwork('ethereum-vm'), recover: recoverSigner },
    signers: network.keys.oracles.map(({ address }) => address),
    hub: {
      executionDomain: { chainId, verifyingContract: oracle, version: '2' },
      mappingDomain: { chainId, verifyingContract: genericMapping },
    },
  }
  const kinds = attestationKinds
  expect(verifyAttestation(back.body, { ...terms, kind: kinds.recovery }).isQuorum).toBe(true)
  expect(verifyAttestation(promised.body, { ...terms, kind: kinds['no-fill-or-refund'] }).isQuorum).toBe(true)
})

test('a stolen key that promises first and has the order filled gets nothing back: the fill settles', async () => {
  const signed = await order()
  const promised = await promise(signed)
  expect(await submitEntry(network, promised.body.genericMapping)).toBe('accepted')
  await passTime(delaySeconds)
  const deposited = await depositFor(signed)
  const filled = await fill(deposited)
  expect(await recover(deposited)).toMatchObject(refusedWith('RECOVERY_TOO_EARLY'))
  await accept(network, filled)
  await passTime(delaySeconds)
  expect(await recover(deposited)).toMatchObject(refusedWith('DEPOSIT_NOT_HELD'))
})

test('a solver that promises, and fills after the deposit went back, settles nothing', async () => {
  const deposited = await depositFor(await order())
  const promised = await promise(deposited)
  expect(await submitEntry(network, promised.body.genericMapping)).toBe('accepted')
  await passTime(delaySeconds)
  const [back, filled] = [await recover(deposited), await fill(deposited)]
  await accept(network, back)
  expect(filled.status).toBe(200)
  expect(await submitExecution(network, filled.body.execution)).toBe('InsufficientBalance')
})

test('of two deposits for one order each goes back under a key of its own', async () => {
  const signed = await order()
  const [one, other] = [await depositFor(signed), await depositFor(signed)]
  const promised = await promise(signed)
  expect(await submitEntry(network, promised.body.genericMapping)).toBe('accepted')
  await passTime(delaySeconds)
  const [first, second] = [await recover(one), await recover(other)]
  expect(first.body.execution.idempotencyKey).not.toBe(second.body.execution.idempotencyKey)
  await accept(network, first)
  await accept(network, second)
  expect([await held(one.holder), await held(other.holder)]).toEqual([0n, 0n])
})

test('a deposit that is not final does not go back', async () => {
  const { orderId, order: ordered, orderSignature } = await order()
  const { walletClient, publicClient } = network.chains.base.chain.as(owner())
  const args = [owner().address, orderId] as const
  const data = encodeFunctionData({ abi: depositoryAbi, functionName: 'depositNative', args })
  const transactionId = await walletClient.sendTransaction({
    ...{ to: network.deployment.base.depository, data, value: 1n },
  })
  await publicClient.waitForTransactionReceipt({ hash: transactionId })
  const id = onchainId({ chainId: 'base', transactionId, onchainIndex: '0' })
  expect(
    await ask(trio, 'recover/v1', {
      ...{ chainId: 'base', transactionId, onchainId: id, order: ordered, orderSignature },
    }),
  ).toMatchObject(refusedWith('TRANSACTION_NOT_FINAL'))
})
