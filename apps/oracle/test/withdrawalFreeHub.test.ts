// Goal: on a hub whose tokens anybody may move, more money at a withdrawal address neither gets a second request
// issued for it nor stops the first one; less never is enough. Method: the ledger of the local hub with the free
// `transfer` of the public one, three peered oracles, real nodes and contracts.
// @source rules P-119, P-121

import { type Hex, ownerRequestDigest } from '@causeway/core'
import { decodeEvmWithdrawal, encodeEvmWithdrawal } from '@causeway/families/rules'
import {
  type LocalAccount,
  loadArtifacts,
  startTestNetwork,
  type TestNetwork,
  tokenAbi,
} from '@causeway/localnet'
import { encodeFunctionData, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { grantBalance } from './support/hubLedger.ts'
import { hubBalance, issuedPayload, submitExecution, submitWithdrawRequest } from './support/hubSubmission.ts'
import { type OracleTrio, startOracleTrio } from './support/oracleTrio.ts'
import {
  type Answer,
  accept,
  ask,
  type Initiated,
  initiate,
  payloadIdOf,
} from './support/ownerWithdrawals.ts'
import { executeWithdrawal } from './support/protocolActors.ts'

let network: TestNetwork
let trio: OracleTrio
let artifacts: Awaited<ReturnType<typeof loadArtifacts>>

beforeAll(async () => {
  network = await startTestNetwork()
  artifacts = await loadArtifacts()
  // Oracles refuse to start over a ledger of other code.
  trio = await startOracleTrio(network)
  // A ledger with the same storage and one more function.
  await network.chains.hub.chain.node.setCode({
    address: network.deployment.hub.hub,
    bytecode: artifacts.FreeHub.runtimeBytecode,
  })
})
afterAll(async () => {
  await trio?.stop()
  await network?.stop()
})

const amount = 50_000_000n
const more = 30_000_000n
const recipient: Hex = `0x${'7e'.repeat(20)}`
const owner = (): LocalAccount => {
  const [account] = network.keys.users
  if (account === undefined) throw new Error('no user')
  return account
}
let nonce = 0
let initiated: Initiated
beforeEach(async () => {
  nonce += 1
  const currency = network.deployment.base.tokens.USDC
  const terms = { owner: owner(), currency, amount, recipient, nonce: String(nonce) }
  initiated = await initiate(network, trio, terms)
})

const held = () => hubBalance(network, initiated.holder, initiated.token)

/** Somebody with hub tokens sends them to the withdrawal address; nobody can keep him from it. */
async function send(sent: bigint): Promise<void> {
  const { hub } = network.deployment.hub
  const sender = network.keys.fillWallet
  await grantBalance(network, { holder: sender.address, token: initiated.token, amount: sent })
  const data = encodeFunctionData({
    abi: artifacts.FreeHub.abi,
    functionName: 'transfer',
    args: [initiated.holder, initiated.token, sent],
  })
  await network.chains.hub.chain.send(sender, [{ what: 'a free transfer', to: hub, data }])
  await network.mine('hub', 3)
}

/** Flow of the same owner with another amount, signed by him. */
async function flowOf(asked: bigint) {
  const { ownerSignature: _own, ...rest } = initiated.flow
  const request = { ...rest, amount: asked.toString() }
  const hash = toHex(ownerRequestDigest(Object(request)))
  return { ...request, ownerSignature: await privateKeyToAccount(owner().privateKey).sign({ hash }) }
}

/** Request for the allocator, signed by two oracles. */
async function signedRequest(asked: bigint) {
  const answer = await ask(trio, 'withdrawal-initiated/v2', await flowOf(asked))
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body.payloadParams
}

const statusOf = async (asked: bigint, named: object = {}) =>
  ask(trio, 'depository-withdrawals/v2', { ...(await flowOf(asked)), ...named })

/** The depository pays, and the oracles' burn is brought to the hub. */
async function payAndBurn(asked: bigint, payload: Hex): Promise<Answer> {
  const transactionId = await executeWithdrawal(network, 'base', decodeEvmWithdrawal(payload))
  const answer = await statusOf(asked, { transactionId })
  expect(answer.body).toMatchObject({ status: 1 })
  await accept(network, answer)
  return answer
}

const paidOut = () =>
  network.chains.base.chain.client.readContract({
    address: network.deployment.base.tokens.USDC,
    abi: tokenAbi,
    functionName: 'balanceOf',
    args: [recipient],
  })

describe('(a) more hub tokens sent to a withdrawal address', () => {
  test.each([
    ['first', (first: object, second: object) => [first, second]],
    ['second', (first: object, second: object) => [second, first]],
  ])('get no second request issued, when the larger one is handed in %s', async (_when, inOrder) => {
    const smaller = await signedRequest(amount)
    await send(more)
    const larger = await signedRequest(amount + more)
    const [one, other] = inOrder(larger, smaller)
    expect(await submitWithdrawRequest(network, Object(one))).toBe('accepted')
    expect(await submitWithdrawRequest(network, Object(other))).toBe('NonceUsed')
  })

  test('are paid to nobody and given back to nobody, once the first request is paid', async () => {
    const smaller = await signedRequest(amount)
    await send(more)
    const larger = await signedRequest(amount + more)
    expect(await submitWithdrawRequest(network, smaller)).toBe('accepted')
    expect(await submitWithdrawRequest(network, larger)).toBe('NonceUsed')
    const before = await paidOut()
    const payload = await issuedPayload(network, payloadIdOf(smaller))
    const burn = await payAndBurn(amount, payload)
    expect((await paidOut()) - before).toBe(amount)
    expect(await held()).toBe(more)
    // Nothing was issued for the larger one, so that nothing of it can expire.
    expect((await statusOf(amount + more)).body).toEqual({ status: 0 })
    const { calls, nonce: id } = decodeEvmWithdrawal(payload)
    const data = encodeFunctionData({
      abi: tokenAbi,
      functionName: 'transfer',
      args: [recipient, amount + more],
    })
    const selfMade = calls.map((call) => ({ ...call, data }))
    const answer = await ask(trio, 'depository-withdrawals/v1', {
      chainId: 'base',
      withdrawalAddressRequest: initiated.addressRequest,
      withdrawal: encodeEvmWithdrawal({ calls: selfMade, nonce: id, expiration: 1n }),
    })
    expect(answer).toMatchObject({ status: 400, body: { errorCode: 'WITHDRAWAL_NOT_ISSUED' } })
    // The burn is used up: the rest is out of everybody's reach.
    expect(await submitExecution(network, burn.body.execution)).toBe('AlreadyExecuted')
    expect(await held()).toBe(more)
  })
})

describe('(b) a withdrawal address that holds', () => {
  test('P-121: one unit more than the amount is paid and burned like any other', async () => {
    await send(1n)
    const params = await signedRequest(amount)
    expect(await submitWithdrawRequest(network, params)).toBe('accepted')
    await payAndBurn(amount, await issuedPayload(network, payloadIdOf(params)))
    expect(await held()).toBe(1n)
  })

  test('one unit less gets nothing signed', async () => {
    const answer = await ask(trio, 'withdrawal-initiated/v2', await flowOf(amount + 1n))
    expect(answer).toMatchObject({
      status: 400,
      body: { errorCode: 'HUB_BALANCE_MISMATCH' },
    })
  })
})
