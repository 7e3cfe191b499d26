import { hash } from 'node:crypto'
import { payingSeconds } from '@causeway/chains'
import type { Hex, Order } from '@causeway/core'
import type { DepositAddress, PermitTerms, StepIdentity } from '@causeway/families/rules'
import { refuseUnsupportedExecution } from '../../pricing/execution/executionMode.ts'
import { skewOf } from '../../pricing/fees/skew.ts'
import type { OpenAllowances } from '../../pricing/openQuotes/openAllowances.ts'
import type { OpenQuotes } from '../../pricing/openQuotes/openQuotes.ts'
import type { HeldReward } from '../../pricing/openQuotes/openRewards.ts'
import { noReward, type RewardLimit } from '../../pricing/openQuotes/rewardLimit.ts'
import { rewardedMove } from '../../pricing/pricedRoute.ts'
import { type PricedRequest, priceRequest, rewardsFor } from '../../pricing/priceRequest.ts'
import type { PricingDependencies } from '../../pricing/pricingDependencies.ts'
import { promisedBy } from '../../pricing/promisedPayout.ts'
import type { QuoteRequest } from '../../pricing/request.ts'
import { refuseDeniedRequest } from '../../pricing/routes/deniedParties.ts'
import { type PermitTokens, permitTerms } from '../../pricing/routes/permit.ts'
import type { Route } from '../../pricing/routes/route.ts'
import type { SponsorshipOutcome } from '../../pricing/sponsorship/sponsorshipOutcome.ts'
import { lateInclusionSeconds } from '../timings.ts'
import { buildOrder } from './buildOrder.ts'
import { type BuiltSteps, buildSteps, permitStep, relayedCalls, type Step } from './buildSteps.ts'
import { type DepositSwap, depositSaltOf, newDepositAddress } from './depositAddress.ts'
import type { OrderKey } from './orderKey.ts'

/** The order that a quote promises. */
export type QuotedOrder = {
  readonly order: Order
  /** JSON of `order`, as it is stored and answered. */
  readonly orderJson: string
  readonly orderId: Hex
  /** Order signer's signature over the order id; made when the caller asks for it, else only after the deposit. */
  readonly signature: Hex | undefined
}

/** A quote as it is stored and answered. */
export type Quote = {
  readonly priced: PricedRequest
  readonly requestId: Hex
  /** Undefined where no solver is needed, because the user executes alone. */
  readonly ordered: QuotedOrder | undefined
  readonly steps: readonly Step[]
  /** JSON of `steps`, as it is digested and answered. */
  readonly stepsJson: string
  /** Calls by which transactions of a user who executes alone are recognized. */
  readonly calls: BuiltSteps['calls']
  /** Unix seconds. */
  readonly expiresAtSeconds: number
  readonly deadlineSeconds: number
  /** Undefined where the request asked nothing about sponsorship. */
  readonly sponsorship: SponsorshipOutcome | undefined
  /** Address that the user pays; undefined where the deposit goes directly to the depository. */
  readonly depositAddress: DepositAddress | undefined
  /** Swap of what the address receives into the deposited currency; undefined without one. */
  readonly depositSwap: DepositSwap | undefined
  /** Terms that the user signs instead of sending a deposit; undefined where the quote has no permit. */
  readonly permit: PermitTerms | undefined
}

/** Record that must be durable before a quote is answered. @source rule Q-138 */
export type QuoteRecord = {
  readonly quote: Quote
  readonly request: QuoteRequest
  /** SHA-256 of the steps' JSON. */
  readonly stepsDigest: Buffer
  /** API key of the caller; undefined for a caller without one. */
  readonly apiKeyId: string | undefined
}

export type QuoteDependencies = PricingDependencies & {
  readonly signer: OrderKey
  /** Computes an order's id, for which it needs the configured chains. */
  readonly orderIdOf: (order: Order) => Hex
  /** Resolves once the record survives a crash. */
  readonly store: (record: QuoteRecord) => Promise<void>
  /** Cryptographically random; ids and salts come from it. */
  readonly randomBytes: (length: number) => Buffer
  readonly permitTokens: PermitTokens
  readonly quoteLifetimeSeconds: number
  /** Seconds within which a solver may begin to pay. The duration of the payment is added to the order's deadline. */
  readonly orderLifetimeSeconds: number
  /** Counts open quotes against the total that one user may be promised. */
  readonly openQuotes: OpenQuotes
  /** Counts what open quotes will take against the user's token allowance. */
  readonly openAllowances: OpenAllowances
  /** Account of the solver, which runs calls and empties deposit addresses. */
  readonly fillWallet: string | undefined
  /** Address whose payment is quoted anew; absent for a caller's quote, which gets a new address. */
  readonly depositAddress?: DepositAddress
}

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
      const priced = await priceRequest(ports, request, { rewards })
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
class RewardTaken extends Error {}

const rewardTriesMax = 3

/**
 * Makes a quote that may earn a reward for evening out inventory. If other quotes take the reward meanwhile, it is priced
 * again, at last without a reward. @source Q-40
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
      if (!(error instanceof RewardTaken)) throw error
    }
  }
  return quoteWith(noReward)
}

/**
 * Finishes a priced request, whose promised payout and reward count as open until the quote expires. If finishing fails,
 * nothing counts.
 * @param finish drafts and stores the quote; calls `takeBack` if the quote turns out not to be a promise
 * @throws QuoteError OPEN_QUOTES_LIMIT; RewardTaken, and what `finish` throws
 */
export async function whileOpen(
  dependencies: QuoteDependencies,
  priced: PricedRequest,
  { caller, keyId }: QuoteCaller,
  finish: (takeBack: () => void) => Promise<Quote>,
): Promise<Quote> {
  const { openQuotes, inventoryView, clock, quoteLifetimeSeconds } = dependencies
  const promise = promisedBy(priced, inventoryView)
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
    reward?.name(quote.requestId)
    return quote
  } catch (error) {
    takeBack()
    throw error
  }
}

/**
 * Holds the reward of a priced request; undefined where it earns none. The hold outlives the price a little, because a
 * deposit in time may be seen later. @throws RewardTaken if the reward is smaller now than when it was priced
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
  const skew = skewOf({ route, plan, snapshot, inventory, external, rewards })
  // A reward is a negative skew.
  if (split.parts.skew < skew(split.amountIn)) throw new RewardTaken()
  const endsAtSeconds = expiresAtSeconds + lateInclusionSeconds
  return dependencies.openRewards.hold(move, { hasKey: keyId !== undefined, endsAtSeconds })
}

/**
 * Drafts the quote of a priced request: its order, steps and ids. The caller must store it before it answers.
 * @throws SignerFailedError
 */
export async function draftQuote(
  dependencies: QuoteDependencies,
  request: QuoteRequest,
  priced: PricedRequest,
  { apiKeyId, sponsorship }: { apiKeyId: string | undefined; sponsorship?: SponsorshipOutcome },
): Promise<QuoteRecord> {
  const nowSeconds = Math.floor(dependencies.clock.now() / 1_000)
  const { quoteLifetimeSeconds, orderLifetimeSeconds } = dependencies
  // A caller may only shorten the lifetimes of price and order.
  const ttlSeconds = request.ttlSeconds ?? orderLifetimeSeconds
  const { route } = priced
  const lifetimeSeconds = Math.min(orderLifetimeSeconds, ttlSeconds)
  const deadlineSeconds = nowSeconds + lifetimeSeconds + landingSeconds(route, request)
  const requestId = timeOrderedId(dependencies)
  const depositAddress = request.useDepositAddress ? addressFor(dependencies, priced) : undefined
  const { salt, swap: depositSwap } = saltAndSwap(dependencies, priced, depositAddress)
  const draft = draftOrder(dependencies, priced, request, { salt, deadlineSeconds })
  const orderId = draft?.orderId
  const identity = {
    requestId,
    orderId,
    deadlineSeconds,
    depositAddress: depositAddress?.address,
    depositScript: depositAddress?.script,
    depositTerms: depositAddress?.script === undefined ? depositAddress?.terms : undefined,
  }
  const permit = await draftPermit(dependencies, priced, request, { identity, nowSeconds })
  // Steps need an account that executes them; only a deposit address may be paid by anybody.
  const hasSender = depositAddress !== undefined || !route.origin.quoting.isNobody(route.user)
  const built = hasSender ? buildSteps(priced, identity) : noSteps
  const steps =
    permit === undefined || !hasSender ? built.steps : [...built.steps, permitStep(priced, requestId, permit)]
  const stepsJson = JSON.stringify(steps)
  const ordered = draft && (await withSignature(dependencies, request, draft))
  const expiresAtSeconds = nowSeconds + Math.min(quoteLifetimeSeconds, ttlSeconds)
  const quote: Quote = {
    priced,
    requestId,
    ordered,
    steps,
    stepsJson,
    calls: built.calls,
    expiresAtSeconds,
    deadlineSeconds,
    sponsorship,
    depositAddress,
    depositSwap,
    permit,
  }
  const stepsDigest = hash('sha256', stepsJson, 'buffer')
  return { quote, request, stepsDigest, apiKeyId }
}

/** Seconds that are added to the deadline: for the fill, and for the sweep of an address on a chain with slow blocks. */
function landingSeconds({ origin, destination }: Route, { useDepositAddress }: QuoteRequest): number {
  const { depositAddresses } = origin.quoting
  const isSweptSlowly = useDepositAddress && depositAddresses?.isKeptWhileSwept === true
  return payingSeconds(destination) + (isSweptSlowly ? depositAddresses.sweepSeconds : 0)
}

const noSteps: BuiltSteps = { steps: [], calls: [] }

type DraftOrder = { readonly order: Order; readonly orderId: Hex }

function draftOrder(
  { signer, orderIdOf, fillWallet: filler, registry }: QuoteDependencies,
  priced: PricedRequest,
  request: QuoteRequest,
  saltAndDeadline: { readonly salt: Hex; readonly deadlineSeconds: number },
): DraftOrder | undefined {
  if (priced.solver === undefined) return undefined
  const identity = { solver: signer.address, filler, chains: registry.chains, ...saltAndDeadline }
  const order = buildOrder(priced, priced.solver, request, identity)
  return { order, orderId: orderIdOf(order) }
}

async function draftPermit(
  { permitTokens, fillWallet }: QuoteDependencies,
  priced: PricedRequest,
  request: QuoteRequest,
  { identity, nowSeconds }: { readonly identity: StepIdentity; readonly nowSeconds: number },
): Promise<PermitTerms | undefined> {
  const { orderId, deadlineSeconds } = identity
  if (!request.usePermit || orderId === undefined) return undefined
  const order = { orderId, nowSeconds, deadlineSeconds }
  const calls = () => relayedCalls(priced, identity)
  return permitTerms(permitTokens, priced, request, order, { from: fillWallet, calls })
}

/** The address that the quote is paid through: the one whose payment is quoted anew, or a new one. */
function addressFor(
  dependencies: QuoteDependencies,
  { route, refundAccounts: [refundAccount = route.user] }: PricedRequest,
): DepositAddress {
  const { signer, fillWallet, randomBytes, depositAddress } = dependencies
  if (depositAddress !== undefined) return depositAddress
  const nonce: Hex = `0x${randomBytes(32).toString('hex')}`
  return newDepositAddress(route, { orderSigner: signer.address, fillWallet, refunded: refundAccount, nonce })
}

/** Salt of the order, which binds it to its deposit address and the swap there; else random. */
function saltAndSwap(
  { randomBytes }: QuoteDependencies,
  { origin, route }: PricedRequest,
  depositAddress: DepositAddress | undefined,
): ReturnType<typeof depositSaltOf> {
  if (depositAddress !== undefined) return depositSaltOf(depositAddress, origin, route.origin, randomBytes)
  return { salt: `0x${randomBytes(32).toString('hex')}`, swap: undefined }
}

/** Signs the order if the caller asks for it; else only makes sure that the key works. @throws SignerFailedError */
async function withSignature(
  { signer }: QuoteDependencies,
  { includeProtocolData }: QuoteRequest,
  { order, orderId }: DraftOrder,
): Promise<QuotedOrder> {
  if (!includeProtocolData) signer.assertWorks()
  const signature = includeProtocolData ? await signer.sign({ purpose: 'order', orderId }) : undefined
  return { order, orderJson: JSON.stringify(order), orderId, signature }
}

/** 6 bytes of Unix milliseconds, so that new ids are neighbours in the index, and 26 random ones against guessing. */
function timeOrderedId({ clock, randomBytes }: QuoteDependencies): Hex {
  const bytes = randomBytes(32)
  bytes.writeUIntBE(clock.now(), 0, 6)
  return `0x${bytes.toString('hex')}`
}
