import type { Hex } from '../hex.ts'
import { bitcoinFamily } from './bitcoin/family.ts'
import { type ChainNetwork, codecOf } from './codecs.ts'
import { ethereumFamily } from './ethereum/family.ts'
import type { Family } from './family.ts'
import { hyperliquidFamily } from './hyperliquid/family.ts'
import { lighterFamily } from './lighter/family.ts'
import { solanaFamily } from './solana/family.ts'
import { tronFamily } from './tron/family.ts'
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

/** Whether a contract is among some that a chain's configuration spells as its family does. */
export function listsContract(network: ChainNetwork, listed: readonly string[], contract: Hex): boolean {
  const { hexAddress } = families[network.vmType]
  const { isAddress } = codecOf(network)
  return (
    hexAddress !== undefined &&
    listed.some((address) => isAddress(address) && hexAddress(address) === contract)
  )
}
