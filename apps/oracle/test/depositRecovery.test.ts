// Goal: a deposit that no solver fills goes back to its depositor, once, by its solver's promise alone, and a
// solver that filled loses nothing by a promise that somebody else gave with its key. Method: three peered
// oracles, real nodes and contracts; the promise is written and the execution run as the oracles signed them.
import { attestationKinds, verifyAttestation } from '@causeway/attestations'
import { type Hex, hubAlias, hubTokenId, onchainId, orderAddress } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import {
  depositoryAbi,
  type LocalAccount,
  multicall3Abi,
  startTestNetwork,
  type TestNetwork,
} from '@causeway/localnet'
import { recoverSigner } from '@causeway/signer'
import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hubBalance, submitEntry, submitExecution } from './support/hubSubmission.ts'
import { type OracleTrio, startOracleTrio } from './support/oracleTrio.ts'
import { type Answer, accept, ask, passRecoveryDelay, promiseNoFill } from './support/ownerWithdrawals.ts'
import { deposit, native, pay, type SignedOrder, signedOrder } from './support/protocolActors.ts'

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
const order = (currency = usdc): Promise<SignedOrder> => {
  salt += 1
  return signedOrder(network, {
    salt: String(salt),
    refundTo: owner().address,
    input: { chain: 'base', currency, amount },
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
    currency: usdc,
    amount,
    id: signed.orderId,
  })
  const [deposited] = await bringToHub(signed, transactionId)
  if (deposited === undefined) throw new Error('no deposit')
  return deposited
}

/** All deposits of one transaction. */
async function bringToHub(signed: SignedOrder, transactionId: Hex): Promise<readonly Deposited[]> {
  const minted = await ask(trio, 'depository-deposits/v1', { chainId: 'base', transactionId })
  await accept(network, minted)
  const { order: ordered, orderSignature } = signed
  const messages: readonly { result: { onchainId: Hex }; extraData: { timestamp: string } }[] =
    minted.body.messages
  return messages.map(({ result: { onchainId: id }, extraData }) => ({
    ...signed,
    entry: { transactionId, onchainId: id, inputIndex: 0 },
    body: { chainId: 'base', transactionId, onchainId: id, order: ordered, orderSignature },
    holder: orderAddress(base, {
      depositor: owner().address,
      timestampSeconds: BigInt(extraData.timestamp),
      depositId: signed.orderId,
    }),
  }))
}

const recover = (deposited: Deposited): Promise<Answer> => ask(trio, 'recover/v1', deposited.body)
const refusedWith = (errorCode: string) => ({ status: 400, body: { errorCode } })
const held = (account: Hex, currency = usdc) => hubBalance(network, account, hubTokenId(base, currency))

const promise = (signed: SignedOrder) => promiseNoFill(network, trio, signed)
const passTime = () => passRecoveryDelay(network)

async function fill({ orderId, order: ordered, orderSignature, entry }: Deposited): Promise<Answer> {
  const paid = { currency: network.deployment.optimism.tokens.USDC, to: recipient, amount: 1_000_000n }
  const transactionId = await pay(network, 'optimism', { orderId, payments: [paid] })
  return ask(trio, 'solver-fills/v1', {
    order: ordered,
    orderSignature,
    inputs: [entry],
    fill: { transactionId },
  })
}

test('P-123: a deposit that nobody fills goes back: promise, entry, execution, once', async () => {
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
  await passTime()

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
    threshold: 2,
    networkOf: () => mainNetwork('ethereum-vm'),
    recover: recoverSigner,
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
  await passTime()
  const deposited = await depositFor(signed)
  const filled = await fill(deposited)
  expect(await recover(deposited)).toMatchObject(refusedWith('RECOVERY_TOO_EARLY'))
  await accept(network, filled)
  await passTime()
  expect(await recover(deposited)).toMatchObject(refusedWith('DEPOSIT_NOT_HELD'))
})

test('P-124: a solver that promises, and fills after the deposit went back, settles nothing', async () => {
  const deposited = await depositFor(await order())
  const promised = await promise(deposited)
  expect(await submitEntry(network, promised.body.genericMapping)).toBe('accepted')
  await passTime()
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
  await passTime()
  const [first, second] = [await recover(one), await recover(other)]
  expect(first.body.execution.idempotencyKey).not.toBe(second.body.execution.idempotencyKey)
  await accept(network, first)
  await accept(network, second)
  expect([await held(one.holder), await held(other.holder)]).toEqual([0n, 0n])
})

test('P-84: a second deposit of a filled order goes back, and the first does not', async () => {
  const signed = await order()
  const first = await depositFor(signed)
  await accept(network, await fill(first))
  // Deposits of one second would share an account (P-85).
  await network.chains.base.chain.node.increaseTime({ seconds: 2 })
  const second = await depositFor(signed)
  expect(await submitEntry(network, (await promise(signed)).body.genericMapping)).toBe('accepted')
  await passTime()
  expect(await recover(first)).toMatchObject(refusedWith('DEPOSIT_NOT_HELD'))
  await accept(network, await recover(second))
  for (const one of [first, second]) {
    expect(await recover(one)).toMatchObject(refusedWith('DEPOSIT_NOT_HELD'))
    expect(await held(one.holder)).toBe(0n)
  }
})

/** Two deposits of the owner in one transaction, so that both lie in one account of the hub. */
async function depositTwice(signed: SignedOrder, amounts: readonly bigint[]): Promise<Hex> {
  const { depository, multicall3 } = network.deployment.base
  const callData = encodeFunctionData({
    abi: depositoryAbi,
    functionName: 'depositNative',
    args: [owner().address, signed.orderId],
  })
  const calls = amounts.map((value) => ({ target: depository, allowFailure: false, value, callData }))
  const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3Value', args: [calls] })
  const { walletClient, publicClient } = network.chains.base.chain.as(owner())
  const value = amounts.reduce((sum, one) => sum + one, 0n)
  const transactionId = await walletClient.sendTransaction({ to: multicall3, data, value })
  await publicClient.waitForTransactionReceipt({ hash: transactionId })
  await network.mine('base', 3)
  return transactionId
}

test('P-85: of two deposits in one account, whoever asks first for the filled one, all of the other goes back', async () => {
  const signed = await order(native)
  const [filled, larger] = await bringToHub(signed, await depositTwice(signed, [amount, 3n * amount]))
  if (filled === undefined || larger === undefined) throw new Error('no two deposits')
  expect(larger.holder).toBe(filled.holder)
  await accept(network, await fill(filled))
  expect(await submitEntry(network, (await promise(signed)).body.genericMapping)).toBe('accepted')
  await passTime()
  const alias = hubAlias(base, owner().address)
  const before = await held(alias, native)
  // A stranger names the filled deposit, whose amount the account still holds.
  await accept(network, await recover(filled))
  await accept(network, await recover(larger))
  expect(await held(filled.holder, native)).toBe(0n)
  expect((await held(alias, native)) - before).toBe(3n * amount)
})

test('a deposit that is not final does not go back', async () => {
  const { orderId, order: ordered, orderSignature } = await order()
  const { walletClient, publicClient } = network.chains.base.chain.as(owner())
  const args = [owner().address, orderId] as const
  const data = encodeFunctionData({ abi: depositoryAbi, functionName: 'depositNative', args })
  const transactionId = await walletClient.sendTransaction({
    to: network.deployment.base.depository,
    data,
    value: 1n,
  })
  await publicClient.waitForTransactionReceipt({ hash: transactionId })
  const id = onchainId({ chainId: 'base', transactionId, onchainIndex: '0' })
  expect(
    await ask(trio, 'recover/v1', {
      chainId: 'base',
      transactionId,
      onchainId: id,
      order: ordered,
      orderSignature,
    }),
  ).toMatchObject(refusedWith('TRANSACTION_NOT_FINAL'))
})
