import { addressWord, type Hex, type PoolConfig, uintWord } from '@causeway/core'
import { readAbi, readUintResult } from '../contracts/abiReader.ts'
import type { ContractCall } from '../contracts/multicall.ts'

/** The reads of a Uniswap V3 pool and its factory. @source Uniswap V3 core, IUniswapV3PoolState */
export const slot0Call = (pool: Hex): ContractCall => ({ target: pool, callData: '0x3850c7bd' })
export const liquidityCall = (pool: Hex): ContractCall => ({ target: pool, callData: '0x1a686502' })
export const tickSpacingCall = (pool: Hex): ContractCall => ({ target: pool, callData: '0xd0c93a7c' })

/** One word of 256 ticks, counted in tick spacings. */
export const tickBitmapCall = (pool: Hex, word: number): ContractCall => ({
  target: pool,
  callData: `0x5339c296${signedWord(word)}`,
})

export const tickCall = (pool: Hex, tick: number): ContractCall => ({
  target: pool,
  callData: `0xf30dba93${signedWord(tick)}`,
})

export const getPoolCall = (factory: Hex, { token0, token1, feePips }: PoolConfig): ContractCall => ({
  target: factory,
  callData: `0x1698ee82${addressWord(token0)}${addressWord(token1)}${uintWord(BigInt(feePips))}`,
})

export type Slot0 = { readonly sqrtPriceX96: bigint; readonly tick: number }

/** All throw MalformedAnswerError on data that is too short. */
export function readSlot0(data: Hex): Slot0 {
  const reader = readAbi(data, 'slot0')
  return { sqrtPriceX96: reader.uint(0), tick: Number(BigInt.asIntN(24, reader.uint(32))) }
}

export type TickLiquidity = {
  /** Liquidity of all positions that begin or end here: the tick is initialised while it is above zero. */
  readonly gross: bigint
  /** What crossing it upwards adds. */
  readonly net: bigint
}

export function readTick(data: Hex): TickLiquidity {
  const reader = readAbi(data, 'ticks')
  return { gross: reader.uint(0), net: BigInt.asIntN(128, reader.uint(32)) }
}

export function readTickSpacing(data: Hex): number {
  return Number(BigInt.asIntN(24, readUintResult(data, 'tickSpacing')))
}

/** An address, lower case. */
export function readAddress(data: Hex): Hex {
  return `0x${readUintResult(data, 'address').toString(16).padStart(40, '0')}`
}

/** Two's complement, as the ABI encodes signed integers. */
function signedWord(value: number): string {
  return uintWord(BigInt.asUintN(256, BigInt(value)))
}
