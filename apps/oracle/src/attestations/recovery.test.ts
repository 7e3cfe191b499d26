// The way back of a deposit, rules P-84, P-85 and P-123, as attacks on it: an owner who was filled gains by
// every one that goes through, at the cost of the solver; a stranger gains nothing, the money is the
// depositor's.
import {
  depositsExecutionKey,
  encodeTransferAction,
  hubAlias,
  hubTokenId,
  onchainId,
  orderAddress,
} from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { describe, expect, test } from 'vitest'
import {
  orderB,
  orderBId,
  orderBSignature,
  repeated,
  solanaOwner,
  solanaUsdc,
} from '../../../../packages/core/test/vectors/orders.ts'
import { signedOrder } from '../../test/fixtures/requests.ts'
import {
  blockTime,
  depositB,
  depositFacts,
  depositor,
  depositTransaction,
  evidence,
  hubTime,
  nativeCurrency,
  onchainIdB,
  orderAddressB,
  type Promises,
  promised,
  recoveryDelay,
  type Script,
  world,
} from '../../test/fixtures/world.ts'
import { requestedWithdrawalsExample } from '../wire/requestExamples.ts'
import { recoveryRequestSchema } from '../wire/requests.ts'
import { attestRecovery } from './recovery.ts'

const options = { signal: new AbortController().signal }
const ethereum = { chainId: 'ethereum', ...mainNetwork('ethereum-vm') } as const
const amount = depositB.amount

const token = hubTokenId(ethereum, nativeCurrency)
const script: Script = { deposits: { [depositTransaction]: depositFacts([depositB]) } }

const body = (change: object = {}) =>
  recoveryRequestSchema.parse({
    chainId: 'ethereum',
    transactionId: depositTransaction,
    onchainId: onchainIdB,
    order: orderB,
    orderSignature: orderBSignature,
    ...change,
  })

type Situation = { readonly promises?: Promises; readonly balance?: bigint; readonly ethereum?: Script }

function recover(change: object = {}, situation: Situation = {}) {
  const { promises = promised(), balance = amount } = situation
  const context = world(
    { ethereum: situation.ethereum ?? script },
    { [orderAddressB]: balance },
    {},
    promises,
  )
  return attestRecovery(body(change), context, options)
}

describe('a deposit that its solver promised not to use', () => {
  const back = encodeTransferAction({
    hubFrom: orderAddressB,
    hubTo: hubAlias(ethereum, depositor),
    hubTokenId: token,
    amount,
  })

  test('goes to the balance of its depositor, whoever asks, under its one key', async () => {
    const { unsigned, evidence, isFinal } = await recover()
    expect(unsigned.execution).toEqual({
      idempotencyKey: '0x1fc799e73956f4cdd10f83ad6b7b1babf9a40adab02f412f1f6da60a05d96e10',
      actions: [back],
      signatures: [],
    })
    expect(evidence.map(({ chainId }) => chainId)).toEqual(['ethereum', 'relay-recovery'])
    expect(isFinal).toBe(false)
    expect((await recover({ onchainId: `0x${onchainIdB.slice(2).toUpperCase()}` })).unsigned).toEqual(
      unsigned,
    )
  })

  test('is the only one of its transaction that goes back', async () => {
    const other = { ...depositB, onchainIndex: '8', amount: 5n }
    const stranger = { ...depositB, onchainIndex: '9', depositId: repeated('99', 32), amount: 7n }
    const facts = depositFacts([other, stranger, depositB])
    const both = { ethereum: { deposits: { [depositTransaction]: facts } }, balance: amount + 5n }
    expect((await recover({}, both)).unsigned.execution.actions).toEqual([back])
    const otherId = onchainId({ chainId: 'ethereum', transactionId: depositTransaction, onchainIndex: '8' })
    const { execution } = (await recover({ onchainId: otherId }, both)).unsigned
    expect(execution.actions).toEqual([
      encodeTransferAction({
        hubFrom: orderAddressB,
        hubTo: hubAlias(ethereum, depositor),
        hubTokenId: token,
        amount: 5n,
      }),
    ])
    expect(execution.idempotencyKey).not.toBe((await recover({}, both)).unsigned.execution.idempotencyKey)
    const strangerId = onchainId({
      chainId: 'ethereum',
      transactionId: depositTransaction,
      onchainIndex: '9',
    })
    await expect(recover({ onchainId: strangerId }, both)).rejects.toMatchObject({
      code: 'DEPOSIT_ORDER_MISMATCH',
      data: { depositId: repeated('99', 32), orderId: orderBId },
    })
  })

  test('goes to an account of its own family', async () => {
    const solana = { chainId: 'solana', ...mainNetwork('solana-vm') } as const
    const transactionId = requestedWithdrawalsExample.transactionId
    const made = { ...depositB, onchainIndex: '0', depositor: solanaOwner, currency: solanaUsdc, amount: 3n }
    const facts = depositFacts([made], { transactionId, evidence: evidence('solana') })
    const account = orderAddress(solana, {
      depositor: solanaOwner,
      timestampSeconds: blockTime,
      depositId: orderBId,
    })
    const context = world(
      { solana: { deposits: { [transactionId]: facts } } },
      { [account]: 3n },
      {},
      promised(),
    )
    const id = onchainId({ chainId: 'solana', transactionId, onchainIndex: '0' })
    const asked = body({ chainId: 'solana', transactionId, onchainId: id })
    const { execution } = (await attestRecovery(asked, context, options)).unsigned
    const money = { hubTokenId: hubTokenId(solana, solanaUsdc), amount: 3n }
    const hubTo = hubAlias(solana, solanaOwner)
    expect(execution.actions).toEqual([encodeTransferAction({ hubFrom: account, hubTo, ...money })])
  })

  test('goes back whatever is held beside it', async () => {
    expect((await recover({}, { balance: amount + 1n })).unsigned.execution.actions).toEqual([back])
  })

  test('P-85: goes back as far as a settled deposit of its account has left it', async () => {
    const money = { hubFrom: orderAddressB, hubTo: hubAlias(ethereum, depositor), hubTokenId: token }
    const { execution } = (await recover({}, { balance: 1n })).unsigned
    expect(execution.actions).toEqual([encodeTransferAction({ ...money, amount: 1n })])
  })
})

describe('nothing goes back', () => {
  test.each<[string, Promises]>([
    ['without a promise, however old the deposit is', {}],
    ['by the promise of another solver', promised({ solver: repeated('77', 20) })],
    ["by the promise of the solver's name on another chain", promised({ solverChainId: 'ethereum' })],
    ['by the promise for another order', promised({ orderId: repeated('22', 32) })],
    ['by an entry that says something else', promised({}, { data: '0x00' })],
    ['by an entry that says more', promised({}, { data: '0x0101' })],
  ])('%s', async (_why, promises) => {
    await expect(recover({}, { promises })).rejects.toMatchObject({ code: 'NO_FILL_PROMISE_MISSING' })
  })

  test.each<[string, object, string]>([
    [
      'without the order, as the public protocol gives it after a week',
      { order: undefined },
      'MISSING_ORDER',
    ],
    ["without the order's signature", { orderSignature: undefined }, 'MISSING_ORDER'],
    ['for an order that its solver did not sign', { orderSignature: '0x12' }, 'INVALID_ORDER_SIGNATURE'],
    [
      'under an id that the transaction does not have',
      { onchainId: repeated('22', 32) },
      'DEPOSIT_NOT_FOUND',
    ],
    ['from a transaction that is missing', { transactionId: repeated('ab', 32) }, 'TRANSACTION_MISSING'],
    ['on a chain that nobody knows', { chainId: 'unheard' }, 'UNKNOWN_CHAIN'],
  ])('%s', async (_why, change, code) => {
    await expect(recover(change)).rejects.toMatchObject({ code })
  })

  test("for an order of the owner's own making, whose solver he is", async () => {
    // He can sign it and promise for it, but the deposit names the order that was filled.
    const forged = await signedOrder({ ...orderB, salt: '2' })
    const { order, orderSignature } = forged
    const promises = promised({ orderId: forged.id })
    await expect(recover({ order, orderSignature }, { promises })).rejects.toMatchObject({
      code: 'DEPOSIT_ORDER_MISMATCH',
    })
  })

  test('of a deposit without order: it is its depositor has it', async () => {
    const plain = depositFacts([{ ...depositB, depositId: repeated('00', 32) }])
    await expect(
      recover({}, { ethereum: { deposits: { [depositTransaction]: plain } } }),
    ).rejects.toMatchObject({ code: 'DEPOSIT_WITHOUT_ORDER' })
  })

  test('of a deposit that was settled, or was recovered before', async () => {
    await expect(recover({}, { balance: 0n })).rejects.toMatchObject({
      code: 'DEPOSIT_NOT_HELD',
      data: { balance: '0', amount: amount.toString() },
    })
  })

  test('P-85: of a deposit that is not on the hub yet, whatever else its account holds', async () => {
    const unminted = new Set([
      depositsExecutionKey({ chainId: 'ethereum', transactionId: depositTransaction }),
    ])
    for (const balance of [0n, amount - 1n, amount]) {
      const balances = { [orderAddressB]: balance }
      const context = world({ ethereum: script }, balances, {}, promised(), balances, unminted)
      await expect(attestRecovery(body(), context, options)).rejects.toMatchObject({
        code: 'DEPOSIT_NOT_HELD',
      })
    }
  })

  test('where the hub file names no mapping', async () => {
    const { recovery: _recovery, ...context } = world({ ethereum: script }, { [orderAddressB]: amount })
    await expect(attestRecovery(body(), context, options)).rejects.toMatchObject({
      code: 'GENERIC_MAPPING_NOT_CONFIGURED',
    })
  })
})

describe('a solver whose key is stolen has time to settle what it filled', () => {
  const justOpen = hubTime - recoveryDelay
  const old = (seconds: bigint): Situation => {
    const facts = depositFacts([depositB], { blockTimestampSeconds: seconds })
    return { ethereum: { deposits: { [depositTransaction]: facts } } }
  }
  const heldSince = (seconds: bigint) =>
    orderAddress(ethereum, { depositor, timestampSeconds: seconds, depositId: orderBId })

  test('P-123: a promise counts when it has stood for the delay, and not a second before', async () => {
    const at = (entrySeconds: bigint) => ({ promises: promised({}, { entrySeconds }) })
    await expect(recover({}, at(justOpen))).resolves.toBeDefined()
    await expect(recover({}, at(justOpen + 1n))).rejects.toMatchObject({
      code: 'RECOVERY_TOO_EARLY',
      kind: 'not_final',
      retryAfterSeconds: 1,
      data: { opensAt: (hubTime + 1n).toString() },
    })
    await expect(recover({}, at(hubTime))).rejects.toMatchObject({ retryAfterSeconds: Number(recoveryDelay) })
  })

  test('a promise of long before the deposit opens nothing sooner', async () => {
    const promises = promised({}, { entrySeconds: 1n })
    const recoverHeld = (seconds: bigint) =>
      attestRecovery(
        body(),
        world({ ethereum: old(seconds).ethereum ?? {} }, { [heldSince(seconds)]: amount }, {}, promises),
        options,
      )
    await expect(recoverHeld(justOpen)).resolves.toBeDefined()
    await expect(recoverHeld(justOpen + 1n)).rejects.toMatchObject({ code: 'RECOVERY_TOO_EARLY' })
  })
})
