// Goal: what an owner takes out is paid once: a payout burns, an expiry gives back, never both, and bytes
// that the allocator did not issue for exactly this withdrawal address move nothing. Method: three peered
// oracles, real nodes and contracts; every attack is one that two of three signatures once went through.

import type { Hex } from '@causeway/core'
import { decodeEvmWithdrawal, encodeEvmWithdrawal } from '@causeway/families/rules'
import { type LocalAccount, startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hubBalance, issuedPayload, submitExecution, submitWithdrawRequest } from './support/hubSubmission.ts'
import { type OracleTrio, startOracleTrio } from './support/oracleTrio.ts'
import {
  accept,
  ask,
  type Initiated,
  initiate,
  payloadIdOf,
  type WithdrawalTerms,
} from './support/ownerWithdrawals.ts'
import { executeWithdrawal, native } from './support/protocolActors.ts'

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

const user = (index: number): LocalAccount => {
  const account = network.keys.users[index]
  if (account === undefined) throw new Error(`no user ${index}`)
  return account
}

const lifetimeSeconds = 864_000
/** Equal money for everybody, so that one payout looks like another's. */
const recipient: Hex = `0x${'7e'.repeat(20)}`
const terms = (owner: number, nonce: string, change: Partial<WithdrawalTerms> = {}): WithdrawalTerms => ({
  owner: user(owner),
  currency: network.deployment.base.tokens.USDC,
  amount: 50_000_000n,
  recipient,
  nonce,
  ...change,
})

const v1 = (withdrawal: Hex, initiated: Initiated, named: object = {}) =>
  ask(trio, 'depository-withdrawals/v1', {
    chainId: 'base',
    withdrawal,
    withdrawalAddressRequest: initiated.addressRequest,
    ...named,
  })
const v2 = (initiated: Initiated, named: object = {}) =>
  ask(trio, 'depository-withdrawals/v2', { ...initiated.flow, ...named })
const held = ({ holder, token }: Initiated) => hubBalance(network, holder, token)

/** Submits the request that oracles signed to the allocator. @returns id and bytes of the issued payload */
async function issue({ flow }: Initiated) {
  const { body } = await ask(trio, 'withdrawal-initiated/v2', flow)
  expect(await submitWithdrawRequest(network, body.payloadParams)).toBe('accepted')
  const payloadId = payloadIdOf(body.payloadParams)
  return { params: body.payloadParams, payloadId, payload: await issuedPayload(network, payloadId) }
}

/** The issued payload again, as anybody can write it: another nonce, and already over. */
function expiredCopy(payload: Hex): Hex {
  return encodeEvmWithdrawal({ ...decodeEvmWithdrawal(payload), nonce: 1n, expiration: 1_700_000_000n })
}

describe.each([
  ['native', () => ({ currency: native, amount: parseEther('0.5') }), '1'],
  ['ERC-20', () => ({}), '2'],
] as const)('a withdrawal of %s', (_name, money, nonce) => {
  test('is initiated, issued, executed and burned, once', async () => {
    const initiated = await initiate(network, trio, terms(0, nonce, money()))
    expect((await v2(initiated)).body).toEqual({ status: 0 })
    const { params, payload } = await issue(initiated)
    expect(await submitWithdrawRequest(network, params)).toBe('NonceUsed')
    expect((await v1(payload, initiated)).body).toMatchObject({ message: { result: { status: 0 } } })
    expect((await v1(payload, initiated)).body).not.toHaveProperty('execution')

    const transactionId = await executeWithdrawal(network, 'base', decodeEvmWithdrawal(payload))
    const [one, other] = await Promise.all([
      v1(payload, initiated, { transactionId }),
      v2(initiated, { transactionId }),
    ])
    expect(one.body.message.result.status).toBe(1)
    expect(other.body.status).toBe(1)
    expect(other.body.execution.idempotencyKey).toBe(one.body.execution.idempotencyKey)
    await accept(network, one)
    expect(await held(initiated)).toBe(0n)
    expect(await hubBalance(network, initiated.alias, initiated.token)).toBe(0n)
    expect(await submitExecution(network, other.body.execution)).toBe('AlreadyExecuted')
  })
})

test('P-117: a self-made expired request gives nothing back, before the allocator issued one and after it paid', async () => {
  const initiated = await initiate(network, trio, terms(1, '11'))
  const guess = expiredCopy(
    encodeEvmWithdrawal({
      calls: [{ to: recipient, data: '0x', value: 1n, allowFailure: false }],
      nonce: 1n,
      expiration: 1n,
    }),
  )
  expect(await v1(guess, initiated)).toMatchObject({ status: 400 })
  const { payload } = await issue(initiated)
  const transactionId = await executeWithdrawal(network, 'base', decodeEvmWithdrawal(payload))
  const before = await held(initiated)
  expect(await v1(expiredCopy(payload), initiated)).toMatchObject({
    status: 400,
    body: { errorCode: 'WITHDRAWAL_PAYLOAD_MISMATCH' },
  })
  // Alone, the bytes have a message about themselves and move nothing.
  const alone = await ask(trio, 'depository-withdrawals/v1', {
    chainId: 'base',
    withdrawal: expiredCopy(payload),
  })
  expect(alone.body).toMatchObject({ message: { result: { status: 2 } } })
  expect(alone.body).not.toHaveProperty('execution')
  expect(await held(initiated)).toBe(before)
  await accept(network, await v1(payload, initiated, { transactionId }))
  expect(await held(initiated)).toBe(0n)
})

test("one owner's payout burns nothing of another with the same recipient, currency and amount", async () => {
  const one = await initiate(network, trio, terms(2, '21'))
  const other = await initiate(network, trio, terms(3, '21'))
  const { payload } = await issue(one)
  const transactionId = await executeWithdrawal(network, 'base', decodeEvmWithdrawal(payload))
  expect(await v1(payload, other, { transactionId })).toMatchObject({
    status: 400,
    body: { errorCode: 'WITHDRAWAL_NOT_ISSUED' },
  })
  const own = await issue(other)
  expect(own.payload).not.toBe(payload)
  expect(await v1(payload, other, { transactionId })).toMatchObject({
    status: 400,
    body: { errorCode: 'WITHDRAWAL_PAYLOAD_MISMATCH' },
  })
  expect(await v2(other, { transactionId })).toMatchObject({ body: { status: 0 } })
  expect(await held(other)).toBe(50_000_000n)
  await accept(network, await v1(payload, one, { transactionId }))
  expect(await held(one)).toBe(0n)
})

test('what was issued in a block that is not final is asked for again later', async () => {
  const initiated = await initiate(network, trio, terms(4, '41'))
  const { body } = await ask(trio, 'withdrawal-initiated/v1', initiated.flow)
  expect(await submitWithdrawRequest(network, body.payloadParams, { blocks: 0 })).toBe('accepted')
  const payload = await issuedPayload(network, payloadIdOf(body.payloadParams))
  for (const answer of [await v1(payload, initiated), await v2(initiated)]) {
    expect(answer).toMatchObject({
      status: 400,
      body: { errorCode: 'WITHDRAWAL_NOT_FINAL', retryable: true },
    })
  }
  await network.mine('hub', 3)
  expect(await v1(payload, initiated)).toMatchObject({ status: 200 })
})

test('P-119: one nonce has one payload: nothing second is issued for the same withdrawal address', async () => {
  const initiated = await initiate(network, trio, terms(4, '42'))
  const { params } = await issue(initiated)
  // The withdrawal address still holds the amount, so the oracles sign again; the allocator refuses.
  const again = await ask(trio, 'withdrawal-initiated/v1', initiated.flow)
  expect(again.body.payloadParams.nonce).toBe(params.nonce)
  expect(await submitWithdrawRequest(network, again.body.payloadParams)).toBe('NonceUsed')
})

// Last: it moves the clock of base.
test('P-118: an issued withdrawal that expired is given back, and a burn signed before is shut out', async () => {
  const initiated = await initiate(network, trio, terms(5, '51'))
  const { payload } = await issue(initiated)
  await network.chains.base.chain.node.increaseTime({ seconds: lifetimeSeconds + 60 })
  await network.mine('base', 4)
  const expired = await v1(payload, initiated)
  expect(expired.body.message.result.status).toBe(2)
  const asked = await v2(initiated)
  expect(asked.body).toMatchObject({
    status: 2,
    execution: { idempotencyKey: expired.body.execution.idempotencyKey },
  })
  await accept(network, expired)
  expect(await held(initiated)).toBe(0n)
  expect(await hubBalance(network, initiated.alias, initiated.token)).toBe(50_000_000n)
  expect(await submitExecution(network, asked.body.execution)).toBe('AlreadyExecuted')
})
