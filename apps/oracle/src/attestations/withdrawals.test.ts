// Bytes and requests of withdrawals that belong together, rules P-117 and P-118, their keys and message ids.
import {
  encodeBurnAction,
  encodeTransferAction,
  type Hex,
  hubAlias,
  hubTokenId,
  type WithdrawalFacts,
  withdrawalAddress,
  withdrawalKey,
  withdrawalMessageId,
  withdrawRequestPayloadId,
} from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { encodeEvmWithdrawal, withdrawRequestOf } from '@causeway/families/rules'
import { describe, expect, test } from 'vitest'
import { repeated } from '../../../../packages/core/test/vectors/orders.ts'
import {
  depository,
  evidence,
  type Issued,
  nativeCurrency,
  otherDepository,
  usdc,
  world,
} from '../../test/fixtures/world.ts'
import { type WithdrawalsRequest, withdrawalsRequestSchema } from '../wire/requests.ts'
import { attestWithdrawal } from './withdrawals.ts'

const options = { signal: new AbortController().signal }
const withdrawalId = '0x42600e31bfa4e2d638f483dd2b087d53328733fceb578fac6db1928b6ce95fcc'
const executing = repeated('bb', 32)
const recipient = repeated('22', 20)
const withdrawer = repeated('99', 20)
const withdrawal = encodeEvmWithdrawal({
  calls: [{ to: recipient, data: '0x', value: 1000n, allowFailure: false }],
  nonce: 5n,
  expiration: 1_800_000_000n,
})

function facts(change: Partial<WithdrawalFacts> = {}): WithdrawalFacts {
  return {
    kind: 'withdrawal',
    withdrawalId,
    depository,
    status: 'executed',
    currency: nativeCurrency,
    amount: 1000n,
    recipient,
    evidence: evidence('ethereum'),
    ...change,
  }
}

const addressRequest = {
  chainId: 'ethereum',
  currency: nativeCurrency,
  withdrawer,
  withdrawerChainId: 'base',
  recipient,
  withdrawalNonce: '42',
}

function request(change: object = {}): WithdrawalsRequest {
  return withdrawalsRequestSchema.parse({ chainId: 'ethereum', withdrawal, ...change })
}

/** Withdrawal that the allocator issued, for owner, nonce and money of `addressRequest`. */
const ownerAlias = hubAlias({ chainId: 'base', ...mainNetwork('ethereum-vm') }, withdrawer)
const payloadId = issuedId(ownerAlias, 42n)
const issuedHere: Issued = { [payloadId]: withdrawal }

function issuedId(spender: Hex, nonce: bigint): Hex {
  const chain = { ...mainNetwork('ethereum-vm'), hubChainId: '1' }
  const money = { depository, currency: nativeCurrency, amount: 1000n, recipient }
  return withdrawRequestPayloadId(withdrawRequestOf(chain, withdrawal, { ...money, spender, nonce }))
}

function attest(body: WithdrawalsRequest, found: WithdrawalFacts, issued: Issued = issuedHere) {
  const scripts = { ethereum: { withdrawals: { [body.withdrawal]: found } } }
  return attestWithdrawal(body, world(scripts, {}, issued), options)
}

const ethereum = { chainId: 'ethereum', ...mainNetwork('ethereum-vm') } as const
const hubFrom = withdrawalAddress(ethereum, {
  depository,
  currency: nativeCurrency,
  recipient,
  ownerAlias,
  nonce: 42n,
})
const token = hubTokenId(ethereum, nativeCurrency)
const key = withdrawalKey({ hubId: 'relay', payloadId })

describe('the message', () => {
  test.each([
    ['pending', 0, '0x7ebd2b149a4ec3957f9aa0f28443c0b89c49ed3c737ed66b04714dd0deb04138', false],
    ['executed', 1, '0x75b177164cfd9aec1208daae96745ef40e58b652a9a3676092a281b17f368493', true],
    ['expired', 2, '0x5207c6c6c5664e42a6c9e3455674771caa486a9994c34ccaa125d71b5e0b6334', true],
  ] as const)('of a withdrawal that is %s is the published one', async (status, number, id, isFinal) => {
    const attested = await attest(request(), facts({ status }))
    expect(attested.unsigned).toStrictEqual({
      message: {
        data: { chainId: 'ethereum', withdrawal },
        result: { withdrawalId, depository, status: number },
        signatures: [],
      },
    })
    expect(withdrawalMessageId(attested.unsigned.message, world({}).networkOf)).toBe(id)
    expect(attested.isFinal).toBe(isFinal)
    expect(attested.evidence).toEqual([evidence('ethereum')])
  })

  test('of a withdrawal that waits comes with the reason', async () => {
    const pendingReason = 'ACTION_CAN_BE_SENT_AGAIN'
    const { unsigned } = await attest(request(), facts({ status: 'pending', pendingReason }))
    expect(unsigned.pendingReason).toBe(pendingReason)
  })

  test.each([
    ['alone', {}, {}],
    [
      'and the transaction that the caller names, in canonical spelling',
      { transactionId: `0x${'BB'.repeat(32)}` },
      { transactionId: executing },
    ],
  ])('is read by the bytes %s', async (_what, named, canonical) => {
    const context = world({ ethereum: { withdrawals: { [withdrawal]: facts({ status: 'pending' }) } } })
    await attestWithdrawal(request(named), context, options)
    expect(context.asked).toStrictEqual([
      { chainId: 'ethereum', what: 'withdrawal', question: { withdrawal, ...canonical } },
    ])
  })
})

describe('the execution', () => {
  test('of an executed withdrawal burns what its address holds, under the key of what was issued', async () => {
    const body = request({ transactionId: executing, withdrawalAddressRequest: addressRequest })
    const { unsigned } = await attest(body, facts({ executingTransactionId: executing }))
    expect(unsigned.execution).toEqual({
      idempotencyKey: key,
      actions: [encodeBurnAction({ hubFrom, hubTokenId: token, amount: 1000n })],
      signatures: [],
    })
    expect(unsigned.message.data.withdrawalAddressRequest).toEqual(addressRequest)
  })

  test('rests on the allocator as well', async () => {
    const body = request({ transactionId: executing, withdrawalAddressRequest: addressRequest })
    const attested = await attest(body, facts({ executingTransactionId: executing }))
    expect(attested.evidence.map(({ chainId }) => chainId)).toEqual(['ethereum', 'relay-allocator'])
  })

  test.each([
    ['without a transaction', {}],
    ['with a transaction, which is ignored', { transactionId: executing }],
  ])('of an expired withdrawal gives back under the same key: %s', async (_what, named) => {
    const body = request({ ...named, withdrawalAddressRequest: addressRequest })
    const { unsigned } = await attest(body, facts({ status: 'expired' }))
    expect(unsigned.execution).toEqual({
      idempotencyKey: key,
      actions: [encodeTransferAction({ hubFrom, hubTo: ownerAlias, hubTokenId: token, amount: 1000n })],
      signatures: [],
    })
  })

  test('of an executed withdrawal is left out while nobody names its transaction', async () => {
    const { unsigned } = await attest(request({ withdrawalAddressRequest: addressRequest }), facts())
    expect(unsigned.execution).toBeUndefined()
    expect(unsigned.message.result.status).toBe(1)
  })

  test('F-136: takes the depository that the request names, when the withdrawal takes from it', async () => {
    const named = { ...addressRequest, depository: otherDepository }
    const body = request({ transactionId: executing, withdrawalAddressRequest: named })
    const found = (payingDepositories: readonly string[]) =>
      facts({ executingTransactionId: executing, payingDepositories })
    const chain = { ...mainNetwork('ethereum-vm'), hubChainId: '1' }
    const money = { depository: otherDepository, currency: nativeCurrency, amount: 1000n, recipient }
    const requested = withdrawRequestOf(chain, withdrawal, { ...money, spender: ownerAlias, nonce: 42n })
    const issued = { [withdrawRequestPayloadId(requested)]: withdrawal }
    const { unsigned } = await attest(body, found([depository, otherDepository]), issued)
    expect(unsigned.execution).toBeDefined()
    expect(unsigned.message.result.depository).toBe(depository)
    await expect(attest(body, found([depository]))).rejects.toMatchObject({
      code: 'WITHDRAWAL_REQUEST_MISMATCH',
    })
  })

  test('of a pending withdrawal is left out', async () => {
    const body = request({ transactionId: executing, withdrawalAddressRequest: addressRequest })
    const { unsigned } = await attest(body, facts({ status: 'pending' }))
    expect(unsigned.execution).toBeUndefined()
  })

  test('does not depend on the spelling of what the request names', async () => {
    const upper = (hex: string) => `0x${hex.slice(2).toUpperCase()}`
    const plain = request({ transactionId: executing, withdrawalAddressRequest: addressRequest })
    const spelled = request({
      transactionId: upper(executing),
      withdrawal: upper(withdrawal),
      withdrawalAddressRequest: {
        ...addressRequest,
        recipient: upper(recipient),
        depository: upper(depository),
        withdrawalNonce: '0x2a',
      },
    })
    const proven = facts({ executingTransactionId: executing })
    const one = await attest(plain, proven)
    expect((await attest(spelled, proven)).unsigned.execution).toEqual(one.unsigned.execution)
  })
})

describe('bytes that the allocator did not issue for exactly this request get nothing', () => {
  const bound = { transactionId: executing, withdrawalAddressRequest: addressRequest }
  const selfMade = encodeEvmWithdrawal({
    calls: [{ to: recipient, data: '0x', value: 1000n, allowFailure: false }],
    nonce: 6n,
    expiration: 1n,
  })

  test.each<[string, WithdrawalsRequest, Partial<WithdrawalFacts>, Issued, string, object]>([
    [
      'an expired copy of what was paid, with another nonce',
      request({ withdrawalAddressRequest: addressRequest, withdrawal: selfMade }),
      { status: 'expired' },
      issuedHere,
      'WITHDRAWAL_PAYLOAD_MISMATCH',
      { member: 'nonce' },
    ],
    [
      'an expired one of nobody',
      request({ withdrawalAddressRequest: addressRequest, withdrawal: selfMade }),
      { status: 'expired' },
      {},
      'WITHDRAWAL_NOT_ISSUED',
      { payloadId },
    ],
    [
      'the executed one of another owner',
      request({ ...bound, withdrawalAddressRequest: { ...addressRequest, withdrawer: repeated('98', 20) } }),
      { executingTransactionId: executing },
      issuedHere,
      'WITHDRAWAL_NOT_ISSUED',
      {},
    ],
    [
      'the executed one under another nonce',
      request({ ...bound, withdrawalAddressRequest: { ...addressRequest, withdrawalNonce: '43' } }),
      { executingTransactionId: executing },
      issuedHere,
      'WITHDRAWAL_NOT_ISSUED',
      {},
    ],
    [
      'one of another amount',
      request(bound),
      { executingTransactionId: executing, amount: 1001n },
      issuedHere,
      'WITHDRAWAL_NOT_ISSUED',
      { amount: '1001' },
    ],
    [
      'one that is still pending',
      request({ withdrawalAddressRequest: addressRequest }),
      { status: 'pending' },
      {},
      'WITHDRAWAL_NOT_ISSUED',
      {},
    ],
    [
      'one whose payload nobody can read',
      request(bound),
      { executingTransactionId: executing },
      { [payloadId]: '0x12' },
      'WITHDRAWAL_PAYLOAD_MISMATCH',
      { member: 'payload' },
    ],
  ])('%s', async (_what, body, change, issued, code, data) => {
    await expect(attest(body, facts(change), issued)).rejects.toMatchObject({ code, data })
  })

  test('P-117: without an allocator there is a message and no execution, whatever is asked', async () => {
    const { allocator: _allocator, ...context } = world({
      ethereum: { withdrawals: { [withdrawal]: facts({ executingTransactionId: executing }) } },
    })
    const { unsigned, evidence: seen } = await attestWithdrawal(request(bound), context, options)
    expect(unsigned).not.toHaveProperty('execution')
    expect(unsigned.message.result.status).toBe(1)
    expect(seen).toEqual([evidence('ethereum')])
  })

  test('without a withdrawal address they get the message of their own state', async () => {
    const { unsigned } = await attest(request({ withdrawal: selfMade }), facts({ status: 'expired' }), {})
    expect(unsigned.message.result.status).toBe(2)
    expect(unsigned.execution).toBeUndefined()
  })

  test('P-118: under public keys the keys are the published ones', async () => {
    const scripts = (found: WithdrawalFacts) => ({ ethereum: { withdrawals: { [withdrawal]: found } } })
    const keyOf = async (body: WithdrawalsRequest, found: WithdrawalFacts) => {
      const { allocator, ...rest } = world(scripts(found), {}, issuedHere)
      if (allocator === undefined) throw new Error('no allocator')
      const context = { ...rest, allocator: { ...allocator, keys: 'public' as const } }
      return (await attestWithdrawal(body, context, options)).unsigned.execution?.idempotencyKey
    }
    expect(await keyOf(request(bound), facts({ executingTransactionId: executing }))).toBe(
      '0x253748c408ba9e829df4f67c140fc1f4328dc2ff7d2035cb7a3d03a00bf28f6a',
    )
    expect(await keyOf(request(bound), facts({ status: 'expired' }))).toBe(
      '0xa09e20440f41acb64e2a67ac9aad84fe7de2ca8b79a5ff4065bd97faa57f4690',
    )
  })
})

describe('a transaction that does not execute the withdrawal is refused', () => {
  test.each([
    ['when none was proven', undefined],
    ['when another one was proven', repeated('be', 32)],
  ])('%s', async (_what, executingTransactionId) => {
    const proven = executingTransactionId === undefined ? {} : { executingTransactionId }
    for (const named of [{}, { withdrawalAddressRequest: addressRequest }]) {
      await expect(
        attest(request({ transactionId: executing, ...named }), facts(proven)),
      ).rejects.toMatchObject({
        code: 'TRANSACTION_DOES_NOT_EXECUTE_WITHDRAWAL',
        data: { withdrawalId },
      })
    }
  })
})

describe('a request that does not belong to the withdrawal is refused', () => {
  const attestChanged = (change: object) => {
    const withdrawalAddressRequest = { ...addressRequest, ...change }
    const body = request({ transactionId: executing, withdrawalAddressRequest })
    return attest(body, facts({ executingTransactionId: executing }))
  }

  test.each([
    ['chainId', { chainId: 'base' }],
    ['currency', { currency: usdc }],
    ['recipient', { recipient: withdrawer }],
    ['depository', { depository: otherDepository }],
  ])('when it names another %s', async (member, change) => {
    await expect(attestChanged(change)).rejects.toMatchObject({
      code: 'WITHDRAWAL_REQUEST_MISMATCH',
      data: { withdrawalId, member },
    })
  })

  test.each([
    ['of a foreign depository', { depository: repeated('66', 20) }, 'DEPOSITORY_NOT_CONFIGURED'],
    ['whose owner is on an unknown chain', { withdrawerChainId: 'moon' }, 'UNKNOWN_CHAIN'],
    ['whose owner is no address', { withdrawer: 'me' }, 'INVALID_ADDRESS'],
    ['whose recipient is no address', { recipient: 'me' }, 'INVALID_ADDRESS'],
  ])('%s', async (_what, change, code) => {
    await expect(attestChanged(change)).rejects.toMatchObject({ code })
  })

  test('while the withdrawal is still pending, too', async () => {
    const body = request({ withdrawalAddressRequest: { ...addressRequest, currency: usdc } })
    await expect(attest(body, facts({ status: 'pending' }))).rejects.toMatchObject({
      code: 'WITHDRAWAL_REQUEST_MISMATCH',
    })
  })
})
