import type { Hex } from '@causeway/core'
import type { PoolConfig } from '@causeway/core/config'
import { unlessMalformed } from '../contracts/abiReader.ts'
import type { ContractCall } from '../contracts/multicall.ts'
import { contractInterface } from '../rules/contractInterface.ts'

/** Returns are listed as far as they are read. @source Uniswap V3 core, IUniswapV3PoolState, IUniswapV3Factory */
const uniswap = contractInterface([
  'function slot0() view returns (uint160 sqrtPriceX96, int24 tick)',
  'function liquidity() view returns (uint128)',
  'function tickSpacing() view returns (int24)',
  'function tickBitmap(int16 word) view returns (uint256)',
  'function ticks(int24 tick) view returns (uint128 gross, int128 net)',
  'function getPool(address token0, address token1, uint24 fee) view returns (address)',
])

/** The reads of a Uniswap V3 pool and its factory. */
export const slot0Call = (pool: Hex): ContractCall => ({
  target: pool,
  callData: uniswap.encode('slot0', []),
})
export const liquidityCall = (pool: Hex): ContractCall => ({
  target: pool,
  callData: uniswap.encode('liquidity', []),
})
export const tickSpacingCall = (pool: Hex): ContractCall => ({
  target: pool,
  callData: uniswap.encode('tickSpacing', []),
})

/** One word of 256 ticks, counted in tick spacings. */
export const tickBitmapCall = (pool: Hex, word: number): ContractCall => ({
  target: pool,
  callData: bitmapData(word),
})

/** Calldata by word. All pools are asked for the same words, up to 6,932, so each is encoded only once. */
const knownBitmapData = new Map<number, Hex>()

function bitmapData(word: number): Hex {
  const data = knownBitmapData.get(word) ?? uniswap.encode('tickBitmap', [word])
  knownBitmapData.set(word, data)
  return data
}

export const tickCall = (pool: Hex, tick: number): ContractCall => ({
  target: pool,
  callData: uniswap.encode('ticks', [tick]),
})

export const getPoolCall = (factory: Hex, { token0, token1, feePips }: PoolConfig): ContractCall => ({
  target: factory,
  callData: uniswap.encode('getPool', [token0, token1, feePips]),
})

export type Slot0 = { readonly sqrtPriceX96: bigint; readonly tick: number }

// Decoders of the calls above. All throw MalformedAnswerError on data that does not fit.

export function readSlot0(data: Hex): Slot0 {
  const [sqrtPriceX96, tick] = unlessMalformed('slot0', () => uniswap.decode('slot0', data))
  return { sqrtPriceX96, tick }
}

export const readLiquidity = (data: Hex): bigint =>
  unlessMalformed('liquidity', () => uniswap.decode('liquidity', data))

export type TickLiquidity = {
  /** Liquidity of all positions that begin or end here: the tick is initialised while it is above zero. */
  readonly gross: bigint
  /** Net liquidity added when the tick is crossed upwards. */
  readonly net: bigint
}

export function readTick(data: Hex): TickLiquidity {
  const [gross, net] = unlessMalformed('ticks', () => uniswap.decode('ticks', data))
  return { gross, net }
}

export const readTickBitmap = (data: Hex): bigint =>
  unlessMalformed('tickBitmap', () => uniswap.decode('tickBitmap', data))

export const readTickSpacing = (data: Hex): number =>
  unlessMalformed('tickSpacing', () => uniswap.decode('tickSpacing', data))

/** An address, lower case. */
export function readPoolAddress(data: Hex): Hex {
  const address = unlessMalformed('getPool', () => uniswap.decode('getPool', data))
  return `0x${address.slice(2).toLowerCase()}`
}
