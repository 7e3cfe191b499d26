import { hash } from 'node:crypto'
import { payingSeconds } from '@causeway/chains'
import type { Hex, Order } from '@causeway/core'
import type { DepositAddress, PermitTerms, StepIdentity } from '@causeway/families/rules'
import type { OpenAllowances } from '../../pricing/openQuotes/openAllowances.ts'
import type { OpenQuotes } from '../../pricing/openQuotes/openQuotes.ts'
import type { PricedRequest } from '../../pricing/priceRequest.ts'
import type { PricingDependencies } from '../../pricing/pricingDependencies.ts'
import type { QuoteRequest } from '../../pricing/request.ts'
import type { RequestWaits } from '../../pricing/requestWaits.ts'
import { type PermitTokens, permitTerms } from '../../pricing/routes/permit.ts'
import type { Route } from '../../pricing/routes/route.ts'
import type { SponsorshipOutcome } from '../../pricing/sponsorship/sponsorshipOutcome.ts'
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
  /** Waits of the HTTP request; absent for a quote that none asks for. */
  readonly waits?: RequestWaits | undefined
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
  const { clock, quoteLifetimeSeconds, orderLifetimeSeconds } = dependencies
  const nowSeconds = Math.floor(clock.now() / 1_000)
  // A caller may only shorten the lifetimes of price and order.
  const ttlSeconds = request.ttlSeconds ?? orderLifetimeSeconds
  const expiresAtSeconds = nowSeconds + Math.min(quoteLifetimeSeconds, ttlSeconds)
  const deadlineSeconds =
    nowSeconds + Math.min(orderLifetimeSeconds, ttlSeconds) + landingSeconds(priced.route, request)
  const requestId = timeOrderedId(dependencies)
  const depositAddress = request.useDepositAddress ? addressFor(dependencies, priced) : undefined
  const { salt, swap: depositSwap } = saltAndSwap(dependencies, priced, depositAddress)
  const draft = draftOrder(dependencies, priced, request, { salt, deadlineSeconds })
  const identity: StepIdentity = {
    requestId,
    orderId: draft?.orderId,
    deadlineSeconds,
    depositAddress: depositAddress?.address,
    depositScript: depositAddress?.script,
    // A depositor withdraws with the script or, in families without one, with the terms.
    depositTerms: depositAddress?.script === undefined ? depositAddress?.terms : undefined,
  }
  const permit = await draftPermit(dependencies, priced, request, { identity, nowSeconds })
  const { steps, calls } = draftSteps(priced, identity, permit)
  const stepsJson = JSON.stringify(steps)
  const quote: Quote = {
    priced,
    requestId,
    ordered: draft && (await withSignature(dependencies, request, draft)),
    steps,
    stepsJson,
    calls,
    expiresAtSeconds,
    deadlineSeconds,
    sponsorship,
    depositAddress,
    depositSwap,
    permit,
  }
  return { quote, request, stepsDigest: hash('sha256', stepsJson, 'buffer'), apiKeyId }
}

/** Steps need an account that executes them. Only a deposit address may be paid by anybody, even if no user is named. */
function draftSteps(
  priced: PricedRequest,
  identity: StepIdentity,
  permit: PermitTerms | undefined,
): BuiltSteps {
  const { route } = priced
  const hasSender = identity.depositAddress !== undefined || !route.origin.quoting.isNobody(route.user)
  if (!hasSender) return { steps: [], calls: [] }
  const { steps, calls } = buildSteps(priced, identity)
  if (permit === undefined) return { steps, calls }
  return { steps: [...steps, permitStep(priced, identity.requestId, permit)], calls }
}

/** Seconds added to the deadline: for the fill, and for the sweep where the price holds until that ends. */
function landingSeconds({ origin, destination }: Route, { useDepositAddress }: QuoteRequest): number {
  const { depositAddresses } = origin.quoting
  const outlastsSweep = useDepositAddress && depositAddresses?.isKeptWhileSwept === true
  return payingSeconds(destination) + (outlastsSweep ? depositAddresses.sweepSeconds : 0)
}

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

/** The address to pay: one whose payment is quoted anew, else a new one; `user` is refunded by default. */
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
