// Goal: what happened on Solana is read alike in transactions of every version that the cluster runs, and one of a later
// version is told by its name. Method: the library that writes version 1 signs it, the real runtime runs it.
// @source SIMD-0385, SIMD-0296

import type { Hex } from '@causeway/core'
import { encodeSolanaWithdrawal, type SolanaWithdrawal, solanaWithdrawalId } from '@causeway/families/rules'
import {
  depositNative,
  depositToken,
  executeTransfer,
  forwardInstruction,
  memo,
  solanaBodies,
  tokenAccount,
  transfer,
  transferNative,
} from '@causeway/localnet/standIns/solana'
import { ComputeBudgetProgram, Keypair, PublicKey } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  aSignal,
  proxiesOf,
  readerOf,
  type SolanaBed,
  settlingOf,
  startSolanaBed,
} from './solanaSupport/solanaBed.ts'

const id: Hex = `0x${'ab'.repeat(32)}`
const sol = '1'.repeat(32)
const versions = [0, 1] as const
const signal = () => AbortSignal.timeout(30_000)

let bed: SolanaBed
beforeAll(async () => {
  bed = await startSolanaBed()
})
afterAll(() => bed?.stop())

const user = () => bed.user.publicKey
const deposit = (amount = 7n) => depositNative(bed.depository, { sender: user(), amount, id })
const tokenDeposit = (amount: bigint) =>
  depositToken(bed.depository, { sender: user(), mint: bed.mint, amount, id })
const vault = () => new PublicKey(bed.depository.addresses.vault)
const tokensTo = (owner: PublicKey, amount: bigint) =>
  transfer({
    from: tokenAccount(user(), bed.mint),
    to: tokenAccount(owner, bed.mint),
    authority: user(),
    mint: bed.mint,
    amount,
  })
type Instructions = Parameters<SolanaBed['send']>[0]

/** Everything but its place and its id. */
const anywhere = ({ evidence: _evidence, transactionId: _id, blockTimestampSeconds: _at, ...facts }: Facts) =>
  facts
type Facts = {
  readonly evidence: unknown
  readonly transactionId: string
  readonly blockTimestampSeconds: bigint
}

describe('F-1: version 1 has the facts of version 0', () => {
  test.each<[string, () => Instructions]>([
    ['a deposit of SOL', () => [deposit()]],
    [
      'deposits called by a program and directly, SOL and a token',
      () => [forwardInstruction(bed.forwarder, deposit()), tokenDeposit(5n)],
    ],
    [
      'a plain transfer of SOL into the vault',
      () => [transferNative({ from: user(), to: bed.depository.addresses.vault, amount: 9n })],
    ],
    ['a plain transfer of a token into the vault', () => [tokensTo(vault(), 9n)]],
    ['no deposit', () => [memo('hello')]],
  ])('of %s', async (_what, instructions) => {
    const { reader } = readerOf(bed)
    const [zero, one] = await Promise.all(
      versions.map(async (version) => {
        const transactionId = await bed.send(instructions(), { version })
        return anywhere(await reader.readDeposits({ transactionId }, aSignal()))
      }),
    )
    expect(one).toEqual(zero)
  })

  test.each<[string, () => Instructions]>([
    [
      'SOL and a token to one recipient',
      () => [
        transferNative({ from: user(), to: bed.recipient.toBase58(), amount: 5n }),
        tokensTo(bed.recipient, 6n),
        memo(id),
      ],
    ],
    ['another order', () => [tokensTo(bed.recipient, 6n), memo(`0x${'cd'.repeat(32)}`)]],
    ['nobody', () => [memo(id)]],
  ])('of a payment of %s', async (_what, instructions) => {
    const { reader } = readerOf(bed)
    const recipient = bed.recipient.toBase58()
    const payments = [sol, bed.mint.toBase58()].map((currency) => ({ recipient, currency }))
    const [zero, one] = await Promise.all(
      versions.map(async (version) => {
        const transactionId = await bed.send(instructions(), { version })
        const question = { transactionId, orderId: id, extraData: '0x' as const, payments }
        return anywhere(await reader.readPayment(question, aSignal()))
      }),
    )
    expect(one).toEqual(zero)
  })

  test('of the execution of a withdrawal', async () => {
    const request: SolanaWithdrawal = {
      domain: `0x${'01'.repeat(32)}`,
      recipient: bed.recipient.toBase58(),
      token: undefined,
      amount: 9n,
      nonce: 1n,
      expiration: 2n ** 40n,
      vaultAddress: bed.depository.addresses.vault,
    }
    const run = { executor: user(), request, withdrawalId: solanaWithdrawalId(request) }
    const transactionId = await bed.send([executeTransfer(bed.depository, run)], { version: 1 })
    const question = { withdrawal: encodeSolanaWithdrawal(request), transactionId }
    expect(await readerOf(bed).reader.readWithdrawal(question, aSignal())).toMatchObject({
      status: 'executed',
      executingTransactionId: transactionId,
    })
  })

  test('of who paid a deposit address, and of deposits that settlement finds', async () => {
    const payer = Keypair.generate()
    const address = Keypair.generate().publicKey.toBase58()
    bed.node.airdrop(payer.publicKey.toBase58(), 10n ** 9n)
    await bed.send([transferNative({ from: payer.publicKey, to: address, amount: 1_000_000n })], {
      signers: [payer],
      version: 1,
    })
    const chain = settlingOf(bed)
    const question = { currencies: [{ address: sol }], height: bed.node.slot('confirmed') }
    expect(await chain.addresses?.payers?.(address, question, signal())).toEqual([payer.publicKey.toBase58()])
    const known = bed.node.slot('confirmed')
    const sent = [await bed.send([deposit()], { version: 1 }), await bed.send([deposit()])]
    const to = await chain.head(signal())
    expect((await chain.depositPass({ from: known + 1n, to, known }, signal())).transactions).toEqual(sent)
    expect((await chain.deposits(sent[0] ?? '', signal()))?.deposits).toMatchObject([{ amount: 7n }])
    expect(await chain.feePaid?.(sent[0] ?? '', signal())).toBe(5_000n)
  })

  test('of more bytes than any earlier version may have, with config values in the place of instructions', async () => {
    const limit = ComputeBudgetProgram.setComputeUnitLimit({ units: 1 })
    const config = {
      computeUnitLimit: 300_000,
      priorityFeeLamports: 7_777n,
      heapSize: 64 * 1024,
      loadedAccountsDataSizeLimit: 2 ** 24,
    }
    const payer = Keypair.generate()
    bed.node.airdrop(payer.publicKey.toBase58(), 10n ** 9n)
    const long = memo('x'.repeat(2_000))
    const transactionId = await bed.send([long, limit, deposit()], {
      version: 1,
      config,
      signers: [payer, bed.user],
    })
    const { deposits } = await readerOf(bed).reader.readDeposits({ transactionId }, aSignal())
    expect(deposits).toMatchObject([{ onchainIndex: '2', amount: 7n, depositor: user().toBase58() }])
    // A total, whatever the limit of units; an instruction of the compute budget changes nothing.
    expect(await bed.connection.getBalance(payer.publicKey)).toBe(10 ** 9 - 10_000 - 7_777)
  })
})

describe('F-3: a version that is newer than what is read', () => {
  const depositAs = async (version: number) => {
    const transactionId = await bed.send([deposit()])
    bed.node.showAs(transactionId, version)
    return transactionId
  }
  const refusal = { code: 'TRANSACTION_UNREADABLE', kind: 'invalid_request' }
  const read = (transactionId: string, urls?: readonly string[]) =>
    readerOf(bed, { ...(urls && { urls }), limits: { finalEntriesMax: 0 } }).reader.readDeposits(
      { transactionId },
      aSignal(),
    )

  test.each([2, 127])('%i is refused by name', async (version) => {
    const transactionId = await depositAs(version)
    await expect(read(transactionId)).rejects.toMatchObject({ ...refusal, data: { transactionId } })
  })

  test('is refused where an endpoint shows it all the same', async () => {
    const [proxy] = await proxiesOf(bed, 1)
    const transactionId = await bed.send([deposit()])
    await proxy?.set({
      kind: 'lie',
      rewrite: ({ method }, result) =>
        method === 'getTransaction' ? { ...Object(result), version: 127 } : result,
    })
    await expect(read(transactionId, [proxy?.url ?? ''])).rejects.toMatchObject(refusal)
  })

  test('is what enough endpoints say: one alone keeps nothing from being read', async () => {
    const proxies = await proxiesOf(bed, 3)
    const urls = proxies.map(({ url }) => url)
    const transactionId = await bed.send([deposit()])
    const { code, message } = solanaBodies.nodeErrors.body.unsupportedVersion
    await proxies[0]?.set({ kind: 'nodeError', code, message })
    expect((await read(transactionId, urls)).deposits).toMatchObject([{ amount: 7n }])
    await proxies[1]?.set({ kind: 'nodeError', code, message })
    await expect(read(transactionId, urls)).rejects.toMatchObject(refusal)
  })

  test('proves no payment, and keeps a withdrawal from being told only where it has to prove its execution', async () => {
    const transactionId = await depositAs(127)
    const payments = [{ recipient: bed.recipient.toBase58(), currency: sol }]
    const question = { transactionId, orderId: id, extraData: '0x' as const, payments }
    const chain = settlingOf(bed)
    expect(await chain.payment(question, signal())).toEqual({ state: 'missing' })
    expect(await chain.finalPayment(question, signal())).toBeUndefined()
    const request: SolanaWithdrawal = {
      domain: `0x${'01'.repeat(32)}`,
      recipient: bed.recipient.toBase58(),
      token: undefined,
      amount: 9n,
      nonce: 2n,
      expiration: 2n ** 40n,
      vaultAddress: bed.depository.addresses.vault,
    }
    const { reader } = readerOf(bed)
    const withdrawal = encodeSolanaWithdrawal(request)
    const seen = () => reader.readWithdrawal({ withdrawal, transactionId }, aSignal())
    expect(await seen()).toMatchObject({ status: 'pending' })
    const run = { executor: user(), request, withdrawalId: solanaWithdrawalId(request) }
    await bed.send([executeTransfer(bed.depository, run)])
    await expect(seen()).rejects.toMatchObject(refusal)
  })

  test('F-6: keeps no other deposit of its range from being found and read', async () => {
    const chain = settlingOf(bed)
    const known = bed.node.slot('confirmed')
    const unreadable = await depositAs(127)
    const honest = await bed.send([deposit(8n)])
    const to = await chain.head(signal())
    const pass = await chain.depositPass({ from: known + 1n, to, known }, signal())
    expect(pass.transactions).toEqual([unreadable, honest])
    await expect(chain.deposits(unreadable, signal())).rejects.toMatchObject(refusal)
    expect((await chain.deposits(honest, signal()))?.deposits).toMatchObject([{ amount: 8n }])
  })

  test('F-5: hides who paid a deposit address, and is never taken for nobody', async () => {
    const [payer, hidden] = [Keypair.generate(), Keypair.generate()]
    const address = Keypair.generate().publicKey.toBase58()
    const pay = async (from: Keypair, more: Instructions = []) => {
      bed.node.airdrop(from.publicKey.toBase58(), 10n ** 9n)
      const coin = transferNative({ from: from.publicKey, to: address, amount: 1_000_000n })
      return bed.send([coin, ...more], { signers: [from] })
    }
    const question = () => ({ currencies: [{ address: sol }], height: bed.node.slot('confirmed') })
    const payers = () => settlingOf(bed).addresses?.payers?.(address, question(), signal())
    const first = await pay(hidden)
    await pay(payer)
    expect(await payers()).toEqual([payer, hidden].map(({ publicKey }) => publicKey.toBase58()).sort())
    bed.node.showAs(first, 127)
    expect(await payers()).toBeUndefined()
    bed.node.showAs(first, 0)
    // A memo that another program writes, longer than what is read.
    await pay(hidden, [forwardInstruction(bed.forwarder, memo('x'.repeat(800)))])
    expect(await payers()).toBeUndefined()
  })
})
