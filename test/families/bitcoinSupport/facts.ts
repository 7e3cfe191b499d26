import { type BitcoinApi, ConstructedChain, startBitcoinNode } from '@causeway/localnet/standIns/bitcoin'
import { openBitcoinChain } from '../../../packages/families/src/bitcoin/reading/openBitcoinChain.ts'
import { everyAnswer, type FactsFixture } from '../../readerSupport/factsCase.ts'
import { chainOf, depositoryKey, funding, native, orderId, paying, saying, user } from './bitcoinBed.ts'
import { executed, psbtOf, type Spendable, withdrawalOf } from './withdrawals.ts'

export const source = funding({ script: user.witness.script, value: 9_000n })
export const deposit = paying(
  [{ txid: source.getId(), vout: 0 }],
  [
    { script: depositoryKey.legacy.script, value: 5_000n },
    saying(orderId),
    { script: user.legacy.script, value: 70n },
  ],
)
const inputs: readonly Spendable[] = [{ from: deposit, vout: 0, key: depositoryKey, kind: 'legacy' }]
export const psbt = psbtOf({ inputs })
export const withdrawing = executed(psbt, inputs)

/** The deposit and the withdrawal in blocks of their own, final; `gap` moves them to other blocks. */
export function chainWith(gap = 0): ConstructedChain {
  const chain = new ConstructedChain()
  chain.mineEmpty(gap)
  for (const transaction of [source, deposit, withdrawing]) chain.mine(transaction)
  chain.mineEmpty(4)
  return chain
}

const requests = {
  node: { deposit: [2, 2], payment: [2, 2], withdrawal: [2, 2] },
  esplora: { deposit: [8, 9], payment: [8, 9], withdrawal: [10, 10] },
} as const

/** One API of a chain. What is lied about is in which blocks transactions are: all else is hashed. */
export async function startBitcoinFacts(api: BitcoinApi): Promise<FactsFixture> {
  const chain = chainWith()
  const transactionId = deposit.getId()
  const nodes = await Promise.all([0, 1, 2, 3].map((gap) => startBitcoinNode(chainWith(gap))))
  const urlAt = (gap: number) => nodes[gap]?.url(api) ?? ''
  const empty = await startBitcoinNode(emptyChain(chain.tipHeight))
  const block = chain.blockAt(2)
  const payments = [{ recipient: user.legacy.address, currency: native }]
  return {
    url: urlAt(0),
    open(urls, { threshold: rpcThreshold, finalEntriesMax = 0 }) {
      const change = rpcThreshold === undefined ? {} : { rpcThreshold }
      return openBitcoinChain(chainOf({ api, urls, change }), { finalEntriesMax })
    },
    deposit: {
      transactionId,
      spelled: [transactionId.toUpperCase()],
      facts: { deposits: [{ amount: 5_000n, depositId: orderId }] },
      evidence: {
        chainId: 'bitcoin',
        blockHash: block?.hash,
        blockNumber: 2n,
        finalityRule: '3 confirmations',
      },
    },
    ids: {
      unknown: 'ee'.repeat(32),
      invalid: ['', 'ab', `0x${'ab'.repeat(32)}`, 'zz'.repeat(32)],
    },
    questions: {
      deposit: {
        ask: (reader, options) => reader.readDeposits({ transactionId }, options),
        lie: (digit) => everyAnswer({ to: urlAt(digit) }),
        requests: requests[api].deposit,
      },
      payment: {
        ask: (reader, options) =>
          reader.readPayment({ transactionId, orderId, extraData: '0x', payments }, options),
        requests: requests[api].payment,
      },
      withdrawal: {
        ask: (reader, options) =>
          reader.readWithdrawal(
            { withdrawal: withdrawalOf(psbt), transactionId: withdrawing.getId() },
            options,
          ),
        requests: requests[api].withdrawal,
      },
    },
    lose: everyAnswer({ to: empty.url(api) }),
    lostByTwo: 'TRANSACTION_MISSING',
    async newestFinal() {
      const height = chain.tipHeight - 2
      return { number: BigInt(height), hash: chain.blockAt(height)?.hash }
    },
    async stop() {
      await Promise.all([...nodes, empty].map((node) => node.stop()))
    },
  }
}

function emptyChain(height: number): ConstructedChain {
  const chain = new ConstructedChain()
  chain.mineEmpty(height)
  return chain
}
