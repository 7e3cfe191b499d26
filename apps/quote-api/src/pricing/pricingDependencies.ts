import type { DenyList } from '@causeway/chains'
import type { DomainError, MaybePromise } from '@causeway/core'
import type { QuoteCeilings } from '@causeway/core/config'
import type { FeeFunds, Holding, InputLock, SpendableOutput } from '@causeway/families/rules'
import type { Clock, MarketSnapshot } from '@causeway/market'
import { type AnswersOf, defineQuestions, type QuestionWords } from './answers.ts'
import type { TryFill } from './execution/destinationCalls.ts'
import type { Schedule } from './fees/feeTerms.ts'
import type { OnChainQuoter } from './legs/poolLegQuoter.ts'
import type { FindLiquidity } from './market/externalLiquidity.ts'
import type { InventoryView } from './market/inventoryView.ts'
import type { Spending } from './openQuotes/openAllowances.ts'
import type { OpenRewards } from './openQuotes/openRewards.ts'
import type { QuoteRegistry } from './registry.ts'
import { type PayeePorts, payeeWords } from './routes/mayBePaid.ts'

/** Questions that pricing asks of others. Each port answers at once what it has in memory. */
export type PricingQuestions = PayeePorts & {
  /** Never rejects and never takes longer than its own budget. */
  readonly userFacts: (question: {
    readonly chainId: number
    readonly user: string
    readonly currency: string
    readonly spender: string | undefined
    readonly touched: readonly Holding[]
  }) => MaybePromise<UserFacts>
  /** Tries fills of orders with calls on their destination. */
  readonly tryFill: TryFill
  readonly quoteOnChain: OnChainQuoter
  /** Absent: there is no external liquidity. */
  readonly findLiquidity?: FindLiquidity | undefined
}

export type PricingAnswers = AnswersOf<PricingQuestions>

/** Words that tell questions of pricing apart. */
export const questionWords: QuestionWords<PricingQuestions> = {
  ...payeeWords,
  userFacts: ({ chainId, user, currency, spender, touched }) => [
    chainId,
    user,
    currency,
    spender,
    ...touched.map((holding) => `${holding.account} ${holding.currency}`),
  ],
  // The calls are those of the request, or none.
  tryFill: ({ delivery: { recipient, calls }, amount }) => [recipient, calls.length, amount],
  quoteOnChain: ({ chainId, pool, zeroForOne, trade, amount }) => {
    const { token0, token1, feePips } = pool
    return [chainId, token0, token1, feePips, zeroForOne, trade, amount]
  },
  findLiquidity: ({ currency: { chainId, address }, amount }) => [chainId, address, amount],
}

export const withPricingAnswers = defineQuestions(questionWords)

/** Dependencies of pricing. All are ports: the composition of the service passes the real ones. */
export type PricingDependencies = PricingQuestions & {
  readonly registry: QuoteRegistry
  readonly schedule: Schedule
  readonly swapImpactMaxBps: number
  readonly ceilings: QuoteCeilings
  readonly snapshot: () => MarketSnapshot
  readonly inventoryView: (snapshot: MarketSnapshot) => InventoryView
  readonly openRewards: OpenRewards
  /** Recent reaction time of solvers on a route in milliseconds, from memory; `undefined` after too few fills. */
  readonly reactionMsOf: (originChainId: number, destinationChainId: number) => number | undefined
  /** Absent: nobody is denied. `priceRequest` does not ask it: its callers do so first, by `refuseDeniedRequest`. */
  readonly denyList?: DenyList | undefined
  /**
   * Absent: no chain is ever stopped.
   * @param paidOn where a solver would pay; undefined where none does
   * @throws QuoteError CHAIN_STOPPED
   */
  readonly refuseStopped?: (origin: number, paidOn: number | undefined) => void
  /**
   * Counts this quote's spending of an allowance. Absent: it is not counted, as for a mere price.
   * @returns what other open quotes may still take of the allowance that the route spends
   */
  readonly openSpending?: ((spending: Spending) => bigint) | undefined
  readonly clock: Clock
}

/** Facts of a user from his chain; members are undefined when it did not answer in time. */
export type UserFacts = {
  readonly balance?: bigint
  /** Amount of the input currency that the asked spender may take. */
  readonly allowance?: bigint
  /** Balances of the asked `touched` holdings, in their order. */
  readonly held?: readonly (bigint | undefined)[]
  /** Unspent outputs, in families without balances. */
  readonly spendable?: readonly SpendableOutput[]
  /** Native coin of the account that pays the network, in families where a user may have none. */
  readonly feeFunds?: FeeFunds
  /** Reason that the user cannot pay the input that he holds. */
  readonly inputLock?: InputLock
  /** Error that refuses the request, because endpoints cannot read this user's account at all. */
  readonly refusal?: DomainError
}
