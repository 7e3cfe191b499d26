// Withdrawals that an owner requested, over the allocator's own bytes: version 2 of the withdrawals route.
import {
  encodeBurnAction,
  encodeTransferAction,
  type Hex,
  hubAlias,
  hubTokenId,
  type OwnerRequest,
  type WithdrawalFacts,
  withdrawalAddress,
  withdrawalKey,
  withdrawRequestPayloadId,
} from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { encodeEvmWithdrawal, withdrawRequestOf } from '@causeway/families/rules'
import { describe, expect, test } from 'vitest'
import { repeated } from '../../../../packages/core/test/vectors/orders.ts'
import { options, owner, ownerRequest, signatureOf } from '../../test/fixtures/withdrawing.ts'
import {
  depository,
  evidence,
  nativeCurrency,
  otherDepository,
  usdc,
  world,
} from '../../test/fixtures/world.ts'
import { requestedWithdrawalsRequestSchema } from '../wire/requests.ts'
import { attestRequestedWithdrawal } from './requestedWithdrawals.ts'

const recipient = repeated('22', 20)
const executing = repeated('bb', 32)
const unsigned: OwnerRequest = { ...ownerRequest, amount: '1000' }
const payload = encodeEvmWithdrawal({
  calls: [{ to: recipient, data: '0x', value: 1000n, allowFailure: false }],
  nonce: 5n,
  expiration: 1_800_000_000n,
})
const ethereum = { chainId: 'ethereum', ...mainNetwork('ethereum-vm'), hubChainId: '1' } as const
const ownerAlias = hubAlias({ chainId: 'base', ...mainNetwork('ethereum-vm') }, owner)

function payloadIdAt(place: string): Hex {
  const money = { depository: place, currency: nativeCurrency, amount: 1000n, recipient }
  return withdrawRequestPayloadId(
    withdrawRequestOf(ethereum, payload, { ...money, spender: ownerAlias, nonce: 42n }),
  )
}

async function attested(found: Partial<WithdrawalFacts>, change: object = {}, issuedAt = depository) {
  const ownerSignature = await signatureOf(unsigned)
  const request = requestedWithdrawalsRequestSchema.parse({ ...unsigned, ownerSignature, ...change })
  const facts: WithdrawalFacts = {
    kind: 'withdrawal',
    withdrawalId: repeated('42', 32),
    depository,
    status: 'executed',
    currency: nativeCurrency,
    amount: 1000n,
    recipient,
    evidence: evidence('ethereum'),
    ...found,
  }
  const scripts = { ethereum: { withdrawals: { [payload]: facts } }, base: {} }
  const context = world(scripts, {}, { [payloadIdAt(issuedAt)]: payload })
  return attestRequestedWithdrawal(request, context, options)
}

const attest = async (...asked: Parameters<typeof attested>) => (await attested(...asked)).unsigned

const hubFrom = withdrawalAddress(ethereum, {
  depository,
  currency: nativeCurrency,
  recipient,
  ownerAlias,
  nonce: 42n,
})
const moved = { hubFrom, hubTokenId: hubTokenId(ethereum, nativeCurrency), amount: 1000n }
const idempotencyKey = withdrawalKey({ hubId: 'relay', payloadId: payloadIdAt(depository) })

describe('a withdrawal that its owner asked for', () => {
  test('is burned once the transaction that executed it is named', async () => {
    const actions = [encodeBurnAction(moved)]
    const named = { transactionId: executing }
    expect(await attest({ executingTransactionId: executing }, named)).toEqual({
      status: 1,
      execution: { idempotencyKey, actions, signatures: [] },
    })
    expect(await attest({})).toStrictEqual({ status: 1 })
  })

  test('is given back when it expired, under the same key', async () => {
    const actions = [encodeTransferAction({ ...moved, hubTo: ownerAlias })]
    expect(await attest({ status: 'expired' })).toEqual({
      status: 2,
      execution: { idempotencyKey, actions, signatures: [] },
    })
  })

  test('is pending with its reason, and pending while nothing is issued', async () => {
    const waiting = { status: 'pending', pendingReason: 'ACTION_CAN_BE_SENT_AGAIN' } as const
    expect(await attest(waiting)).toEqual({ status: 0, pendingReason: 'ACTION_CAN_BE_SENT_AGAIN' })
    expect(await attest({ status: 'expired' }, {}, otherDepository)).toEqual({ status: 0 })
  })

  test.each<[WithdrawalFacts['status'], string, boolean]>([
    ['executed', depository, true],
    ['expired', depository, true],
    ['pending', depository, false],
    ['expired', otherDepository, false],
  ])('is kept once nothing can change it: %s, issued for %s', async (status, issuedAt, isFinal) => {
    expect((await attested({ status }, {}, issuedAt)).isFinal).toBe(isFinal)
  })

  test('rests on the allocator, and on its own chain as soon as something was issued', async () => {
    const chainsOf = async (issuedAt: string) =>
      (await attested({}, {}, issuedAt)).evidence.map(({ chainId }) => chainId)
    expect(await chainsOf(depository)).toEqual(['relay-allocator', 'ethereum'])
    expect(await chainsOf(otherDepository)).toEqual(['relay-allocator'])
  })

  test.each<[string, Partial<WithdrawalFacts>]>([
    ['amount', { amount: 999n }],
    ['currency', { currency: usdc }],
    ['recipient', { recipient: repeated('23', 20) }],
  ])('gets nothing when the allocator issued another %s', async (member, change) => {
    await expect(attest({ status: 'expired', ...change })).rejects.toMatchObject({
      code: 'WITHDRAWAL_PAYLOAD_MISMATCH',
      data: { member },
    })
  })

  test('P-113: from another depository than the reader looked at is never called expired', async () => {
    const elsewhere = attest({ status: 'expired' }, { depository: otherDepository }, otherDepository)
    await expect(elsewhere).rejects.toMatchObject({
      code: 'WITHDRAWAL_PAYLOAD_MISMATCH',
      data: { member: 'depository' },
    })
  })

  test('needs an allocator, and the signature of its owner', async () => {
    const { allocator: _allocator, ...without } = world({})
    const ownerSignature = await signatureOf(unsigned)
    const request = requestedWithdrawalsRequestSchema.parse({ ...unsigned, ownerSignature })
    await expect(attestRequestedWithdrawal(request, without, options)).rejects.toMatchObject({
      code: 'ALLOCATOR_NOT_CONFIGURED',
    })
    await expect(attest({}, { amount: '1001' })).rejects.toMatchObject({ code: 'INVALID_OWNER_SIGNATURE' })
  })

  test('is not burned under another transaction', async () => {
    await expect(attest({}, { transactionId: executing })).rejects.toMatchObject({
      code: 'TRANSACTION_DOES_NOT_EXECUTE_WITHDRAWAL',
    })
  })
})
