export type { FaultCounters } from './faultProxy/counting.ts'
export type { FaultMode, SeenCall } from './faultProxy/faultMode.ts'
export { type FaultProxy, type SeenRequest, startFaultProxy } from './faultProxy/faultProxy.ts'
export { type Anvil, type AnvilOptions, freePort, startAnvil } from './nodes/anvil.ts'
export type { LocalClients } from './uniswap/clients.ts'
export { deployUniswapV3, type UniswapV3Deployment } from './uniswap/deployUniswapV3.ts'
export { approveAll, createPool, type PriceRatio } from './uniswap/pools.ts'
export { type PoolTestbed, startPoolTestbed } from './uniswap/poolTestbed.ts'
export {
  burnLiquidity,
  ensurePosition,
  type MintedPosition,
  type MintPosition,
  mintPosition,
  type PositionRange,
} from './uniswap/positions.ts'
export { swapExactInput } from './uniswap/swap.ts'
