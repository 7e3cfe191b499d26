// Goal: nobody settles an order on Solana with money that the signers did not give for good, nor two orders with
// one payment. Method: each theft is run on LiteSVM, and the reader asked as the rules ask it.
import type { Hex } from '@causeway/core'
import { type SolanaWithdrawal, solanaWithdrawalId } from '@causeway/families/rules'
import {
  createTokenAccount,
  executeTransfer,
  memo,
  mintTo,
  tokenAccount,
  transfer,
} from '@causeway/localnet/standIns/solana'
import { Keypair, type PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aSignal, readerOf, type SolanaBed, startSolanaBed } from './solanaSupport/solanaBed.ts'

const orderId: Hex = `0x${'ab'.repeat(32)}`
const another: Hex = `0x${'cd'.repeat(32)}`
const sol = '1'.repeat(32)
const enough = 900n

let bed: SolanaBed
/** Signs; the bed's user is a stranger to it who lets it spend. */
const thief = Keypair.generate()
const second = Keypair.generate().publicKey
let stranger: PublicKey

beforeAll(async () => {
  bed = await startSolanaBed()
  stranger = bed.user.publicKey
  const { mint } = bed
  bed.node.airdrop(thief.publicKey.toBase58(), 10n ** 10n)
  await bed.send([
    createTokenAccount({ payer: stranger, owner: thief.publicKey, mint }),
    createTokenAccount({ payer: stranger, owner: second, mint }),
    send(stranger, thief.publicKey, stranger, 100_000n),
    // An instruction that anyone it names may send: a claim, an airdrop, a standing order.
    new TransactionInstruction({
      programId: send(stranger, stranger, stranger, 0n).programId,
      keys: [
        { pubkey: tokenAccount(stranger, mint), isSigner: false, isWritable: true },
        { pubkey: thief.publicKey, isSigner: false, isWritable: false },
        { pubkey: stranger, isSigner: true, isWritable: false },
      ],
      data: Buffer.from('04ffffffffffffff7f', 'hex'),
    }),
  ])
})
afterAll(() => bed?.stop())

function send(from: PublicKey, to: PublicKey, authority: PublicKey, amount = enough) {
  const { mint } = bed
  return transfer({ from: tokenAccount(from, mint), to: tokenAccount(to, mint), authority, mint, amount })
}
const claim = (to: PublicKey) => send(stranger, to, thief.publicKey)
const own = (to: PublicKey, amount = enough) => send(thief.publicKey, to, thief.publicKey, amount)

type Read = {
  readonly currency?: string
  readonly recipient?: PublicKey
  readonly fillPayers?: readonly string[]
}

async function paid(instructions: readonly TransactionInstruction[], asked: Read = {}) {
  const { currency = bed.mint.toBase58(), recipient = bed.recipient, fillPayers } = asked
  const transactionId = await bed.send([...instructions, memo(orderId)], { signers: [thief] })
  const payments = [{ recipient: recipient.toBase58(), currency }]
  const { reader } = readerOf(bed, { ...(fillPayers && { fillPayers }) })
  const facts = await reader.readPayment({ transactionId, orderId, extraData: '0x', payments }, aSignal())
  expect(facts.referencesOrder).toBe(true)
  return facts.transfers[0]
}

describe('a thief', () => {
  test('who takes a stranger’s money to the recipient pays nothing', async () => {
    expect(await paid([claim(bed.recipient)])).toMatchObject({ amount: 0n, fromOthers: enough })
  })

  test('P-108: pays nothing beside it by moving as much to an account of his own', async () => {
    expect(await paid([claim(bed.recipient), own(second)])).toMatchObject({ amount: 0n, fromOthers: enough })
    expect(await paid([claim(bed.recipient), own(second, 5n * enough)])).toMatchObject({ amount: 0n })
  })

  test('pays nothing with coin that is made for the recipient', async () => {
    const { mint } = bed
    const made = mintTo({ mint, to: tokenAccount(bed.recipient, mint), authority: stranger, amount: enough })
    const transactionId = await bed.send([made, own(second), memo(orderId)], { signers: [thief, bed.user] })
    const payments = [{ recipient: bed.recipient.toBase58(), currency: mint.toBase58() }]
    const question = { transactionId, orderId, extraData: '0x' as const, payments }
    expect((await readerOf(bed).reader.readPayment(question, aSignal())).transfers).toMatchObject([
      { amount: 0n },
    ])
  })

  test('who hands in a withdrawal of the allocator pays nothing', async () => {
    const request: SolanaWithdrawal = {
      domain: `0x${'01'.repeat(32)}`,
      recipient: bed.recipient.toBase58(),
      token: undefined,
      amount: 1_000_000n,
      nonce: 1n,
      expiration: 2n ** 40n,
      vaultAddress: bed.depository.addresses.vault,
    }
    const withdrawalId = solanaWithdrawalId(request)
    const payout = executeTransfer(bed.depository, { executor: thief.publicKey, request, withdrawalId })
    expect(await paid([payout], { currency: sol })).toMatchObject({ amount: 0n })
  })

  test('pays nothing with what comes back', async () => {
    const back = send(stranger, thief.publicKey, thief.publicKey)
    expect(await paid([own(stranger), back], { recipient: stranger })).toMatchObject({ amount: 0n })
  })

  test('who is the recipient pays nothing', async () => {
    const toHimself = [own(thief.publicKey), claim(thief.publicKey)]
    expect(await paid(toHimself, { recipient: thief.publicKey })).toMatchObject({ amount: 0n })
  })
})

describe('the solver’s side', () => {
  test('is whoever signs: several recipients and third parties are paid beside each other', async () => {
    const tokens = await paid([own(bed.recipient), own(second, 7n)])
    expect([tokens?.amount, tokens?.fromOthers]).toEqual([enough, undefined])
    const lamports = { fromPubkey: thief.publicKey, lamports: 1_000_000 }
    const coins = [bed.recipient, second].map((toPubkey) => SystemProgram.transfer({ ...lamports, toPubkey }))
    const paidCoins = await paid(coins, { currency: sol })
    expect([paidCoins?.amount, paidCoins?.fromOthers]).toEqual([1_000_000n, undefined])
  })

  test('is a payer that the chain file lists', async () => {
    const fillPayers = [stranger.toBase58()]
    expect(await paid([claim(bed.recipient)], { fillPayers })).toMatchObject({ amount: enough })
  })

  test('P-108: is never the vault, listed or not', async () => {
    const request: SolanaWithdrawal = {
      domain: `0x${'01'.repeat(32)}`,
      recipient: bed.recipient.toBase58(),
      token: undefined,
      amount: 1_000_000n,
      nonce: 2n,
      expiration: 2n ** 40n,
      vaultAddress: bed.depository.addresses.vault,
    }
    const withdrawalId = solanaWithdrawalId(request)
    const payout = executeTransfer(bed.depository, { executor: thief.publicKey, request, withdrawalId })
    const fillPayers = [bed.depository.addresses.vault]
    expect(await paid([payout], { currency: sol, fillPayers })).toMatchObject({ amount: 0n })
  })
})

describe('a transaction that names two orders names none:', () => {
  const overlapping = `0x${'ab'.repeat(31)}a0x${'cd'.repeat(32)}`
  test.each<readonly [string, readonly string[]]>([
    ['one memo with two ids', [`${orderId} ${another}`]],
    ['one memo where the second begins in the last digit of the first', [overlapping]],
    ['two memos', [orderId, another]],
    ['two memos in other letters', [orderId.toUpperCase().replace('0X', '0x'), another]],
  ])('%s', async (_name, texts) => {
    const pay = SystemProgram.transfer({
      fromPubkey: thief.publicKey,
      toPubkey: bed.recipient,
      lamports: 900,
    })
    const transactionId = await bed.send([pay, ...texts.map((text) => memo(text))], { signers: [thief] })
    const payments = [{ recipient: bed.recipient.toBase58(), currency: sol }]
    const { reader } = readerOf(bed)
    for (const id of [orderId, another, `0x${'ab'.repeat(31)}a0` as Hex]) {
      const question = { transactionId, orderId: id, extraData: '0x' as const, payments }
      expect(await reader.readPayment(question, aSignal())).toMatchObject({ referencesOrder: false })
    }
  })

  test('one id twice is one', async () => {
    const transactionId = await bed.send([memo(orderId), memo(`again ${orderId}`)], { signers: [thief] })
    const question = { transactionId, orderId, extraData: '0x' as const, payments: [] }
    expect(await readerOf(bed).reader.readPayment(question, aSignal())).toMatchObject({
      referencesOrder: true,
    })
  })
})
