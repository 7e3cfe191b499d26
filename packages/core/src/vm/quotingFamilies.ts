import { z } from 'zod'
import { bitcoinQuoting, bitcoinStepData } from './bitcoin/quoting/bitcoinQuoting.ts'
import { ethereumStepData } from './ethereum/quoting/encodeTransaction.ts'
import { ethereumQuoting } from './ethereum/quoting/ethereumQuoting.ts'
import { hyperliquidQuoting, hyperliquidStepData } from './hyperliquid/quoting/hyperliquidQuoting.ts'
import { lighterQuoting, lighterStepData } from './lighter/quoting/lighterQuoting.ts'
import type { QuotingFamily } from './quotingFamily.ts'
import { solanaQuoting, solanaStepData } from './solana/quoting/solanaQuoting.ts'
import { tronQuoting, tronStepData } from './tron/quoting/tronQuoting.ts'
import type { VmType } from './vmType.ts'

export type QuotingFamilies = Readonly<Partial<Record<VmType, QuotingFamily>>>

/** One line per family that can be quoted; chains of all others are refused. */
export const quotingFamilies: QuotingFamilies = {
  'bitcoin-vm': bitcoinQuoting,
  'ethereum-vm': ethereumQuoting,
  'hyperliquid-vm': hyperliquidQuoting,
  'lighter-vm': lighterQuoting,
  'solana-vm': solanaQuoting,
  'tron-vm': tronQuoting,
}

/** Form of `items[].data` of transaction steps: the union of what these families encode. */
export const stepDataSchema = z.union([
  ethereumStepData,
  solanaStepData,
  bitcoinStepData,
  tronStepData,
  lighterStepData,
  hyperliquidStepData,
])
