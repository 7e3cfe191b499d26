// Goal: answers of real nodes are read as they are meant. Method: recorded bodies of `getTransaction`, each
// with its source; their signatures prove that they are what the cluster was sent.
import { describe, expect, test } from 'vitest'
import { sumTransfers } from '../../packages/families/src/solana/reading/payments.ts'
import { seeTransaction } from '../../packages/families/src/solana/reading/readTransaction.ts'
import type { SolanaTransaction } from '../../packages/families/src/solana/reading/transaction.ts'
import { recordedTransactions } from './solanaSupport/storedBodies.ts'

const depository = '99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2'
const usdc = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const sol = '1'.repeat(32)
const signerOf =
  ({ signers }: SolanaTransaction) =>
  (account: string) =>
    signers.includes(account)

async function read(start: string, change: (text: string) => string = (text) => text) {
  const found = recordedTransactions.find(({ transactionId }) => transactionId.startsWith(start))
  if (found === undefined) throw new Error(`no body of ${start}`)
  const { transactionId } = found
  const answer = { ok: true as const, result: JSON.parse(change(found.body)) }
  const transaction = await seeTransaction(answer, { transactionId, depository })
  if (typeof transaction === 'string') throw new Error(`the body is ${transaction}`)
  return transaction
}

describe('a recorded transaction', () => {
  test('with a lookup table and inner instructions names every account', async () => {
    const transaction = await read('2aoW')
    expect(transaction.slot).toBe(334_182_963n)
    expect(transaction.blockTimeSeconds).toBe(1_744_942_223n)
    expect(transaction.instructions.map(({ program }) => program)).toEqual([
      'ComputeBudget111111111111111111111111111111',
      'ComputeBudget111111111111111111111111111111',
      'E4CKSsnjU9WXzrBJpNXnFi4gbb1kmLuavwZHd35TLeHs',
      'BuuP1rJXnVs5GHSPoUxLqeQzV4nBXQ7RFAJ7j4rt6jEk',
      'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
      'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
      sol,
    ])
    const targets = [
      { recipient: '3RY3ngufsn1aPSWE46Ga7sX5pZi2KPCvZG5uGS6TFLZJ', currency: sol },
      { recipient: '3CznQLcJWpyNKrYyq7qCvZsHn19csgB8g5wvisx4us47', currency: usdc },
      { recipient: '41fkvu8LhJDqkF325GTz6HuQRvZmCXVtYoYWPZeVCdux', currency: usdc },
    ]
    // A pool paid them.
    const facts = sumTransfers(transaction, targets, signerOf(transaction))
    expect(facts.map(({ amount, fromOthers = 0n }) => amount + fromOthers)).toEqual([
      2_460_497n,
      4_608_152_451n,
      0n,
    ])
  })

  test('of an old node, without versions and token programs, is read', async () => {
    const currency = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU'
    const recipient = '91t4uSdtBiftqsB24W2fRXFCXjUyc6xY3WMGFedAaTHh'
    const transaction = await read('5ZrG')
    expect(sumTransfers(transaction, [{ recipient, currency }], signerOf(transaction))).toMatchObject([
      { amount: 200_000n },
    ])
  })

  test('of an account with more lamports than JSON holds exactly pays others, and is not asked itself', async () => {
    const transaction = await read('5U2Y')
    const payer = '9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g'
    const recipient = 'Hzn3n914JaSpnxo5mBbmuCDmGL6mxWN9Ac2HzEXFSGtb'
    expect(sumTransfers(transaction, [{ recipient, currency: sol }], signerOf(transaction))).toMatchObject([
      { amount: 1_000_000_000n },
    ])
    const asked = [{ recipient: payer, currency: sol }]
    expect(() => sumTransfers(transaction, asked, signerOf(transaction))).toThrow(/too large/)
  })

  test.each(
    recordedTransactions.map(({ transactionId, network }) => [transactionId.slice(0, 4), network] as const),
  )('%s of %s with one character changed is none', async (start) => {
    const forged = (text: string) =>
      text.replace(
        /("transaction": ?\["[^"]{200})([^"])/,
        (_all, before: string, one: string) => `${before}${one === 'B' ? 'C' : 'B'}`,
      )
    const found = recordedTransactions.find(({ transactionId }) => transactionId.startsWith(start))
    expect(forged(found?.body ?? '')).not.toBe(found?.body)
    await expect(read(start, forged)).rejects.toMatchObject({ kind: 'upstream_unavailable' })
  })
})
