import { ConfigurationError, type DepthRule } from '@causeway/core'
import { feeModelClass, type QuoteChain } from '@causeway/core/config'
import { codecOf, type VmType } from '@causeway/core/encodings'
import {
  type ChainFinding,
  type ContractPayingFamily,
  chainFamilies,
  type FamilyChain,
  type FamilyLimits,
  type HubEntries,
  type LinePayingFamily,
  type NetworkFacts,
  type NetworkQuestion,
  type NetworkReader,
  type NetworkReaderOptions,
  type PayingChainFamily,
  type QuotingChain,
  type QuotingChainOptions,
  type ReadableChain,
  type RegisteredChain,
  type SettlingChain,
  type SettlingChainFamily,
  type SignedDeposits,
  type SignedDepositsFamily,
} from '@causeway/families'
import type { ChainClient } from '@causeway/rpc'

// Services reach the code of a chain's family here. It is looked up by `vmType`: no caller names a family.

/** Names of the settings that a chain lacks to be read here; empty when it can be read. */
export function missingSettings(chain: RegisteredChain): readonly string[] {
  const missing = chainFamilies[chain.vmType].missing(chain)
  return [...(chain.depository === undefined ? ['depository'] : []), ...missing]
}

/** A chain that cannot be read stays listed, and is reported as not ready. */
export function isReadable(chain: RegisteredChain): chain is ReadableChain {
  return missingSettings(chain).length === 0
}

/** Opens no connection yet. @throws ConfigurationError for settings that cannot be meant */
export function openFamilyChain(
  chain: ReadableChain,
  limits: FamilyLimits,
  hubEntries?: HubEntries,
): FamilyChain {
  return chainFamilies[chain.vmType].open(chain, limits, hubEntries)
}

/**
 * A client of a chain that is quoted or read for its prices; `undefined` where none can be: its family is not
 * quoted, or it has no endpoint. Opens no connection yet. @throws ConfigurationError for endpoints that are no URLs
 */
export function connectQuotingChain(chain: RegisteredChain): ChainClient | undefined {
  return chain.endpoints.length === 0 ? undefined : chainFamilies[chain.vmType].quoting?.connect(chain)
}

/** Unix seconds of a chain's newest block; `undefined` where its family does not tell. @throws upstream errors */
export async function headSeconds(
  { vmType }: Pick<RegisteredChain, 'vmType'>,
  client: ChainClient,
): Promise<number | undefined> {
  return chainFamilies[vmType].quoting?.headSeconds?.(client)
}

/** Reads the network of a chain as it is now; `undefined` where its family does not tell. @throws upstream errors */
export async function readNetworkFacts(
  { vmType }: Pick<RegisteredChain, 'vmType'>,
  question: NetworkQuestion,
): Promise<NetworkFacts | undefined> {
  return chainFamilies[vmType].quoting?.networkFacts?.(question)
}

/** Readers of market data, by chain key, for quoted chains that are not read by contract calls: all but EVM chains. */
export function openNetworkReaders(
  chains: ReadonlyMap<string, RegisteredChain>,
  quoted: Readonly<Record<string, QuoteChain>>,
  clients: ReadonlyMap<string, ChainClient>,
): ReadonlyMap<string, NetworkReader> {
  return new Map(
    Object.entries(quoted).flatMap(([key, config]) => {
      const [chain, client] = [chains.get(key), clients.get(key)]
      const options = chain && client && networkReaderOptions(chain, config, client)
      const reader = options && chainFamilies[chain.vmType].quoting?.network?.reader(options)
      return reader === undefined ? [] : [[key, reader] as const]
    }),
  )
}

/**
 * Contradictions between a chain that a network reader reads and its configuration. @throws upstream errors
 * @param isLocal true: endpoints outside of a local network are contradictions too
 */
export async function networkContradictions(
  chain: RegisteredChain,
  config: QuoteChain,
  client: ChainClient,
  isLocal: boolean,
): Promise<readonly ChainFinding[]> {
  const options = networkReaderOptions(chain, config, client)
  const network = chainFamilies[chain.vmType].quoting?.network
  return options === undefined ? [] : ((await network?.contradictions({ ...options, isLocal })) ?? [])
}

/** `undefined` for EVM chains, and for a chain without a depository, which cannot be quoted. */
function networkReaderOptions(
  chain: RegisteredChain,
  { feeModel, fillWallet, fillContract, depositAddressProgram, currencies }: QuoteChain,
  client: ChainClient,
): NetworkReaderOptions | undefined {
  if (!isReadByNetworkReader(feeModel)) return undefined
  if (chain.depository === undefined) return undefined
  const { canonicalAddress } = codecOf(chain)
  return {
    client,
    feeModel,
    network: chain.network,
    depository: canonicalAddress(chain.depository),
    hubChainId: chain.hubChainId,
    fillContract,
    depositAddressProgram,
    fillWallet: fillWallet === undefined ? undefined : canonicalAddress(fillWallet),
    currencies: currencies.map(({ address, decimals, tokenProgram }) => ({
      address: canonicalAddress(address),
      decimals,
      tokenProgram,
    })),
  }
}

/** True for a chain whose market data a `NetworkReader` reads; false for EVM chains, which contract calls read. */
function isReadByNetworkReader(
  feeModel: QuoteChain['feeModel'],
): feeModel is NetworkReaderOptions['feeModel'] {
  return feeModelClass(feeModel) !== 'gas'
}

/** @throws ConfigurationError when chains of the family are read and not quoted */
export function openQuotingChain(vmType: VmType, options: QuotingChainOptions): QuotingChain {
  const { quoting } = chainFamilies[vmType]
  if (quoting === undefined) throw new ConfigurationError(`a chain of ${vmType} cannot be quoted`)
  return quoting.open(options)
}

/** Deposits that users sign and others submit; `undefined` where the family has none. Opens no connection. */
export function openSignedDeposits(
  vmType: VmType,
  options: Parameters<SignedDepositsFamily>[0],
): SignedDeposits | undefined {
  return chainFamilies[vmType].quoting?.signedDeposits?.(options)
}

/** The family's way to pay through a fill contract; `undefined` for a family that pays in another way. */
export function contractPayingFamily({
  vmType,
}: Pick<RegisteredChain, 'vmType'>): ContractPayingFamily | undefined {
  const { paying } = chainFamilies[vmType]
  return paying?.by === 'fill-contract' ? paying.family : undefined
}

/** The family's way to pay by marked transactions; `undefined` for a family that pays in another way. */
export function payingFamily({ vmType }: Pick<RegisteredChain, 'vmType'>): PayingChainFamily | undefined {
  const { paying } = chainFamilies[vmType]
  return paying?.by === 'marked-transactions' ? paying.family : undefined
}

/** The family's way to pay by a line of transactions that spend outputs; `undefined` if it pays in another way. */
export function linePayingFamily({ vmType }: Pick<RegisteredChain, 'vmType'>): LinePayingFamily | undefined {
  const { paying } = chainFamilies[vmType]
  return paying?.by === 'outputs' ? paying.family : undefined
}

/**
 * Seconds before its deadline at which a payment must have begun; 0 where a fill contract pays at once, or
 * nothing is paid.
 */
export function payingSeconds({ vmType }: Pick<RegisteredChain, 'vmType'>): number {
  const { paying } = chainFamilies[vmType]
  return paying === undefined || paying.by === 'fill-contract' ? 0 : paying.family.landsWithinSeconds
}

/** Names of the variables that hold fill wallets' keys, of all families that pay without a fill contract. */
export function payingKeySettings(): readonly string[] {
  return Object.values(chainFamilies).flatMap(({ paying }) =>
    paying === undefined || paying.by === 'fill-contract' ? [] : paying.family.keySetting,
  )
}

/** Names of the variables that hold API keys, of the families whose payments need one beside the wallet's key. */
export function payingApiKeySettings(): readonly string[] {
  return Object.values(chainFamilies).flatMap(({ paying }) =>
    paying?.by === 'marked-transactions' ? (paying.family.apiKeySetting ?? []) : [],
  )
}

/**
 * One copy of the chain for each rule of finality that a block must satisfy to be as deep as `rule` asks; the chain
 * itself where its family has no depths to choose. The chain's own finality comes last, because no reorg undoes it.
 * @source F-101
 */
export function chainsAtDepth<Chain extends RegisteredChain>(
  chain: Chain,
  rule: DepthRule,
): readonly Chain[] {
  const finalities = chainFamilies[chain.vmType].depthOf?.(rule)
  return finalities === undefined ? [chain] : finalities.map((finality) => ({ ...chain, finality }))
}

/** Opens the chain for quote-api's settlement. @throws ConfigurationError when it has no depository */
export function openSettlingChain(
  chain: RegisteredChain,
  client: ChainClient,
  reading: Omit<Parameters<SettlingChainFamily>[0], 'chain' | 'client'>,
): SettlingChain {
  return chainFamilies[chain.vmType].settling({ chain, client, ...reading })
}
