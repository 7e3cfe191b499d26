import { refuseUnsupportedExecution } from '../../pricing/execution/executionMode.ts'
import { skewOf } from '../../pricing/fees/skew.ts'
import type { HeldReward } from '../../pricing/openQuotes/openRewards.ts'
import { noReward, type RewardLimit } from '../../pricing/openQuotes/rewardLimit.ts'
import { rewardedMove } from '../../pricing/pricedRoute.ts'
import { type PricedRequest, priceRequest, rewardsFor } from '../../pricing/priceRequest.ts'
import { promisedBy } from '../../pricing/promisedPayout.ts'
import type { QuoteRequest } from '../../pricing/request.ts'
import { refuseDeniedRequest } from '../../pricing/routes/deniedParties.ts'
import { lateInclusionSeconds } from '../timings.ts'
import { draftQuote, type Quote, type QuoteDependencies } from './draftQuote.ts'

/** The caller that asks for a quote. */
export type QuoteCaller = {
  /** API key of the caller; undefined without one. */
  readonly keyId: string | undefined
  /** Name under which the caller's open quotes are counted: that of its key, or of its network. */
  readonly caller: string
}

/**
 * Makes the quote of a request without sponsorship: prices it, drafts its order and steps, and stores it. The quote is
 * durable when this returns. Sponsored ones are made by `createSponsoredQuote`.
 * @throws QuoteError, SignerFailedError, UpstreamUnavailableError when it cannot be stored
 */
export async function createQuote(
  dependencies: QuoteDependencies,
  request: QuoteRequest,
  asker: QuoteCaller,
): Promise<Quote> {
  refuseDeniedRequest(dependencies, request, asker.keyId)
  return withAllowance(dependencies, asker, (ports) =>
    withReward(ports, asker, async (rewards) => {
      const priced = await priceRequest(ports, request, { rewards, waits: ports.waits })
      refuseUnsupportedExecution(priced.route, request, { isSponsored: false })
      return whileOpen(ports, priced, asker, async () => {
        const record = await draftQuote(ports, request, priced, { apiKeyId: asker.keyId })
        await ports.store(record)
        return record.quote
      })
    }),
  )
}

/**
 * Makes a quote whose use of the user's token allowance counts until the quote expires. If making it fails, nothing counts.
 * @param quoteWith makes the quote, with dependencies that know what other open quotes take @source Q-53
 */
export async function withAllowance<Dependencies extends QuoteDependencies>(
  dependencies: Dependencies,
  { caller }: Pick<QuoteCaller, 'caller'>,
  quoteWith: (ports: Dependencies) => Promise<Quote>,
): Promise<Quote> {
  const { openAllowances, clock, quoteLifetimeSeconds } = dependencies
  const nowSeconds = Math.floor(clock.now() / 1_000)
  const lifetime = { nowSeconds, expiresAtSeconds: nowSeconds + quoteLifetimeSeconds }
  const { take, release } = openAllowances.hold(caller, lifetime)
  try {
    return await quoteWith({ ...dependencies, openSpending: take })
  } catch (error) {
    release()
    throw error
  }
}

/** Other quotes have taken the reward of this request since it was priced. */
class RewardTakenError extends Error {}

const rewardTriesMax = 3

/**
 * Makes a quote that may earn a reward for evening out inventory. If other quotes take the reward meanwhile, it is priced
 * again, at last without a reward, which no other quote can take. @source Q-40
 */
export async function withReward(
  dependencies: QuoteDependencies,
  { keyId }: Pick<QuoteCaller, 'keyId'>,
  quoteWith: (rewards: RewardLimit) => Promise<Quote>,
): Promise<Quote> {
  for (let tries = 0; tries < rewardTriesMax; tries += 1) {
    try {
      return await quoteWith(rewardsFor(dependencies, keyId))
    } catch (error) {
      if (!(error instanceof RewardTakenError)) throw error
    }
  }
  return quoteWith(noReward)
}

/**
 * Finishes a priced request, whose promised payout and reward count as open until the quote expires. If finishing fails,
 * nothing counts.
 * @param finish drafts and stores the quote; calls `takeBack` if the quote turns out not to be a promise,
 * after which it may answer with another quote, which counts by itself
 * @throws QuoteError OPEN_QUOTES_LIMIT; RewardTakenError, and what `finish` throws
 */
export async function whileOpen(
  dependencies: QuoteDependencies,
  priced: PricedRequest,
  { caller, keyId }: QuoteCaller,
  finish: (takeBack: () => void) => Promise<Quote>,
): Promise<Quote> {
  const { openQuotes, inventoryView, clock, quoteLifetimeSeconds } = dependencies
  const promise = promisedBy(priced, inventoryView)
  // No solver pays, or the inventory has no price, so there is nothing to count.
  if (promise === undefined) return finish(() => {})
  const nowSeconds = Math.floor(clock.now() / 1_000)
  const expiresAtSeconds = nowSeconds + quoteLifetimeSeconds
  const { user } = priced.route
  const takePromiseBack = openQuotes.take({ user, caller }, { nowSeconds, expiresAtSeconds, ...promise })
  let reward: HeldReward | undefined
  const takeBack = () => {
    takePromiseBack()
    reward?.release()
  }
  try {
    reward = holdReward(dependencies, priced, { keyId, expiresAtSeconds })
    const quote = await finish(takeBack)
    // By the request id, a bound deposit later takes the place of this hold.
    reward?.name(quote.requestId)
    return quote
  } catch (error) {
    takeBack()
    throw error
  }
}

/**
 * Holds the reward of a priced request; undefined where it earns none. The hold outlives the price a little, because a
 * deposit in time may be seen later. @throws RewardTakenError if the reward is smaller now than when it was priced
 */
function holdReward(
  dependencies: QuoteDependencies,
  priced: PricedRequest,
  { keyId, expiresAtSeconds }: Pick<QuoteCaller, 'keyId'> & { readonly expiresAtSeconds: number },
): HeldReward | undefined {
  const move = rewardedMove(priced)
  if (move === undefined || priced.solver === undefined) return undefined
  const { route, snapshot, external, feeCurrency, split, solver } = priced
  const plan = { feeCurrency, payoutCurrency: solver.payoutCurrency }
  const inventory = dependencies.inventoryView(snapshot)
  const rewards = rewardsFor(dependencies, keyId)
  const presentSkew = skewOf({ route, plan, snapshot, inventory, external, rewards })(split.amountIn)
  // A reward is a negative skew, so a smaller reward is a larger skew.
  if (split.parts.skew < presentSkew) throw new RewardTakenError()
  const endsAtSeconds = expiresAtSeconds + lateInclusionSeconds
  return dependencies.openRewards.hold(move, { hasKey: keyId !== undefined, endsAtSeconds })
}
