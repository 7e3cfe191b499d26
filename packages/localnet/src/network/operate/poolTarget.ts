import { type Hex, pow10, sqrtPriceX96FromAmounts } from '@causeway/core'
import type { ChainDeployment, PoolDeployment } from '../../contracts/deployment.ts'
import type { PriceKey } from '../refreshFeeds.ts'

/** Answers of all feeds of a chain: USD with 8 decimals. */
export type Answers = Readonly<Record<PriceKey, bigint>>

export type PricedToken = { readonly address: Hex; readonly decimals: number; readonly price: PriceKey }

/** The tokens that pools trade, with the feed that prices each. */
export function pricedTokens({
  wrappedNative,
  tokens,
}: Pick<ChainDeployment, 'wrappedNative' | 'tokens'>): readonly PricedToken[] {
  return [
    { address: wrappedNative, decimals: 18, price: 'ETH/USD' },
    { address: tokens.USDC, decimals: 6, price: 'USDC/USD' },
    { address: tokens.USDX, decimals: 6, price: 'USDX/USD' },
    { address: tokens.TIDE, decimals: 18, price: 'TIDE/USD' },
  ]
}

/** A pool with both of its tokens. */
export type PoolSides = {
  readonly pool: PoolDeployment
  readonly token0: PricedToken
  readonly token1: PricedToken
}

/** The pools in which a price decides one side. @throws Error when a pool trades an unpriced token */
export function poolsPricedBy(
  price: PriceKey,
  { pools, tokens }: { readonly pools: readonly PoolDeployment[]; readonly tokens: readonly PricedToken[] },
): readonly PoolSides[] {
  const tokenAt = (address: Hex): PricedToken => {
    const token = tokens.find((candidate) => candidate.address === address)
    if (token === undefined) throw new Error(`no feed prices ${address}`)
    return token
  }
  return pools
    .map((pool) => ({ pool, token0: tokenAt(pool.token0), token1: tokenAt(pool.token1) }))
    .filter(({ token0, token1 }) => token0.price === price || token1.price === price)
}

/**
 * Pool price that agrees with the feeds: √(token1 per token0)·2⁹⁶, rounded down.
 * @param answers USD per whole token, all with the same decimals
 * @throws RangeError when an answer is not positive
 */
export function targetSqrtPriceX96({ token0, token1 }: Omit<PoolSides, 'pool'>, answers: Answers): bigint {
  // Each amount, in smallest units, is worth the product of both prices, so both are worth the same.
  return sqrtPriceX96FromAmounts({
    amount0: answers[token1.price] * pow10(token0.decimals),
    amount1: answers[token0.price] * pow10(token1.decimals),
  })
}

const feedDecimals = 8

/** Smallest units of a token that are worth so many whole USD, rounded down. */
export function unitsWorth(token: PricedToken, usd: bigint, answers: Answers): bigint {
  return (usd * pow10(feedDecimals) * pow10(token.decimals)) / answers[token.price]
}
