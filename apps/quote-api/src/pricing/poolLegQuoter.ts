import {
  convertDown,
  type PoolConfig,
  type PoolQuote,
  type PoolState,
  quoteExactInput,
  quoteExactOutput,
} from '@causeway/core'
import type { MarketSnapshot } from '@causeway/market'
import { QuoteError } from './errors.ts'
import { adverseBps, guardBps, poolDeviation } from './legGuard.ts'
import { type Leg, type LegQuote, type LegQuoter, poolToken } from './legs.ts'
import { requireChain, requirePrice } from './marketAccess.ts'

/** Pools take amounts as signed 256-bit integers. */
const poolAmountLimit = 1n << 255n

export type PoolTrade = 'exactInput' | 'exactOutput'

/** Asks the chain's own quoter; used while a pool's mirror is not trusted. Undefined: it cannot trade. */
export type OnChainQuoter = (args: {
  chainId: number
  pool: PoolConfig
  zeroForOne: boolean
  trade: PoolTrade
  amount: bigint
}) => Promise<PoolQuote | undefined>

/**
 * Quotes legs in process over the snapshot's mirrored pools, and through the on-chain quoter for
 * pools that the snapshot does not mirror. The best of all pools of the pair wins, of those that do not sell too
 * far below the agreed price.
 */
export function createPoolLegQuoter(onChain: OnChainQuoter): LegQuoter {
  async function quote(
    snapshot: MarketSnapshot,
    leg: Leg,
    trade: PoolTrade,
    amount: bigint,
  ): Promise<LegQuote> {
    if (leg.kind !== 'pool') {
      return {
        leg,
        amountIn: amount,
        amountOut: amount,
        pool: undefined,
        feePips: 0,
        ticksCrossed: 0,
        adverseBps: 0n,
      }
    }
    if (amount >= poolAmountLimit) throw beyondPools(leg)
    const mirrored = requireChain(snapshot, leg.chain.chainId).pools
    const from = poolToken(leg.chain, leg.from)
    const to = poolToken(leg.chain, leg.to)
    const prices = { from: requirePrice(snapshot, leg.from), to: requirePrice(snapshot, leg.to) }
    const allowedBps = guardBps(leg)
    let isGuarded = false
    let isExhausted = false
    let best: LegQuote | undefined
    for (const pool of leg.chain.config.uniswapV3?.pools ?? []) {
      const zeroForOne = pool.token0 === from && pool.token1 === to
      if (!zeroForOne && !(pool.token1 === from && pool.token0 === to)) continue
      const state = mirrored.find((candidate) => candidate.address === pool.address)
      const poolBps = state === undefined ? 0n : adverseBps(state, { tokenIn: from, ...prices })
      if (poolBps > allowedBps) {
        isGuarded = true
        continue
      }
      const answer =
        state === undefined
          ? await onChain({ chainId: leg.chain.chainId, pool, zeroForOne, trade, amount })
          : inProcess(state, zeroForOne, trade, amount)
      if (answer?.exhausted === true) isExhausted = true
      if (answer === undefined || answer.exhausted) continue
      const candidate: LegQuote = {
        leg,
        amountIn: answer.amountIn,
        amountOut: answer.amountOut,
        pool: pool.address,
        feePips: pool.feePips,
        ticksCrossed: answer.initializedTicksCrossed,
        adverseBps: poolBps,
      }
      if (best === undefined || isBetter(candidate, best, trade)) best = candidate
    }
    if (best === undefined && isGuarded) throw poolDeviation(leg)
    if (best === undefined && isExhausted) throw beyondPools(leg)
    if (best === undefined) throw noPool(leg)
    // At the agreed price so much is worth a unit at least: the pools have less than one.
    if (best.amountOut === 0n && convertDown(best.amountIn, prices.from, prices.to) > 1n)
      throw beyondPools(leg)
    if (best.amountOut === 0n) throw belowPools(leg)
    return best
  }
  return {
    exactInput: (snapshot, leg, amountIn) => quote(snapshot, leg, 'exactInput', amountIn),
    exactOutput: (snapshot, leg, amountOut) => quote(snapshot, leg, 'exactOutput', amountOut),
  }
}

function inProcess(state: PoolState, zeroForOne: boolean, trade: PoolTrade, amount: bigint): PoolQuote {
  return trade === 'exactInput'
    ? quoteExactInput(state, zeroForOne, amount)
    : quoteExactOutput(state, zeroForOne, amount)
}

function isBetter(candidate: LegQuote, best: LegQuote, trade: PoolTrade): boolean {
  return trade === 'exactInput' ? candidate.amountOut > best.amountOut : candidate.amountIn < best.amountIn
}

function noPool(leg: Leg): QuoteError {
  return new QuoteError(
    'NO_SWAP_ROUTES_FOUND',
    `No pool on chain ${leg.chain.chainId} swaps ${pair(leg)} now.`,
    {
      data: { leg: legName(leg), chainId: leg.chain.chainId },
    },
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
const legName = ({ from, to }: Leg): string => `${from.symbol}->${to.symbol}`
