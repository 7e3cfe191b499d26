// Goal: fills and refunds are what recipients gained in a transaction that carries the order id. Method: real
// transfers of SOL and both token programs on LiteSVM, with and without memos. @source rules P-108, F-143
import type { Hex } from '@causeway/core'
import { token2022Program } from '@causeway/families/rules'
import {
  createTokenAccount,
  forwardInstruction,
  memo,
  tokenAccount,
  transfer,
  transferChecked,
} from '@causeway/localnet/standIns/solana'
import { Keypair, PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aSignal, proxiesOf, readerOf, type SolanaBed, startSolanaBed } from './solanaSupport/solanaBed.ts'

const orderId: Hex = `0x${'ab'.repeat(32)}`
const sol = '1'.repeat(32)

let bed: SolanaBed
let solver: PublicKey

beforeAll(async () => {
  bed = await startSolanaBed()
  solver = bed.user.publicKey
})
afterAll(() => bed?.stop())

const pay = (lamports: number, toPubkey = bed.recipient) =>
  SystemProgram.transfer({ fromPubkey: solver, toPubkey, lamports })
const payToken = (amount: bigint, owner = bed.recipient) =>
  transfer({
    from: tokenAccount(solver, bed.mint),
    to: tokenAccount(owner, bed.mint),
    authority: solver,
    mint: bed.mint,
    amount,
  })

type Target = { readonly recipient: string; readonly currency: string }

async function paid(instructions: readonly TransactionInstruction[], payments: readonly Target[]) {
  const transactionId = await bed.send(instructions)
  return read(transactionId, payments)
}
function read(transactionId: string, payments: readonly Target[], urls: readonly string[] = [bed.url]) {
  const question = { transactionId, orderId, extraData: '0x' as const, payments }
  return readerOf(bed, { urls }).reader.readPayment(question, aSignal())
}
const target = (currency = sol, recipient = bed.recipient): Target => ({
  recipient: recipient.toBase58(),
  currency,
})
const mintTarget = (owner?: PublicKey) => target(bed.mint.toBase58(), owner)

describe('a payment', () => {
  test('of SOL is what the recipient gained, with the time and block of its transaction', async () => {
    const transactionId = await bed.send([pay(5), memo(orderId)])
    const slot = bed.node.transaction(transactionId)?.slot ?? 0n
    expect(await read(transactionId, [target()])).toEqual({
      kind: 'payment',
      transactionId,
      blockTimestampSeconds: bed.node.block(slot)?.timeSeconds,
      referencesOrder: true,
      transfers: [{ ...target(), amount: 5n }],
      evidence: {
        chainId: 'solana',
        blockHash: bed.node.block(slot)?.hash,
        blockNumber: slot,
        finalityRule: 'commitment finalized',
        agreeingEndpoints: ['e1'],
      },
    })
  })

  test('F-143: of a token is what all accounts of the recipient gained together', async () => {
    const second = await emptyAccount()
    const toSecond = {
      ...payToken(4n),
      keys: payToken(4n).keys.map((key, at) => (at === 1 ? { ...key, pubkey: second } : key)),
    }
    const { transfers } = await paid([payToken(3n), toSecond, memo(orderId)], [mintTarget()])
    expect(transfers).toEqual([{ ...mintTarget(), amount: 7n }])
  })

  test('of a token into an account that the same transaction makes', async () => {
    const owner = Keypair.generate().publicKey
    const creation = createTokenAccount({ payer: solver, owner, mint: bed.mint })
    const { transfers } = await paid([creation, payToken(3n, owner), memo(orderId)], [mintTarget(owner)])
    expect(transfers).toEqual([{ ...mintTarget(owner), amount: 3n }])
  })

  test('of a Token-2022 mint with a fee is what arrived', async () => {
    const [from, to] = [solver, bed.recipient].map((owner) =>
      tokenAccount(owner, bed.feeMint, token2022Program),
    )
    if (from === undefined || to === undefined) throw new Error('no token accounts')
    const sending = {
      from,
      to,
      authority: solver,
      mint: bed.feeMint,
      amount: 1_000n,
      program: token2022Program,
    }
    const feeTarget = target(bed.feeMint.toBase58())
    const { transfers } = await paid([transferChecked(sending), memo(orderId)], [feeTarget])
    expect(transfers).toEqual([{ ...feeTarget, amount: 990n }])
  })

  test('made by a program counts like any other', async () => {
    const { transfers } = await paid([forwardInstruction(bed.forwarder, pay(6)), memo(orderId)], [target()])
    expect(transfers).toEqual([{ ...target(), amount: 6n }])
  })

  test('several recipients and currencies are read at once, each sum once', async () => {
    const other = Keypair.generate().publicKey
    const targets = [target(), mintTarget(), target(sol, other), target()]
    const { transfers } = await paid([pay(1), pay(2_000_000, other), payToken(9n), memo(orderId)], targets)
    expect(transfers).toEqual([
      { ...target(), amount: 1n },
      { ...mintTarget(), amount: 9n },
      { ...target(sol, other), amount: 2_000_000n },
    ])
  })

  test('is nothing for who is not in the transaction, whatever the currency', async () => {
    const absent = Keypair.generate().publicKey
    const { transfers } = await paid([pay(1), memo(orderId)], [target(sol, absent), mintTarget(absent)])
    expect(transfers.map(({ amount }) => amount)).toEqual([0n, 0n])
  })

  test('is nothing, not less, for who lost more than it gained', async () => {
    const { transfers } = await paid(
      [pay(1), payToken(4n), memo(orderId)],
      [target(sol, solver), mintTarget(solver)],
    )
    expect(transfers.map(({ amount }) => amount)).toEqual([0n, 0n])
  })

  test('that comes back within the transaction counts what stayed', async () => {
    const transactionId = await bed.send([pay(5, solver), memo(orderId)])
    expect((await read(transactionId, [target(sol, solver)])).transfers).toMatchObject([{ amount: 0n }])
  })

  test('in one mint is none in another', async () => {
    const { transfers } = await paid([payToken(4n), memo(orderId)], [target(bed.feeMint.toBase58())])
    expect(transfers).toMatchObject([{ amount: 0n }])
  })

  test('has no calls: the family proves none', async () => {
    expect(await paid([pay(1), memo(orderId)], [target()])).not.toHaveProperty('calls')
  })

  test('F-143: to an account with more lamports than JSON holds exactly is refused by name', async () => {
    const rich = Keypair.generate().publicKey
    bed.node.airdrop(rich.toBase58(), 2n ** 54n)
    await expect(paid([pay(5, rich), memo(orderId)], [target(sol, rich)])).rejects.toMatchObject({
      code: 'BALANCE_NOT_EXACT',
      kind: 'invalid_request',
    })
    const { transfers } = await paid([pay(5, rich), pay(6), memo(orderId)], [target()])
    expect(transfers).toMatchObject([{ amount: 6n }])
  })
})

/** A second account of the recipient for the mint, not its associated one. */
async function emptyAccount(): Promise<PublicKey> {
  const holder = Keypair.generate()
  const space = 165
  const creation = SystemProgram.createAccount({
    fromPubkey: solver,
    newAccountPubkey: holder.publicKey,
    space,
    lamports: Number(bed.node.rentExemption(space)),
    programId: new PublicKey(payToken(0n).programId),
  })
  const keys = [holder.publicKey, bed.mint].map((pubkey, at) => ({
    pubkey,
    isSigner: false,
    isWritable: at === 0,
  }))
  const initialise = { ...payToken(0n), keys, data: Buffer.concat([Buffer.of(18), bed.recipient.toBytes()]) }
  await bed.send([creation, initialise], { signers: [bed.user, holder] })
  return holder.publicKey
}

describe('the order is referenced', () => {
  test.each<readonly [string, () => TransactionInstruction]>([
    ['by a memo that is the id', () => memo(orderId)],
    ['by a memo that holds the id among other text', () => memo(`order ${orderId}; thanks`)],
    ['by a memo in upper case', () => memo(`0x${orderId.slice(2).toUpperCase()}`)],
    ['by a memo that a program wrote', () => forwardInstruction(bed.forwarder, memo(orderId))],
  ])('P-40: %s', async (_name, reference) => {
    expect(await paid([pay(1), reference()], [target()])).toMatchObject({ referencesOrder: true })
  })
})

describe('the order is not referenced', () => {
  test.each<readonly [string, () => readonly TransactionInstruction[]]>([
    ['without a memo', () => []],
    ['by a memo of another order', () => [memo(`0x${'ba'.repeat(32)}`)]],
    ['by a memo that lacks the last digit', () => [memo(orderId.slice(0, -1))]],
    ['by the digits alone', () => [memo(orderId.slice(2))]],
    ['by two memos that share it', () => [memo(orderId.slice(0, 30)), memo(orderId.slice(30))]],
    [
      'by the same text in the data of another program',
      () => [{ ...pay(1), data: Buffer.concat([pay(1).data, Buffer.from(orderId)]) }],
    ],
  ])('%s', async (_name, reference) => {
    expect(await paid([pay(1), ...reference()], [target()])).toMatchObject({ referencesOrder: false })
  })
})

describe('is refused', () => {
  test('a failed payment', async () => {
    const transactionId = await bed.send([pay(1), pay(10 ** 14), memo(orderId)], { skipPreflight: true })
    await expect(read(transactionId, [target()])).rejects.toMatchObject({ code: 'TRANSACTION_REVERTED' })
  })

  test('F-4: a payment that is confirmed and not final, until it is', async () => {
    bed.node.hold()
    const transactionId = await bed.send([pay(1), memo(orderId)])
    await expect(read(transactionId, [target()])).rejects.toMatchObject({
      code: 'TRANSACTION_NOT_FINAL',
      retryAfterSeconds: 1,
    })
    bed.node.finalize()
    expect(await read(transactionId, [target()])).toMatchObject({ transfers: [{ amount: 1n }] })
  })

  test('a payment on a fork that lost', async () => {
    bed.node.hold()
    const transactionId = await bed.send([pay(1), memo(orderId)])
    bed.node.drop()
    await expect(read(transactionId, [target()])).rejects.toMatchObject({ code: 'TRANSACTION_MISSING' })
  })

  test('a payment whose time nobody knows: it cannot be held against a deadline', async () => {
    const transactionId = await bed.send([pay(1), memo(orderId)])
    const slot = bed.node.transaction(transactionId)?.slot ?? 0n
    bed.node.forgetTime(slot)
    await expect(read(transactionId, [target()])).rejects.toMatchObject({ kind: 'upstream_unavailable' })
  })

  test('a payment whose time two answers of one endpoint tell differently', async () => {
    const transactionId = await bed.send([pay(1), memo(orderId)])
    const [proxy] = await proxiesOf(bed, 1)
    await proxy?.set({
      kind: 'lie',
      rewrite: ({ method }, result) => (method === 'getBlock' ? { ...Object(result), blockTime: 1 } : result),
    })
    await expect(read(transactionId, [target()], [proxy?.url ?? ''])).rejects.toMatchObject({
      kind: 'upstream_unavailable',
    })
  })

  test.each(['0xaa', 'O'.repeat(44), '1'.repeat(31)])('a recipient spelled %o', async (recipient) => {
    const transactionId = await bed.send([pay(1), memo(orderId)])
    await expect(read(transactionId, [{ recipient, currency: sol }])).rejects.toMatchObject({
      kind: 'invalid_request',
    })
  })
})
