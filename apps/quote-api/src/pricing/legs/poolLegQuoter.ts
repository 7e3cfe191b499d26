import {
  bpsDenominator,
  convertDown,
  divideUp,
  type Hex,
  type MaybePromise,
  type PoolQuote,
  type PoolState,
  type PricedUnit,
  quoteExactInput,
  quoteExactOutput,
} from '@causeway/core'
import type { PoolConfig } from '@causeway/core/config'
import type { MarketSnapshot } from '@causeway/market'
import type { AnswersOf } from '../answers.ts'
import { QuoteError } from '../errors.ts'
import { type PricedCurrency, requireChain, requirePrice } from '../market/marketAccess.ts'
import type { QuotableCurrency } from '../registry.ts'
import { adverseBps, guardBps, poolDeviation } from './legGuard.ts'
import { type Leg, type LegQuote, type LegQuoter, legName, poolsBetween, poolToken } from './legs.ts'

/** Pools take amounts as signed 256-bit integers. */
const poolAmountLimit = 1n << 255n

export type PoolTrade = 'exactInput' | 'exactOutput'

/**
 * Asks the chain's quoter contract for a pool that the snapshot does not mirror. Undefined: the pool cannot
 * make the trade, or the chain has no quoter that can be asked now.
 */
export type OnChainQuoter = (question: OnChainQuestion) => MaybePromise<PoolQuote | undefined>

export type OnChainQuestion = {
  readonly chainId: number
  readonly pool: QuotablePool
  /** Uniswap's name for the direction: `token0` is sold for `token1`. */
  readonly zeroForOne: boolean
  readonly trade: PoolTrade
  readonly amount: bigint
}

type OnChainAnswers = AnswersOf<{ quoteOnChain: OnChainQuoter }>

/** Quote of one pool, in smallest units. `feePips`: the pool's fee in millionths. */
type HopQuote = Pick<LegQuote, 'amountIn' | 'amountOut' | 'ticksCrossed' | 'adverseBps'> & {
  readonly feePips: number
}

/**
 * Quotes legs in process over the snapshot's mirrored pools, and by the on-chain quoter over all others. Of the pools
 * that do not sell too far below the agreed price, the best one wins. A fallback leg may take two pools, through a
 * currency between them.
 */
export function createPoolLegQuoter(answers: OnChainAnswers): LegQuoter {
  function quote(snapshot: MarketSnapshot, leg: Leg, trade: PoolTrade, amount: bigint): LegQuote {
    if (leg.kind !== 'pool')
      return { leg, amountIn: amount, amountOut: amount, hops: [], ticksCrossed: 0, adverseBps: 0n }
    const quoteHop = (hop: Leg, hopAmount: bigint) =>
      bestPool(answers, { snapshot, leg: hop, trade, amount: hopAmount })
    const via = leg.fallback !== undefined && 'via' in leg.fallback ? leg.fallback.via : undefined
    if (via === undefined) {
      const { feePips, ...quoted } = quoteHop(leg, amount)
      return { leg, hops: [{ to: leg.to, feePips }], ...quoted }
    }
    const firstHop = { ...leg, to: via }
    const secondHop = { ...leg, from: via }
    // Quotes the hop with the known amount first: its result is the known amount of the other hop.
    if (trade === 'exactInput') {
      const first = quoteHop(firstHop, amount)
      return joinHops(leg, via, first, quoteHop(secondHop, first.amountOut))
    }
    const second = quoteHop(secondHop, amount)
    return joinHops(leg, via, quoteHop(firstHop, second.amountIn), second)
  }
  return {
    exactInput: (snapshot, leg, amountIn) => quote(snapshot, leg, 'exactInput', amountIn),
    exactOutput: (snapshot, leg, amountOut) => quote(snapshot, leg, 'exactOutput', amountOut),
  }
}

function joinHops(leg: Leg, via: QuotableCurrency, first: HopQuote, second: HopQuote): LegQuote {
  return {
    leg,
    amountIn: first.amountIn,
    amountOut: second.amountOut,
    hops: [
      { to: via, feePips: first.feePips },
      { to: leg.to, feePips: second.feePips },
    ],
    ticksCrossed: first.ticksCrossed + second.ticksCrossed,
    adverseBps: first.adverseBps + second.adverseBps,
  }
}

type HopQuestion = {
  readonly snapshot: MarketSnapshot
  readonly leg: Leg
  readonly trade: PoolTrade
  readonly amount: bigint
}

/**
 * Quotes one hop at every pool and takes the best. Refused pools matter only where none quotes: then a
 * guarded one names the refusal, else an exhausted one.
 * @throws QuoteError PRICE_FETCH_FAILED, INSUFFICIENT_LIQUIDITY, NO_SWAP_ROUTES_FOUND, AMOUNT_TOO_LOW
 */
function bestPool(answers: OnChainAnswers, question: HopQuestion): HopQuote {
  const { snapshot, leg, trade, amount } = question
  if (amount >= poolAmountLimit) throw beyondPools(leg)
  const mirrored = requireChain(snapshot, leg.chain.chainId).pools
  const prices = { from: requirePrice(snapshot, leg.from), to: requirePrice(snapshot, leg.to) }
  let isGuarded = false
  let isExhausted = false
  let best: HopQuote | undefined
  for (const pool of poolsOf(leg)) {
    const quoted = quotePool(answers, pool, { ...question, mirrored, prices })
    if (quoted === 'guarded') isGuarded = true
    else if (quoted === 'exhausted') isExhausted = true
    else if (quoted !== undefined && (best === undefined || isBetter(quoted, best, trade))) best = quoted
  }
  if (best === undefined) {
    if (isGuarded) throw poolDeviation(leg)
    throw isExhausted ? beyondPools(leg) : noPool(leg)
  }
  if (best.amountOut > 0n) return best
  // No output. If the agreed price gives more than one unit for the input, the pools are empty; else the
  // amount is too low.
  throw convertDown(best.amountIn, prices.from, prices.to) > 1n ? beyondPools(leg) : belowPools(leg)
}

/**
 * Quote of one pool. `guarded`: it sells too far below the agreed price. `exhausted`: it cannot take the amount.
 * Undefined: as `OnChainQuoter` answers it. The guard differs by pool:
 * - mirrored: its price before the trade may deviate by `guardBps`;
 * - listed but not mirrored: no guard here, so `swapImpactMaxBps` alone bounds the loss, and `adverseBps` is
 *   0;
 * - unlisted: the loss of the trade itself, see `lossBps`.
 */
function quotePool(
  answers: OnChainAnswers,
  pool: QuotablePool,
  question: HopQuestion & {
    readonly mirrored: readonly PoolState[]
    readonly prices: Record<'from' | 'to', PricedCurrency>
  },
): HopQuote | 'guarded' | 'exhausted' | undefined {
  const { leg, trade, amount, mirrored, prices } = question
  const from = poolToken(leg.chain, leg.from)
  const allowedBps = guardBps(leg)
  const zeroForOne = pool.token0 === from
  const state = mirrored.find((candidate) => candidate.address === pool.address)
  const poolBps = state === undefined ? 0n : adverseBps(state, { tokenIn: from, ...prices })
  if (poolBps > allowedBps) return 'guarded'
  const answer =
    state === undefined
      ? answers.quoteOnChain({ chainId: leg.chain.chainId, pool, zeroForOne, trade, amount })
      : quoteMirrored(state, zeroForOne, trade, amount)
  if (answer === undefined) return undefined
  if (answer.exhausted) return 'exhausted'
  if (pool.address === undefined && lossBps(answer, prices) > allowedBps + feeBps(pool)) return 'guarded'
  const { amountIn, amountOut, initializedTicksCrossed: ticksCrossed } = answer
  return { amountIn, amountOut, ticksCrossed, feePips: pool.feePips, adverseBps: poolBps }
}

type QuotablePool = Pick<PoolConfig, 'token0' | 'token1' | 'feePips'> & {
  /** Undefined: a pool that the configuration does not list. */
  readonly address: PoolConfig['address'] | undefined
}

/** Listed pools of the pair; on a leg of unlisted fee tiers one pool of each. */
function poolsOf(leg: Leg): readonly QuotablePool[] {
  const from = poolToken(leg.chain, leg.from)
  const to = poolToken(leg.chain, leg.to)
  if (leg.fallback === undefined || !('feeTiers' in leg.fallback))
    return poolsBetween(leg.chain, leg.from, leg.to)
  // A pool names the token with the lower address first.
  const [token0 = from, token1 = to] = [from, to].sort()
  return leg.fallback.feeTiers.map((feePips) => ({
    address: undefined,
    token0: hex(token0),
    token1: hex(token1),
    feePips,
  }))
}

/**
 * Loss of a trade against the agreed price, in bps. The state of an unlisted pool is unknown, and anybody may have
 * created it a minute ago. So its whole loss may be no more than the pool's fee and `guardBps`.
 */
function lossBps(
  { amountIn, amountOut }: PoolQuote,
  { from, to }: Record<'from' | 'to', PricedUnit>,
): bigint {
  const marketOut = convertDown(amountIn, from, to)
  return marketOut <= amountOut ? 0n : divideUp((marketOut - amountOut) * bpsDenominator, marketOut)
}

const feeBps = ({ feePips }: QuotablePool): bigint => divideUp(BigInt(feePips), 100n)

/** An address as `Hex`: all chains with pools have EVM addresses. */
function hex(address: string): Hex {
  return `0x${address.slice(2)}`
}

function quoteMirrored(state: PoolState, zeroForOne: boolean, trade: PoolTrade, amount: bigint): PoolQuote {
  return trade === 'exactInput'
    ? quoteExactInput(state, zeroForOne, amount)
    : quoteExactOutput(state, zeroForOne, amount)
}

function isBetter(candidate: HopQuote, best: HopQuote, trade: PoolTrade): boolean {
  return trade === 'exactInput' ? candidate.amountOut > best.amountOut : candidate.amountIn < best.amountIn
}

function noPool(leg: Leg): QuoteError {
  return new QuoteError(
    'NO_SWAP_ROUTES_FOUND',
    `No ${leg.fallback === undefined ? 'listed pool' : 'pool'} on chain ${leg.chain.chainId} swaps ${pair(leg)} now.`,
    { data: { leg: legName(leg), chainId: leg.chain.chainId } },
  )
}

function beyondPools(leg: Leg): QuoteError {
  return new QuoteError(
    'INSUFFICIENT_LIQUIDITY',
    `No pool on chain ${leg.chain.chainId} can swap so much ${pair(leg)}.`,
    { data: { leg: legName(leg) } },
  )
}

function belowPools(leg: Leg): QuoteError {
  return new QuoteError(
    'AMOUNT_TOO_LOW',
    `The amount is too low: pools on chain ${leg.chain.chainId} give nothing for so little ${pair(leg)}.`,
    { data: { leg: legName(leg) } },
  )
}

const pair = ({ from, to }: Leg): string => `${from.symbol} to ${to.symbol}`
