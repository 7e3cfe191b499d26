import type { Hex } from '@causeway/core'
import { encodeDepositNative, encodeEvmWithdrawal, encodeTransfer } from '@causeway/families/rules'
import { concatHex } from 'viem'
import { expect } from 'vitest'
import { changing, type FactsFixture } from '../../readerSupport/factsCase.ts'
import { word } from '../ethereumSupport/logEmitter.ts'
import { accountOf, openReader, startTronBed, trx } from './tronBed.ts'

const id: Hex = `0x${'ab'.repeat(32)}`
const recipient = accountOf('61')

/** A chain with a deposit event, a transfer with an id, a payment and no withdrawal. */
export async function startTronFacts(): Promise<FactsFixture> {
  const bed = await startTronBed()
  const { depository, tokens } = bed.evm.deployment
  const trigger = (to: Hex, data: Hex, callValue = 0n) =>
    bed.ledger.submit(bed.user, { kind: 'trigger', to, data, callValue })
  const { transactionId } = await trigger(depository, encodeDepositNative(recipient.bytes, id), 7n)
  const blockNumber = await bed.evm.chain.client.getBlockNumber()
  const direct = await trigger(tokens.USDC, concatHex([encodeTransfer(depository, 9n), id]))
  const payment = await bed.ledger.submit(bed.user, { kind: 'transfer', to: recipient.bytes, amount: 5n }, id)
  await bed.evm.mine(4)
  const call = { to: recipient.bytes, data: '0x', value: 1n, allowFailure: false } as const
  const withdrawal = encodeEvmWithdrawal({ calls: [call], nonce: 1n, expiration: 4_000_000_000n })
  const facade = await bed.startFacade({ isStill: true })
  return {
    url: facade.url,
    open(urls, { limits, finalEntriesMax = 0, ...options }) {
      const quorumLimits = { requestTimeoutMs: 10_000, readingTimeoutMs: 20_000, patienceMs: 10, ...limits }
      const opened = openReader(bed, { urls, quorumLimits, limits: { finalEntriesMax }, ...options })
      return { reader: opened.reader, close: () => opened.quorum.close() }
    },
    deposit: {
      transactionId,
      spelled: ['', '0x'].map((prefix) => prefix + transactionId.toUpperCase()),
      facts: { deposits: [{ amount: 7n, depositId: id, depositor: recipient.base58 }] },
      evidence: {
        chainId: 'tron',
        blockHash: expect.stringMatching(new RegExp(`^0x${blockNumber.toString(16).padStart(16, '0')}`)),
        blockNumber,
        finalityRule: 'solidified',
      },
    },
    ids: {
      unknown: '77'.repeat(32),
      invalid: ['', '0xab', `0X${'ab'.repeat(32)}`, 'zz'.repeat(32), `${'ab'.repeat(32)}0`],
    },
    questions: {
      deposit: {
        ask: (reader, options) => reader.readDeposits({ transactionId }, options),
        lie: (digit) => () => ({ change: (text) => text.replaceAll(word(7n), word(7n + BigInt(digit))) }),
        requests: [5, 6],
      },
      direct: {
        ask: (reader, options) => reader.readDeposits(direct, options),
        requests: [6, 7],
      },
      payment: {
        ask: (reader, options) =>
          reader.readPayment(
            {
              ...payment,
              orderId: id,
              extraData: '0x',
              payments: [{ recipient: recipient.base58, currency: trx }],
            },
            options,
          ),
        requests: [6, 7],
      },
      withdrawal: {
        ask: (reader, options) => reader.readWithdrawal({ withdrawal, transactionId }, options),
        requests: [5, 5],
      },
      'withdrawal that nobody names': {
        ask: (reader, options) => reader.readWithdrawal({ withdrawal }, options),
        requests: [4, 4],
      },
    },
    lose: changing(
      (path) => path.includes('info'),
      () => ({}),
    ),
    lostByTwo: 'UPSTREAM_DISAGREEMENT',
    async newestFinal() {
      const number = (await bed.evm.chain.client.getBlockNumber()) - 2n
      return { number, hash: expect.stringMatching(/^0x[0-9a-f]{64}$/) }
    },
    async stop() {
      await facade.stop()
      await bed.stop()
    },
  }
}
