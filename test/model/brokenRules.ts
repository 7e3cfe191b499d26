// Rules that lack one check each, as the code was before it had them. No service runs by them: a test plays a known
// attack by them and sees that the invariants notice.
import type { Hex, PaymentFacts } from '@causeway/core'
import type { EthereumFactsReader } from '@causeway/families'
import { createOpenRewards } from '../../apps/quote-api/src/pricing/openQuotes/openRewards.ts'
import { bookedFor } from '../../apps/quote-api/src/requests/settlement/amounts/depositShare.ts'
import type { Chain } from './chain/chain.ts'
import { coinAddress } from './network.ts'
import { type Rules, shippedRules } from './rules.ts'

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

type Judgement = (facts: PaymentFacts, chain: Chain, orderId: Hex) => Promise<PaymentFacts>

/** The shipped reader, with another judgement of what a transaction pays. */
function judgingBy(judge: Judgement): Rules['readerOf'] {
  return (shipped: EthereumFactsReader, chain) => ({
    ...shipped,
    async readPayment(question, options) {
      const facts = await shipped.readPayment(question, options)
      return { ...(await judge(facts, chain, question.orderId)), evidence: facts.evidence }
    },
  })
}

/** Every `Transfer` to the recipient counts, whoever paid it and whatever left him again. */
export const anyTransferPays: Rules = {
  ...shippedRules,
  readerOf: judgingBy(async ({ recordProblem: _, recordId: __, ...facts }, chain) => grossOf(facts, chain)),
}

const grossOf = (facts: PaymentFacts, chain: Chain): PaymentFacts => ({
  ...facts,
  transfers: facts.transfers.map(({ recipient, currency }) => ({
    recipient,
    currency,
    amount: receivedGross(chain, facts.transactionId, { recipient, currency }),
  })),
})

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

/** A record may pay anything beside the order, in any number of entries. */
export const recordsPayAnything: Rules = {
  ...shippedRules,
  readerOf: judgingBy(async ({ recordProblem, ...facts }, chain) => {
    if (recordProblem === undefined) return facts
    return recordProblem === 'other_payments' ? grossOf(facts, chain) : { ...facts, recordProblem }
  }),
}

/** Coin that was sent to an account counts, whatever its code does with it. */
export const codeKeepsCoin: Rules = {
  ...shippedRules,
  readerOf: judgingBy(async (facts, chain) => {
    const receipt = chain.receiptOf(`0x${facts.transactionId.slice(2)}`)
    return {
      ...facts,
      transfers: facts.transfers.map((transfer) => {
        const isSent = transfer.currency === coinAddress && receipt?.to === transfer.recipient
        return isSent ? { ...transfer, amount: receipt.value } : transfer
      }),
    }
  }),
}

/** A transaction names every order whose id stands anywhere in its calldata. */
export const everyIdCounts: Rules = {
  ...shippedRules,
  readerOf: judgingBy(async (facts, chain, orderId) => {
    const params = [facts.transactionId]
    const answer = await chain.ask({ method: 'eth_getTransactionByHash', params })
    return {
      ...facts,
      referencesOrder: answer.ok && JSON.stringify(answer.result).includes(orderId.slice(2)),
    }
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

/** Broken rule: the newest hub block, not a final one, suffices for a permission that outlives it. */
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

/** A deposit is paid and books what was quoted, however little it is. */
export const quotesAreBooked: Rules = {
  ...shippedRules,
  paidFor: ({ expectedAmount }) => BigInt(expectedAmount),
  bookedFor: (terms, _deposited) => bookedFor(terms, terms.feeBasis),
}

/** App fees alone are those of the quote. */
export const quotedFeesAccrue: Rules = {
  ...shippedRules,
  bookedFor: (terms, deposited) => ({
    ...bookedFor(terms, deposited),
    appFees: bookedFor(terms, terms.feeBasis).appFees,
  }),
}

/** A sponsor pays what was quoted, however little was deposited. */
export const quotedDebitIsOwed: Rules = {
  ...shippedRules,
  bookedFor: (terms, deposited) => ({
    ...bookedFor(terms, deposited),
    debitMicroUsd: bookedFor(terms, terms.feeBasis).debitMicroUsd,
  }),
}

/** Quotes know nothing of each other's rewards. */
export const rewardsAreForAll: Rules = {
  ...shippedRules,
  rewardsOf: (settings) => ({
    ...createOpenRewards(settings),
    limitOf: () => ({ rewardOf: (costUsd) => costUsd }),
  }),
}

/** The payer sends coin and tokens plainly, which nobody attests for accounts with code. */
export const paysPlainly: Rules = { ...shippedRules, paysBy: 'transfer' }

/** The payer signs without a trial. */
export const signsUntried: Rules = {
  ...shippedRules,
  tryTransaction: async () => ({ kind: 'succeeds', gas: 100_000n }),
}

/** The payer never waits for attestations. */
export const paysWithoutLimit: Rules = { ...shippedRules, fullLimit: () => undefined }
