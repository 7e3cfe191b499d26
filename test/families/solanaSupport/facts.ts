import type { Hex } from '@causeway/core'
import { encodeSolanaWithdrawal } from '@causeway/families/rules'
import {
  depositNative,
  forwardInstruction,
  memo,
  tokenAccount,
  transfer,
} from '@causeway/localnet/standIns/solana'
import { PublicKey, SystemProgram } from '@solana/web3.js'
import { changing, type FactsFixture, set } from '../../readerSupport/factsCase.ts'
import { openReader, startSolanaBed } from './solanaBed.ts'

const id: Hex = `0x${'ab'.repeat(32)}`
/** Hashes of blocks that nobody made. */
const otherHashes = [
  'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  '7EaP2zkxDLo86x4rnNwwLhB593PsbMva41dqfrfxhsb1',
  'So11111111111111111111111111111111111111112',
] as const

/** A cluster with two deposits in one transaction, a plain transfer, a payment and no withdrawal. */
export async function startSolanaFacts(): Promise<FactsFixture> {
  const bed = await startSolanaBed()
  const { depository, forwarder, mint, node, recipient, user } = bed
  const sender = user.publicKey
  const inner = depositNative(depository, { sender, amount: 7n, id })
  const transactionId = await bed.send([forwardInstruction(forwarder, inner), inner])
  const vault = new PublicKey(depository.addresses.vault)
  const [from, to, paidTo] = [sender, vault, recipient].map((owner) => tokenAccount(owner, mint))
  if (from === undefined || to === undefined || paidTo === undefined) throw new Error('no token accounts')
  const sending = { from, authority: sender, mint }
  const direct = await bed.send([transfer({ ...sending, to, amount: 9n })])
  const paying = SystemProgram.transfer({ fromPubkey: sender, toPubkey: recipient, lamports: 5 })
  const payment = await bed.send([paying, transfer({ ...sending, to: paidTo, amount: 6n }), memo(id)])
  const payments = ['1'.repeat(32), mint.toBase58()].map((currency) => ({
    recipient: recipient.toBase58(),
    currency,
  }))
  const withdrawal = encodeSolanaWithdrawal({
    domain: `0x${'01'.repeat(32)}`,
    recipient: recipient.toBase58(),
    token: undefined,
    amount: 1n,
    nonce: 1n,
    expiration: 2n ** 40n,
    vaultAddress: depository.addresses.vault,
  })
  const slot = node.transaction(transactionId)?.slot ?? 0n
  return {
    url: bed.url,
    open(urls, { limits, finalEntriesMax = 0, ...options }) {
      const quorumLimits = { requestTimeoutMs: 10_000, readingTimeoutMs: 20_000, ...limits }
      const opened = openReader(bed, { urls, quorumLimits, limits: { finalEntriesMax }, ...options })
      return { reader: opened.reader, close: () => opened.quorum.close() }
    },
    deposit: {
      transactionId,
      spelled: [],
      facts: { deposits: [{ amount: 7n, depositId: id }, { amount: 7n }] },
      evidence: {
        chainId: 'solana',
        blockHash: node.block(slot)?.hash,
        blockNumber: slot,
        finalityRule: 'commitment finalized',
      },
    },
    ids: {
      unknown: '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW',
      invalid: ['', '0xaa', '1'.repeat(63), `${'1'.repeat(64)}0`, 'O'.repeat(88)],
    },
    questions: {
      deposit: {
        ask: (reader, options) => reader.readDeposits({ transactionId }, options),
        lie: (digit) => changing((method) => method === 'getBlock', set('blockhash', otherHashes[digit - 1])),
      },
      direct: { ask: (reader, options) => reader.readDeposits({ transactionId: direct }, options) },
      payment: {
        ask: (reader, options) =>
          reader.readPayment({ transactionId: payment, orderId: id, extraData: '0x', payments }, options),
      },
      withdrawal: {
        ask: (reader, options) => reader.readWithdrawal({ withdrawal, transactionId }, options),
      },
    },
    lose: changing(
      (method) => ['getTransaction', 'getSignatureStatuses'].includes(method),
      (answer) => ('value' in Object(answer) ? { ...Object(answer), value: [null] } : null),
    ),
    lostByTwo: 'TRANSACTION_MISSING',
    async newestFinal() {
      const number = node.slot('finalized')
      return { number, hash: node.block(number)?.hash }
    },
    stop: () => bed.stop(),
  }
}
