import type { Hex } from '../hex.ts'
import { bitcoinFamily } from './bitcoin/family.ts'
import { ethereumFamily } from './ethereum/family.ts'
import type { Family } from './family.ts'
import { hyperliquidFamily } from './hyperliquid/family.ts'
import { lighterFamily } from './lighter/family.ts'
import { solanaFamily } from './solana/family.ts'
import { tronFamily } from './tron/family.ts'
import type { VmCodec } from './vmCodec.ts'
import type { VmType } from './vmType.ts'

/** One line per family. */
export const families: Readonly<Record<VmType, Family>> = {
  'ethereum-vm': ethereumFamily,
  'solana-vm': solanaFamily,
  'bitcoin-vm': bitcoinFamily,
  'hyperliquid-vm': hyperliquidFamily,
  'lighter-vm': lighterFamily,
  'tron-vm': tronFamily,
}

/** Which family a chain is of and, where the family's networks spell addresses differently, which network. */
export type ChainNetwork = {
  readonly vmType: VmType
  /** A chain's `additionalData.network`; `undefined` for the main network. */
  readonly network: string | undefined
}

export function mainNetwork(vmType: VmType): ChainNetwork {
  return { vmType, network: undefined }
}

/** Whether a contract is among some that a chain's configuration spells as its family does. */
export function listsContract(network: ChainNetwork, listed: readonly string[], contract: Hex): boolean {
  const { hexAddress } = families[network.vmType]
  const { isAddress } = codecOf(network)
  return (
    hexAddress !== undefined &&
    listed.some((address) => isAddress(address) && hexAddress(address) === contract)
  )
}

/**
 * The codec of a chain: the only way from a chain to a codec, so that no rule reads the addresses of
 * another network. @throws ConfigurationError when the family has no network of that name
 */
export function codecOf({ vmType, network }: ChainNetwork): VmCodec {
  return families[vmType].codec(network)
}
