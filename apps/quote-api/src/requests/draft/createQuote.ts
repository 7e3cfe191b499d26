import { hash } from 'node:crypto'
import { payingSeconds } from '@causeway/chains'
import type { Hex, Order } from '@causeway/core'
import type { DepositAddress, PermitTerms, StepIdentity } from '@causeway/families/rules'
import { refuseUnsupportedExecution } from '../../pricing/execution/executionMode.ts'
import { skewOf } from '../../pricing/fees/feeTerms.ts'
import type { OpenAllowances } from '../../pricing/openQuotes/openAllowances.ts'
import type { OpenQuotes } from '../../pricing/openQuotes/openQuotes.ts'
import { type HeldReward, noReward, type RewardBound } from '../../pricing/openQuotes/openRewards.ts'
import { rewardedMove } from '../../pricing/pricedRoute.ts'
import {
  type Priced,
  type PricingDependencies,
  priceRequest,
  rewardsFor,
} from '../../pricing/priceRequest.ts'
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

/** Promise of a quote, as an order of the protocol. */
export type QuotedOrder = {
  readonly order: Order
  /** JSON of `order`, as it is stored and answered. */
  readonly orderJson: string
  readonly orderId: Hex
  /** Signature of the order's solver over the order id; undefined until it is asked for or the deposit is paid. */
  readonly signature: Hex | undefined
}

/** A quote as it is stored and answered. */
export type Quote = {
  readonly priced: Priced
  readonly requestId: Hex
  /** Undefined where the user executes alone. */
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
  /** Undefined where the depository is paid. */
  readonly depositAddress: DepositAddress | undefined
  /** Swap between the deposit address and the depository; undefined without one. */
  readonly depositSwap: DepositSwap | undefined
  /** Terms that the user signs instead of sending a deposit. */
  readonly permit: PermitTerms | undefined
}

/** Record that must be durable before a quote is answered. @source rule Q-138 */
export type QuoteRecord = {
  readonly quote: Quote
  readonly request: QuoteRequest
  /** SHA-256 over the steps' JSON. */
  readonly stepsDigest: Buffer
  /** Public part of the key that asked, where one did. */
  readonly apiKeyId: string | undefined
}

export type QuoteDependencies = PricingDependencies & {
  readonly signer: OrderKey
  /** The order's id by the configured chains. */
  readonly orderIdOf: (order: Order) => Hex
  /** Resolves once the record survives a crash. */
  readonly store: (record: QuoteRecord) => Promise<void>
  /** Cryptographically random; ids and salts come from it. */
  readonly randomBytes: (length: number) => Buffer
  readonly permitTokens: PermitTokens
  readonly quoteLifetimeSeconds: number
  /** Time within which a solver may begin to pay, in seconds; the duration of the payment itself comes on top. */
  readonly orderLifetimeSeconds: number
  /** Open quotes of a user count against the total that he may be promised. */
  readonly openQuotes: OpenQuotes
  /** Open quotes of users count against what they allowed to be taken. */
  readonly openAllowances: OpenAllowances
  /** Account of the solver, which runs calls and empties deposit addresses. */
  readonly fillWallet: string | undefined
  /** The address whose money a new quote is for; a new one by default. */
  readonly depositAddress?: DepositAddress
}

/** The caller that asks for a quote. */
export type QuoteCaller = {
  readonly keyId: string | undefined
  /** The key's name or that of the caller's network: open quotes count under it. */
  readonly caller: string
}

/**
 * Prices a request, binds it to an order and steps, and stores it. What it returns is durable.
 * @throws QuoteError, SignerFailedError, UpstreamUnavailableError when it cannot be stored
 */
export async function createQuote(
  dependencies: QuoteDependencies,
  request: QuoteRequest,
  asker: QuoteCaller,
): Promise<Quote> {
  refuseDeniedRequest(dependencies, request, asker.keyId)
  return withAllowance(dependencies, asker, (held) =>
    withReward(held, asker, async (rewards) => {
      const priced = await priceRequest(held, request, { rewards })
      refuseUnsupportedExecution(priced.route, request, { isSponsored: false })
      return whileOpen(held, priced, asker, async () => {
        const record = await draftQuote(held, request, priced, { apiKeyId: asker.keyId })
        await held.store(record)
        return record.quote
      })
    }),
  )
}

/** Counts what a quote takes of an allowance until it expires; not where it ends unanswered. @source Q-53 */
export async function withAllowance<Dependencies extends QuoteDependencies>(
  dependencies: Dependencies,
  { caller }: Pick<QuoteCaller, 'caller'>,
  quoteWith: (held: Dependencies) => Promise<Quote>,
): Promise<Quote> {
  const { openAllowances, clock, quoteLifetimeSeconds } = dependencies
  const nowSeconds = Math.floor(clock.now() / 1_000)
  const open = { nowSeconds, expiresAtSeconds: nowSeconds + quoteLifetimeSeconds }
  const { take, release } = openAllowances.hold(caller, open)
  try {
    return await quoteWith({ ...dependencies, openSpending: take })
  } catch (error) {
    release()
    throw error
  }
}

/** Others took the reward of a request since it was priced. */
class RewardTaken extends Error {}

const rewardTries = 3

/** Prices again where others take the reward meanwhile, in the end without one. @source Q-40 */
export async function withReward(
  dependencies: QuoteDependencies,
  { keyId }: Pick<QuoteCaller, 'keyId'>,
  quoteWith: (rewards: RewardBound) => Promise<Quote>,
): Promise<Quote> {
  for (let tries = 0; tries < rewardTries; tries += 1) {
    try {
      return await quoteWith(rewardsFor(dependencies, keyId))
    } catch (error) {
      if (!(error instanceof RewardTaken)) throw error
    }
  }
  return quoteWith(noReward)
}

/**
 * Counts what a priced request promises and its reward until it expires; not where it ends unanswered.
 * @throws QuoteError OPEN_QUOTES_LIMIT; RewardTaken, and what `answer` throws
 */
export async function whileOpen(
  dependencies: QuoteDependencies,
  priced: Priced,
  { caller, keyId }: QuoteCaller,
  answer: (takeBack: () => void) => Promise<Quote>,
): Promise<Quote> {
  const { openQuotes, inventoryView, clock, quoteLifetimeSeconds } = dependencies
  const promise = promisedBy(priced, inventoryView)
  if (promise === undefined) return answer(() => {})
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
    const quote = await answer(takeBack)
    reward?.name(quote.requestId)
    return quote
  } catch (error) {
    takeBack()
    throw error
  }
}

/** A deposit in time may be seen and bound somewhat later than the price ends. @throws RewardTaken */
function holdReward(
  dependencies: QuoteDependencies,
  priced: Priced,
  { keyId, expiresAtSeconds }: Pick<QuoteCaller, 'keyId'> & { readonly expiresAtSeconds: number },
): HeldReward | undefined {
  const move = rewardedMove(priced)
  if (move === undefined || priced.solver === undefined) return undefined
  const { route, snapshot, external, feeCurrency, split, solver } = priced
  const plan = { feeCurrency, payoutCurrency: solver.payoutCurrency }
  const inventory = dependencies.inventoryView(snapshot)
  const skew = skewOf({
    ...{ route, plan, snapshot, inventory, external },
    rewards: rewardsFor(dependencies, keyId),
  })
  if (split.parts.skew < skew(split.amountIn)) throw new RewardTaken()
  const endsAtSeconds = expiresAtSeconds + lateInclusionSeconds
  return dependencies.openRewards.hold(move, { hasKey: keyId !== undefined, endsAtSeconds })
}

/**
 * Binds a priced request to an order and steps: a quote that is not stored yet and must
 * not be answered before. @throws SignerFailedError
 */
export async function draftQuote(
  dependencies: QuoteDependencies,
  request: QuoteRequest,
  priced: Priced,
  { apiKeyId, sponsorship }: { apiKeyId: string | undefined; sponsorship?: SponsorshipOutcome },
): Promise<QuoteRecord> {
  const nowSeconds = Math.floor(dependencies.clock.now() / 1_000)
  const { quoteLifetimeSeconds, orderLifetimeSeconds } = dependencies
  const ttlSeconds = request.ttlSeconds ?? orderLifetimeSeconds
  const { route } = priced
  const lifetimeSeconds = Math.min(orderLifetimeSeconds, ttlSeconds)
  const deadlineSeconds = nowSeconds + lifetimeSeconds + landingSeconds(route, request)
  const requestId = timeOrderedId(dependencies)
  const depositAddress = request.useDepositAddress ? addressFor(dependencies, priced) : undefined
  const { salt, swap: depositSwap } = orderSalt(dependencies, priced, depositAddress)
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
  // An account that is not chosen yet cannot sign; an address may be paid by anybody.
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

/** Extra seconds that the chains need: for the fill, and for the sweep of a deposit address where blocks are slow. */
function landingSeconds({ origin, destination }: Route, { useDepositAddress }: QuoteRequest): number {
  const { depositAddresses } = origin.quoting
  const isSweptSlowly = useDepositAddress && depositAddresses?.isKeptWhileSwept === true
  return payingSeconds(destination) + (isSweptSlowly ? depositAddresses.sweepSeconds : 0)
}

const noSteps: BuiltSteps = { steps: [], calls: [] }

type DraftOrder = { readonly order: Order; readonly orderId: Hex }

function draftOrder(
  { signer, orderIdOf, fillWallet: filler, registry }: QuoteDependencies,
  priced: Priced,
  request: QuoteRequest,
  more: { readonly salt: Hex; readonly deadlineSeconds: number },
): DraftOrder | undefined {
  if (priced.solver === undefined) return undefined
  const identity = { solver: signer.address, filler, chains: registry.chains, ...more }
  const order = buildOrder(priced, priced.solver, request, identity)
  return { order, orderId: orderIdOf(order) }
}

async function draftPermit(
  { permitTokens, fillWallet }: QuoteDependencies,
  priced: Priced,
  request: QuoteRequest,
  { identity, nowSeconds }: { readonly identity: StepIdentity; readonly nowSeconds: number },
): Promise<PermitTerms | undefined> {
  const { orderId, deadlineSeconds } = identity
  if (!request.usePermit || orderId === undefined) return undefined
  const order = { orderId, nowSeconds, deadlineSeconds }
  const calls = () => relayedCalls(priced, identity)
  return permitTerms(permitTokens, priced, request, order, { from: fillWallet, calls })
}

function addressFor(
  dependencies: QuoteDependencies,
  { route, refundAccounts: [refunded = route.user] }: Priced,
): DepositAddress {
  const { signer, fillWallet, randomBytes, depositAddress } = dependencies
  if (depositAddress !== undefined) return depositAddress
  const nonce: Hex = `0x${randomBytes(32).toString('hex')}`
  return newDepositAddress(route, { orderSigner: signer.address, fillWallet, refunded, nonce })
}

function orderSalt(
  { randomBytes }: QuoteDependencies,
  { origin, route }: Priced,
  depositAddress: DepositAddress | undefined,
): ReturnType<typeof depositSaltOf> {
  if (depositAddress !== undefined) return depositSaltOf(depositAddress, origin, route.origin, randomBytes)
  return { salt: `0x${randomBytes(32).toString('hex')}`, swap: undefined }
}

/** Signed where the caller asks for it. Others are sold only while the key could do so. @throws SignerFailedError */
async function withSignature(
  { signer }: QuoteDependencies,
  { includeProtocolData }: QuoteRequest,
  { order, orderId }: DraftOrder,
): Promise<QuotedOrder> {
  if (!includeProtocolData) signer.assertWorks()
  const signature = includeProtocolData ? await signer.sign({ purpose: 'order', orderId }) : undefined
  return { order, orderJson: JSON.stringify(order), orderId, signature }
}

/** 6 bytes of Unix milliseconds, then 26 random ones: unguessable, and kind to the index it lands in. */
function timeOrderedId({ clock, randomBytes }: QuoteDependencies): Hex {
  const bytes = randomBytes(32)
  bytes.writeUIntBE(clock.now(), 0, 6)
  return `0x${bytes.toString('hex')}`
}
