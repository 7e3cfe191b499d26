// Rules that lack one check each, as the code was before it had them. No service runs by them: a test plays a known
// attack by them and sees that the invariants notice.
import type { Hex, PaymentFacts } from '@causeway/core'
import type { EthereumFactsReader } from '../../packages/chains/src/index.ts'
import type { Chain } from './chain/chain.ts'
import { type Rules, shippedRules } from './rules.ts'

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

type Judgement = (facts: PaymentFacts, chain: Chain, orderId: Hex) => Promise<Partial<PaymentFacts>>

/** The shipped reader, with another judgement of what a transaction pays. */
function judgingBy(judge: Judgement): Rules['readerOf'] {
  return (shipped: EthereumFactsReader, chain) => ({
    ...shipped,
    async readPayment(question, options) {
      const facts = await shipped.readPayment(question, options)
      return { ...facts, ...(await judge(facts, chain, question.orderId)), evidence: facts.evidence }
    },
  })
}

/** Every `Transfer` to the recipient counts, whoever paid it and whatever left him again. */
export const anyTransferPays: Rules = {
  ...shippedRules,
  readerOf: judgingBy(async ({ transfers, transactionId }, chain) => ({
    transfers: transfers.map(({ recipient, currency }) => ({
      ...{ recipient, currency },
      amount: receivedGross(chain, transactionId, { recipient, currency }),
    })),
  })),
}

function receivedGross(
  chain: Chain,
  transactionId: string,
  { recipient, currency }: { readonly recipient: string; readonly currency: string },
): bigint {
  const receipt = chain.receiptOf(`0x${transactionId.slice(2)}`)
  return (receipt?.logs ?? []).reduce((sum, { address, topics: [topic, , to], data }) => {
    const isPaid = topic === transferTopic && address.toLowerCase() === currency
    return isPaid && to?.endsWith(recipient.slice(2)) ? sum + BigInt(data) : sum
  }, 0n)
}

/** A transaction names every order whose id stands anywhere in its calldata. */
export const everyIdCounts: Rules = {
  ...shippedRules,
  readerOf: judgingBy(async ({ transactionId }, chain, orderId) => {
    const answer = await chain.ask({ method: 'eth_getTransactionByHash', params: [transactionId] })
    return { referencesOrder: answer.ok && JSON.stringify(answer.result).includes(orderId.slice(2)) }
  }),
}

/** The bytes that a caller hands in are believed: nobody asks the allocator what it issued. */
export const bytesAreBelieved: Rules = {
  ...shippedRules,
  allocatorOf: (shipped, request) => ({
    keys: 'public',
    async readIssued(question, options) {
      const { evidence } = await shipped.readIssued(question, options)
      const isByBytes = 'withdrawal' in request && typeof request.withdrawal === 'string'
      return { evidence, payload: isByBytes ? `0x${String(request.withdrawal).slice(2)}` : undefined }
    },
  }),
}

/** What the newest block of the hub shows is enough for a leave that outlives it. */
export const newestBalanceCounts: Rules = {
  ...shippedRules,
  balancesOf: ({ balanceOf }) => ({
    balanceOf,
    finalBalanceOf: async (...asked) => ({ balance: await balanceOf(...asked), waitSeconds: 1 }),
  }),
}

/** The allocator builds a payload for a nonce as often as it is asked to. */
export const nonceIsNoLimit: Rules = { ...shippedRules, oneRequestPerNonce: false }

/** A payment settles every deposit of its order: no oracle remembers which one it settled. */
export const paymentsSettleAll: Rules = { ...shippedRules, settledOf: () => ({ admit: () => true }) }
