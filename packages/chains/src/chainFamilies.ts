import { ConfigurationError, type VmType } from '@causeway/core'
import { missingBitcoinSettings, openBitcoinChain } from './bitcoin-vm/openBitcoinChain.ts'
import type { RegisteredChain } from './config/chainRegistry.ts'
import { ethereumQuotingChain } from './ethereum-vm/ethereumQuotingChain.ts'
import { openEthereumChain } from './ethereum-vm/openEthereumChain.ts'
import type { ChainFamily, FamilyChain, FamilyLimits, ReadableChain } from './family/familyChain.ts'
import type { HubEntries } from './family/hubEntries.ts'
import type { QuotingChain, QuotingChainOptions } from './family/quotingChain.ts'
import { openHyperliquidChain } from './hyperliquid-vm/openHyperliquidChain.ts'
import { openLighterChain } from './lighter-vm/openLighterChain.ts'
import type { ChainClient } from './rpc/client.ts'
import { openSolanaChain } from './solana-vm/openSolanaChain.ts'
import { openTronChain } from './tron-vm/openTronChain.ts'

/** One line per family that can be read. */
const chainFamilies: Readonly<Partial<Record<VmType, ChainFamily>>> = {
  'bitcoin-vm': { open: openBitcoinChain, missing: missingBitcoinSettings },
  'ethereum-vm': { open: openEthereumChain, missing: withoutEndpoints, quoting: ethereumQuotingChain },
  'hyperliquid-vm': { open: openHyperliquidChain, missing: withoutEndpoints },
  'lighter-vm': { open: openLighterChain, missing: withoutEndpoints },
  'solana-vm': { open: openSolanaChain, missing: withoutEndpoints },
  'tron-vm': { open: openTronChain, missing: withoutEndpoints },
}

/** Why a chain of the configuration cannot be read here: names of settings; empty when it can. */
export function missingSettings(chain: RegisteredChain): readonly string[] {
  const family = chainFamilies[chain.vmType]
  if (family === undefined) return ['vmType']
  return [...(chain.depository === undefined ? ['depository'] : []), ...family.missing(chain)]
}

/** Chains that cannot be read stay listed and are not ready. */
export function isReadable(chain: RegisteredChain): chain is ReadableChain {
  return missingSettings(chain).length === 0
}

/** Opens no connection yet. @throws ConfigurationError for settings that cannot be meant */
export function openFamilyChain(
  chain: ReadableChain,
  limits: FamilyLimits,
  hubEntries?: HubEntries,
): FamilyChain {
  const family = chainFamilies[chain.vmType]
  if (family === undefined) throw new ConfigurationError(`chains: ${chain.vmType} cannot be read`)
  return family.open(chain, limits, hubEntries)
}

/**
 * A client of a chain that is quoted or read for its prices; `undefined` where none can be: its family is not
 * quoted, or it has no endpoint. Opens no connection yet. @throws ConfigurationError for endpoints that are no URLs
 */
export function connectQuotingChain(chain: RegisteredChain): ChainClient | undefined {
  const quoting = chainFamilies[chain.vmType]?.quoting
  return chain.endpoints.length === 0 ? undefined : quoting?.connect(chain)
}

/** @throws ConfigurationError for a family that is not quoted */
export function openQuotingChain(vmType: VmType, options: QuotingChainOptions): QuotingChain {
  const quoting = chainFamilies[vmType]?.quoting
  if (quoting === undefined) throw new ConfigurationError(`chains: ${vmType} cannot be quoted`)
  return quoting.open(options)
}

function withoutEndpoints({ ready }: RegisteredChain): readonly string[] {
  return ready ? [] : ['httpRpcUrl']
}
