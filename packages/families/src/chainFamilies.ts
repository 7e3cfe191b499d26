import type { VmType } from '@causeway/core/encodings'
import { bitcoinChainFamily } from './bitcoin/chainFamily.ts'
import type { LinePayingFamily } from './bitcoin/paying/linePayingChain.ts'
import { ethereumChainFamily } from './ethereum/chainFamily.ts'
import type { ContractPayingFamily } from './ethereum/paying/contractPayingChain.ts'
import { hyperliquidChainFamily } from './hyperliquid/chainFamily.ts'
import { lighterChainFamily } from './lighter/chainFamily.ts'
import type { ChainFamily } from './shared/chainFamily.ts'
import { solanaChainFamily } from './solana/chainFamily.ts'
import { tronChainFamily } from './tron/chainFamily.ts'

/** Each family's code that opens connections; `registry/families.ts` has its pure rules. @source F-167 */
export const chainFamilies: Readonly<Record<VmType, ChainFamily<LinePayingFamily, ContractPayingFamily>>> = {
  'bitcoin-vm': bitcoinChainFamily,
  'ethereum-vm': ethereumChainFamily,
  'hyperliquid-vm': hyperliquidChainFamily,
  'lighter-vm': lighterChainFamily,
  'solana-vm': solanaChainFamily,
  'tron-vm': tronChainFamily,
}
