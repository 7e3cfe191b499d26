import type { Hex } from '@causeway/core'

/** Real chain ids. */
export const localChainIds = { base: 8453, optimism: 10, hub: 537713 } as const

/** Symbols of the tokens deployed on base and optimism. USDC and USDX: 6 decimals, TIDE: 18. */
export type TokenSymbol = 'USDC' | 'USDX' | 'TIDE'

/** Prices in USD for which each user chain has a feed contract. */
export type FeedKey = 'ETH/USD' | 'USDC/USD' | 'USDX/USD' | 'TIDE/USD' | 'SOL/USD' | 'BTC/USD' | 'TRX/USD'

/** Builds a record by calling `make` once per feed. */
export function forEachFeed<Value>(make: (key: FeedKey) => Value): Readonly<Record<FeedKey, Value>> {
  return {
    'ETH/USD': make('ETH/USD'),
    'USDC/USD': make('USDC/USD'),
    'USDX/USD': make('USDX/USD'),
    'TIDE/USD': make('TIDE/USD'),
    'SOL/USD': make('SOL/USD'),
    'BTC/USD': make('BTC/USD'),
    'TRX/USD': make('TRX/USD'),
  }
}

/** A Uniswap v3 pool; `feePips` is its fee in hundredths of a basis point. */
export type PoolDeployment = {
  readonly address: Hex
  readonly token0: Hex
  readonly token1: Hex
  readonly feePips: number
  readonly tickSpacing: number
}

/** Addresses on one of the two user chains. All are lower case and do not depend on keys. */
export type ChainDeployment = {
  readonly chainKey: 'base' | 'optimism'
  readonly chainId: number
  readonly depository: Hex
  readonly fillContract: Hex
  readonly cleanupRouter: Hex
  readonly depositRouter: Hex
  readonly depositAddresses: {
    readonly contract: Hex
    /** Hash of the code that empties an address: a part of every address. */
    readonly sweepCodeHash: Hex
  }
  readonly permitRouter: {
    readonly contract: Hex
    /** Hash of the code that makes a permitted deposit: a part of every spender. */
    readonly depositCodeHash: Hex
  }
  readonly permit2Router: Hex
  readonly multicall3: Hex
  readonly wrappedNative: Hex
  readonly gasPriceOracle: Hex
  readonly tokens: Readonly<Record<TokenSymbol, Hex>>
  /** AggregatorV3 feeds with 8 decimals, by price key. */
  readonly feeds: Readonly<Record<FeedKey, Hex>>
  readonly uniswapV3: {
    readonly factory: Hex
    readonly quoterV2: Hex
    readonly swapRouter: Hex
    readonly positionManager: Hex
    readonly pools: readonly PoolDeployment[]
  }
}

/** Addresses of the settlement contracts on the hub; the payload builders encode the allocator's withdrawals. */
export type HubDeployment = {
  readonly chainId: number
  readonly hub: Hex
  readonly oracle: Hex
  readonly oracleMultisig: Hex
  readonly genericMapping: Hex
  readonly allocator: Hex
  readonly evmPayloadBuilder: Hex
  readonly solanaPayloadBuilder: Hex
  readonly bitcoinPayloadBuilder: Hex
  readonly hyperliquidPayloadBuilder: Hex
  readonly lighterPayloadBuilder: Hex
}

/**
 * Contracts of Tron, which run on Base's node. Their addresses differ from those of Base's own contracts, so that a
 * deposit on one chain is not taken for a deposit on the other.
 */
export type TronDeployment = {
  readonly depository: Hex
  readonly fillContract: Hex
  readonly usdc: Hex
}

/** All contracts of a local network; the manifest keeps it over restarts. */
export type NetworkDeployment = {
  readonly base: ChainDeployment
  readonly optimism: ChainDeployment
  readonly tron: TronDeployment
  readonly hub: HubDeployment
}
