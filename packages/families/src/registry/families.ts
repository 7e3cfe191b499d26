import type { Hex } from '@causeway/core'
import type { VmType } from '@causeway/core/encodings'
import { type ChainNetwork, codecOf } from '@causeway/core/encodings'
import { bitcoinFamily } from '../bitcoin/rules/family.ts'
import { ethereumFamily } from '../ethereum/rules/family.ts'
import { hyperliquidFamily } from '../hyperliquid/rules/family.ts'
import { lighterFamily } from '../lighter/rules/family.ts'
import type { Family } from '../rules/family.ts'
import { solanaFamily } from '../solana/rules/family.ts'
import { tronFamily } from '../tron/rules/family.ts'

/** One line per family, in the order in which descriptions list forms of steps. @source F-167 */
const registered = {
  'ethereum-vm': ethereumFamily,
  'solana-vm': solanaFamily,
  'bitcoin-vm': bitcoinFamily,
  'tron-vm': tronFamily,
  'lighter-vm': lighterFamily,
  'hyperliquid-vm': hyperliquidFamily,
} satisfies Readonly<Record<VmType, Family>>

export type RegisteredFamily = (typeof registered)[VmType]

/** Pure rules of each family; code that opens connections is in `chainFamilies`. */
export const families: Readonly<Record<VmType, Family>> = registered

/** True if a contract, as 20 bytes of hex, is among the configured addresses `listed`, in the family's spelling. */
export function listsContract(network: ChainNetwork, listed: readonly string[], contract: Hex): boolean {
  const { hexAddress } = families[network.vmType]
  const { isAddress } = codecOf(network)
  return (
    hexAddress !== undefined &&
    listed.some((address) => isAddress(address) && hexAddress(address) === contract)
  )
}
