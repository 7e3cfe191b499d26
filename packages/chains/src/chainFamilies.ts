import {
  ConfigurationError,
  codecOf,
  type DepthRule,
  type Finality,
  feeModelClass,
  type QuoteChain,
  type VmType,
} from '@causeway/core'
import type {
  ChainFinding,
  FamilyChain,
  FamilyLimits,
  HubEntries,
  LinePayingFamily,
  NetworkFacts,
  NetworkQuestion,
  NetworkReader,
  NetworkReaderOptions,
  PayingChainFamily,
  QuotingChain,
  QuotingChainOptions,
  ReadableChain,
  RegisteredChain,
  SettlingChain,
  SettlingChainFamily,
} from '@causeway/families'
import {
  bitcoinPaying,
  bitcoinQuotingChain,
  bitcoinSettlingChain,
  ethereumQuotingChain,
  hyperliquidPaying,
  hyperliquidQuotingChain,
  hyperliquidSettlingChain,
  lighterPaying,
  lighterQuotingChain,
  lighterSettlingChain,
  missingBitcoinSettings,
  openBitcoinChain,
  openEthereumChain,
  openHyperliquidChain,
  openLighterChain,
  openSolanaChain,
  openTronChain,
  solanaPaying,
  solanaQuotingChain,
  solanaSettlingChain,
  tronPaying,
  tronQuotingChain,
  tronSettlingChain,
} from '@causeway/families'
import type { ChainClient } from '@causeway/rpc'
import type { ChainFamily } from './chainFamily.ts'

/** One line per family that can be read. */
const chainFamilies: Readonly<Partial<Record<VmType, ChainFamily>>> = {
  'bitcoin-vm': {
    ...{ open: openBitcoinChain, missing: missingBitcoinSettings },
    ...{ quoting: bitcoinQuotingChain, settling: bitcoinSettlingChain, linePaying: bitcoinPaying },
    // Its rule counts the transaction's own block.
    depthOf: ({ blocks }) => [{ mode: 'depth', blocks: blocks + 1 }],
  },
  'ethereum-vm': {
    ...{ open: openEthereumChain, missing: withoutEndpoints, quoting: ethereumQuotingChain },
    depthOf: finalitiesOf,
  },
  'hyperliquid-vm': {
    ...{ open: openHyperliquidChain, missing: withoutEndpoints },
    ...{ quoting: hyperliquidQuotingChain, settling: hyperliquidSettlingChain, paying: hyperliquidPaying },
  },
  'lighter-vm': {
    ...{ open: openLighterChain, missing: withoutEndpoints },
    ...{ quoting: lighterQuotingChain, settling: lighterSettlingChain, paying: lighterPaying },
  },
  'solana-vm': {
    ...{ open: openSolanaChain, missing: withoutEndpoints },
    ...{ quoting: solanaQuotingChain, settling: solanaSettlingChain, paying: solanaPaying },
  },
  'tron-vm': {
    ...{ open: openTronChain, missing: withoutEndpoints },
    ...{ quoting: tronQuotingChain, settling: tronSettlingChain, paying: tronPaying },
    depthOf: finalitiesOf,
  },
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

/** Unix seconds of a chain's newest block; `undefined` where its family does not tell. @throws upstream errors */
export async function headSeconds(
  { vmType }: Pick<RegisteredChain, 'vmType'>,
  client: ChainClient,
): Promise<number | undefined> {
  return chainFamilies[vmType]?.quoting?.headSeconds?.(client)
}

/** Reads the network of a chain as it is now; `undefined` where its family does not tell. @throws upstream errors */
export async function readNetworkFacts(
  { vmType }: Pick<RegisteredChain, 'vmType'>,
  question: NetworkQuestion,
): Promise<NetworkFacts | undefined> {
  return chainFamilies[vmType]?.quoting?.networkFacts?.(question)
}

/** By chain key, readers of the quoted chains that no contract calls read. */
export function openNetworkReaders(
  chains: ReadonlyMap<string, RegisteredChain>,
  quoted: Readonly<Record<string, QuoteChain>>,
  clients: ReadonlyMap<string, ChainClient>,
): ReadonlyMap<string, NetworkReader> {
  return new Map(
    Object.entries(quoted).flatMap(([key, config]) => {
      const [chain, client] = [chains.get(key), clients.get(key)]
      const options = chain && client && networkReaderOptions(chain, config, client)
      const reader = options && chainFamilies[chain.vmType]?.quoting?.network?.reader(options)
      return reader === undefined ? [] : [[key, reader] as const]
    }),
  )
}

/** What such a chain says against its configuration; nothing of others. @throws upstream errors */
export async function networkContradictions(
  chain: RegisteredChain,
  config: QuoteChain,
  client: ChainClient,
  isLocal: boolean,
): Promise<readonly ChainFinding[]> {
  const options = networkReaderOptions(chain, config, client)
  const network = chainFamilies[chain.vmType]?.quoting?.network
  return options === undefined ? [] : ((await network?.contradictions({ ...options, isLocal })) ?? [])
}

function networkReaderOptions(
  chain: RegisteredChain,
  { feeModel, fillWallet, fillContract, depositAddressProgram, currencies }: QuoteChain,
  client: ChainClient,
): NetworkReaderOptions | undefined {
  if (!isOfNetwork(feeModel)) return undefined
  if (chain.depository === undefined) return undefined
  const { canonicalAddress } = codecOf(chain)
  return {
    ...{ client, feeModel, network: chain.network, depository: canonicalAddress(chain.depository) },
    ...{ hubChainId: chain.hubChainId, fillContract, depositAddressProgram },
    fillWallet: fillWallet === undefined ? undefined : canonicalAddress(fillWallet),
    currencies: currencies.map(({ address, decimals, tokenProgram }) => ({
      ...{ address: canonicalAddress(address), decimals, tokenProgram },
    })),
  }
}

/** Of a chain whose market is read by its family, not by calls of contracts. */
function isOfNetwork(feeModel: QuoteChain['feeModel']): feeModel is NetworkReaderOptions['feeModel'] {
  return feeModelClass(feeModel) !== 'gas'
}

/** @throws ConfigurationError for a family that is not quoted */
export function openQuotingChain(vmType: VmType, options: QuotingChainOptions): QuotingChain {
  const quoting = chainFamilies[vmType]?.quoting
  if (quoting === undefined) throw new ConfigurationError(`chains: ${vmType} cannot be quoted`)
  return quoting.open(options)
}

/** How chains of the family are paid on whose transactions expire; `undefined` where they cannot be. */
export function payingFamily({ vmType }: Pick<RegisteredChain, 'vmType'>): PayingChainFamily | undefined {
  return chainFamilies[vmType]?.paying
}

/** The same where chains keep coins in outputs. */
export function linePayingFamily({ vmType }: Pick<RegisteredChain, 'vmType'>): LinePayingFamily | undefined {
  return chainFamilies[vmType]?.linePaying
}

/** Less time than this before its deadline nobody begins to pay there; 0 where payments need no time to speak of. */
export function payingSeconds(chain: Pick<RegisteredChain, 'vmType'>): number {
  return (payingFamily(chain) ?? linePayingFamily(chain))?.landsWithinSeconds ?? 0
}

/** Variables of the keys that families pay with whose wallets sign in their own way. */
export function payingKeySettings(): readonly string[] {
  return Object.values(chainFamilies).flatMap(
    ({ paying, linePaying }) => paying?.keySetting ?? linePaying?.keySetting ?? [],
  )
}

/** Variables of the second keys that some of them sign with, each in a form of its own. */
export function payingApiKeySettings(): readonly string[] {
  return Object.values(chainFamilies).flatMap(({ paying }) => paying?.apiKeySetting ?? [])
}

/**
 * The chain with each rule of finality that holds where a block is as deep; the chain as it is where the family has no
 * depths to choose. What the chain calls final comes last: what is read there stays.
 * @source F-101
 */
export function atDepth<Chain extends RegisteredChain>(chain: Chain, rule: DepthRule): readonly Chain[] {
  const finalities = chainFamilies[chain.vmType]?.depthOf?.(rule)
  return finalities === undefined ? [chain] : finalities.map((finality) => ({ ...chain, finality }))
}

/** Finalities of families whose blocks tell their times and that have a tag for what is final. */
function finalitiesOf({ blocks, seconds, isFinalized }: DepthRule): readonly Finality[] {
  const byDepth: Finality =
    seconds > 0 ? { mode: 'depth-and-time', blocks, seconds } : { mode: 'depth', blocks }
  return isFinalized ? [byDepth, { mode: 'tag', tag: 'finalized' }] : [byDepth]
}

/**
 * What settlement reads of a chain; `undefined` where its family is read by events of contracts.
 * @throws ConfigurationError when the chain has no depository
 */
export function openSettlingChain(
  chain: RegisteredChain,
  client: ChainClient,
  reading: Omit<Parameters<SettlingChainFamily>[0], 'chain' | 'client'>,
): SettlingChain | undefined {
  return chainFamilies[chain.vmType]?.settling?.({ chain, client, ...reading })
}

function withoutEndpoints({ ready }: RegisteredChain): readonly string[] {
  return ready ? [] : ['httpRpcUrl']
}
