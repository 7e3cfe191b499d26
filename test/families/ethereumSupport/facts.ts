import type { Hex } from '@causeway/core'
import { encodeDepositNative, encodeEvmWithdrawal, encodeTransfer } from '@causeway/families/rules'
import { concatHex } from 'viem'
import { changing, type FactsFixture } from '../../readerSupport/factsCase.ts'
import { openReader, startChainBed } from './chainBed.ts'
import { word } from './logEmitter.ts'

const id: Hex = `0x${'ab'.repeat(32)}`
const recipient: Hex = `0x${'61'.repeat(20)}`
const native = `0x${'00'.repeat(20)}`

/** A node with a deposit event, a transfer with an id, a payment and no withdrawal. */
export async function startEthereumFacts(): Promise<FactsFixture> {
  const bed = await startChainBed()
  const [user] = bed.network.keys.users
  if (user === undefined) throw new Error('no user')
  const { depository, tokens } = bed.deployment
  const deposit = await bed.send(user, depository, encodeDepositNative(recipient, id), 7n)
  const { transactionId } = deposit
  const direct = await bed.send(user, tokens.USDC, concatHex([encodeTransfer(depository, 9n), id]))
  const payment = await bed.send(user, recipient, id, 5n)
  await bed.mine(4)
  const call = { to: recipient, data: '0x', value: 1n, allowFailure: false } as const
  const withdrawal = encodeEvmWithdrawal({ calls: [call], nonce: 1n, expiration: 4_000_000_000n })
  const { hash: blockHash } = await bed.chain.client.getBlock({ blockNumber: deposit.blockNumber })
  return {
    url: bed.url,
    open(urls, { limits, finalEntriesMax = 0, ...options }) {
      const quorumLimits = { requestTimeoutMs: 10_000, readingTimeoutMs: 20_000, ...limits }
      const opened = openReader(bed, { urls, quorumLimits, limits: { finalEntriesMax }, ...options })
      return { reader: opened.reader, close: () => opened.quorum.close() }
    },
    deposit: {
      transactionId,
      spelled: [`0x${transactionId.slice(2).toUpperCase()}`],
      facts: { deposits: [{ amount: 7n, depositId: id }] },
      evidence: { chainId: 'base', blockHash, blockNumber: deposit.blockNumber, finalityRule: '2 blocks' },
    },
    ids: { unknown: `0x${'77'.repeat(32)}`, invalid: ['0xab', ''] },
    questions: {
      deposit: {
        ask: (reader, options) => reader.readDeposits({ transactionId }, options),
        lie: (digit) => (_asked) => ({
          change: (text) => text.replaceAll(word(7n), word(7n + BigInt(digit))),
        }),
      },
      direct: { ask: (reader, options) => reader.readDeposits(direct, options) },
      payment: {
        ask: (reader, options) =>
          reader.readPayment(
            { ...payment, orderId: id, extraData: '0x', payments: [{ recipient, currency: native }] },
            options,
          ),
      },
      withdrawal: {
        ask: (reader, options) => reader.readWithdrawal({ withdrawal, transactionId }, options),
      },
    },
    lose: changing(
      (method) => method === 'eth_getTransactionReceipt',
      () => null,
    ),
    lostByTwo: 'UPSTREAM_DISAGREEMENT',
    async newestFinal() {
      const head = await bed.chain.client.getBlock()
      const { number, hash } = await bed.chain.client.getBlock({ blockNumber: head.number - 2n })
      return { number, hash }
    },
    stop: () => bed.stop(),
  }
}
