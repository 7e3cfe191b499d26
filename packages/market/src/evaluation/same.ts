import type { PoolState } from '@causeway/core'
import type { ChainMarket, ChainRefusal, GasPrice, PriceRefusal, UsdPrice } from '../snapshot.ts'

export function samePrice(a: UsdPrice | PriceRefusal, b: UsdPrice | PriceRefusal): boolean {
  if (a === b) return true
  if ('reason' in a || 'reason' in b) return 'reason' in a && 'reason' in b && a.reason === b.reason
  return (
    a.usdX18 === b.usdX18 &&
    a.updatedAtMs === b.updatedAtMs &&
    a.confidence === b.confidence &&
    a.spreadBps === b.spreadBps &&
    a.depegBps === b.depegBps
  )
}

/** Equal for a quote: everything but when it was last confirmed. */
export function sameChain(a: ChainMarket | ChainRefusal, b: ChainMarket | ChainRefusal): boolean {
  if (a === b) return true
  if ('reason' in a || 'reason' in b) return 'reason' in a && 'reason' in b && a.reason === b.reason
  return (
    a.head.hash === b.head.hash &&
    a.head.number === b.head.number &&
    a.head.timestampSeconds === b.head.timestampSeconds &&
    sameGas(a.gasPrice, b.gasPrice) &&
    sameRecord(a.gasUnits, b.gasUnits) &&
    sameRecord(a.l1DataFeeWei, b.l1DataFeeWei) &&
    sameMap(a.inventory, b.inventory) &&
    samePools(a.pools, b.pools)
  )
}

function sameGas(a: GasPrice, b: GasPrice): boolean {
  return (
    a.expectedWei === b.expectedWei &&
    a.maxFeePerGasWei === b.maxFeePerGasWei &&
    a.maxPriorityFeePerGasWei === b.maxPriorityFeePerGasWei
  )
}

function sameRecord<K extends string>(
  a: Readonly<Record<K, bigint>>,
  b: Readonly<Record<K, bigint>>,
): boolean {
  if (a === b) return true
  for (const key in a) if (a[key] !== b[key]) return false
  return true
}

function sameMap<K>(a: ReadonlyMap<K, bigint>, b: ReadonlyMap<K, bigint>): boolean {
  if (a.size !== b.size) return false
  for (const [key, value] of a) if (b.get(key) !== value) return false
  return true
}

/** A pool's state is fixed by its address and the block it was read at. */
function samePools(a: readonly PoolState[], b: readonly PoolState[]): boolean {
  return (
    a.length === b.length &&
    a.every((pool, index) => pool.address === b[index]?.address && pool.blockHash === b[index]?.blockHash)
  )
}
