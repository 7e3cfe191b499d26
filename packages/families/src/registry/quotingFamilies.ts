import type { VmType } from '@causeway/core'
import { z } from 'zod'
import { bitcoinQuoting, bitcoinStepData } from '../bitcoin/rules/quoting/bitcoinQuoting.ts'
import { ethereumStepData } from '../ethereum/rules/quoting/encodeTransaction.ts'
import { ethereumQuoting } from '../ethereum/rules/quoting/ethereumQuoting.ts'
import { hyperliquidQuoting, hyperliquidStepData } from '../hyperliquid/rules/quoting/hyperliquidQuoting.ts'
import { lighterQuoting, lighterStepData } from '../lighter/rules/quoting/lighterQuoting.ts'
import type { QuotingFamily } from '../rules/quotingFamily.ts'
import { solanaQuoting, solanaStepData } from '../solana/rules/quoting/solanaQuoting.ts'
import { tronQuoting, tronStepData } from '../tron/rules/quoting/tronQuoting.ts'

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
