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

/** Why a chain of the configuration cannot be read here: names of settings; empty when it can. */
export function missingSettings(chain: RegisteredChain): readonly string[] {
  const missing = chainFamilies[chain.vmType].missing(chain)
  return [...(chain.depository === undefined ? ['depository'] : []), ...missing]
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
      const reader = options && chainFamilies[chain.vmType].quoting?.network?.reader(options)
      return reader === undefined ? [] : [[key, reader] as const]
    }),
  )
}

/** Contradictions between the chain itself and its configuration; none for other families. @throws upstream errors */
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

/** True for a chain whose market data its family reads, not contract calls. */
function isOfNetwork(feeModel: QuoteChain['feeModel']): feeModel is NetworkReaderOptions['feeModel'] {
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

/** Payer of chains by a fill contract; `undefined` where they are paid on in another way. */
export function contractPayingFamily({
  vmType,
}: Pick<RegisteredChain, 'vmType'>): ContractPayingFamily | undefined {
  const { paying } = chainFamilies[vmType]
  return paying?.by === 'fill-contract' ? paying.family : undefined
}

/** Payer of chains by marked transactions; `undefined` where they are paid on in another way. */
export function payingFamily({ vmType }: Pick<RegisteredChain, 'vmType'>): PayingChainFamily | undefined {
  const { paying } = chainFamilies[vmType]
  return paying?.by === 'marked-transactions' ? paying.family : undefined
}

/** Payer of chains by a line of outputs; `undefined` where they are paid on in another way. */
export function linePayingFamily({ vmType }: Pick<RegisteredChain, 'vmType'>): LinePayingFamily | undefined {
  const { paying } = chainFamilies[vmType]
  return paying?.by === 'outputs' ? paying.family : undefined
}

/** Least seconds before its deadline with which a payment is begun there; 0 where payments take no time to speak of. */
export function payingSeconds({ vmType }: Pick<RegisteredChain, 'vmType'>): number {
  const { paying } = chainFamilies[vmType]
  return paying === undefined || paying.by === 'fill-contract' ? 0 : paying.family.landsWithinSeconds
}

/** Variables of keys whose families sign payments in their own way. */
export function payingKeySettings(): readonly string[] {
  return Object.values(chainFamilies).flatMap(({ paying }) =>
    paying === undefined || paying.by === 'fill-contract' ? [] : paying.family.keySetting,
  )
}

/** Variables of the second keys that some of them sign with, each in a form of its own. */
export function payingApiKeySettings(): readonly string[] {
  return Object.values(chainFamilies).flatMap(({ paying }) =>
    paying?.by === 'marked-transactions' ? (paying.family.apiKeySetting ?? []) : [],
  )
}

/**
 * The chain with each rule of finality that holds where a block is as deep; the chain as it is where the family has no
 * depths to choose. What the chain calls final comes last: what is read there stays.
 * @source F-101
 */
export function atDepth<Chain extends RegisteredChain>(chain: Chain, rule: DepthRule): readonly Chain[] {
  const finalities = chainFamilies[chain.vmType].depthOf?.(rule)
  return finalities === undefined ? [chain] : finalities.map((finality) => ({ ...chain, finality }))
}

/** Opens the reading by which settlement follows a chain. @throws ConfigurationError when it has no depository */
export function openSettlingChain(
  chain: RegisteredChain,
  client: ChainClient,
  reading: Omit<Parameters<SettlingChainFamily>[0], 'chain' | 'client'>,
): SettlingChain {
  return chainFamilies[chain.vmType].settling({ chain, client, ...reading })
}
