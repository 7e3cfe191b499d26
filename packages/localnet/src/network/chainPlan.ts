import { localChainIds } from '../contracts/deployment.ts'

/** The three chains of a local network, in the order of their ports. */
export const chainKeys = ['base', 'optimism', 'hub'] as const
export type ChainKey = (typeof chainKeys)[number]

export type ChainPlan = {
  readonly key: ChainKey
  readonly chainId: number
  /** For people. */
  readonly name: string
  /** Base fee of a block until an operator changes it, in wei; of the order of the real chain. */
  readonly baseFeeWei: bigint
}

export const chainPlans: Readonly<Record<ChainKey, ChainPlan>> = {
  base: { key: 'base', chainId: localChainIds.base, name: 'Base', baseFeeWei: 10_000_000n },
  optimism: { key: 'optimism', chainId: localChainIds.optimism, name: 'Optimism', baseFeeWei: 5_000_000n },
  hub: { key: 'hub', chainId: localChainIds.hub, name: 'Hub', baseFeeWei: 1_000_000n },
}

export function isChainKey(value: string): value is ChainKey {
  return chainKeys.some((key) => key === value)
}

/** Builds a record by calling `make` once per chain, side by side. */
export async function forEachChain<T>(
  make: (key: ChainKey) => Promise<T>,
): Promise<Readonly<Record<ChainKey, T>>> {
  const [base, optimism, hub] = await Promise.all([make('base'), make('optimism'), make('hub')])
  return { base, optimism, hub }
}
