import {
  type AssetClass,
  ConfigurationError,
  type Currency,
  type CurrencyKey,
  currencyKey,
  type NetworkOf,
} from '@causeway/core'
import {
  type ChainEntry,
  feeModelClass,
  type QuoteAsset,
  type QuoteChain,
  type QuoteFile,
} from '@causeway/core/config'
import {
  type ChainNetwork,
  codecOf,
  currencyProblem,
  type VmCodec,
  type VmType,
} from '@causeway/core/encodings'
import {
  addressSettings,
  type ChainQuoting,
  createPayeeRule,
  type PayeeRule,
  type PayeeSettings,
  type QuotingFamilies,
  type QuotingFamily,
  quotingFamilies,
} from '@causeway/families/rules'

/** A currency that can be quoted, with everything that is known before a request arrives. */
export type QuotableCurrency = Currency & {
  readonly key: CurrencyKey
  readonly asset: QuoteAsset
  readonly assetClass: AssetClass
  /** The solver keeps inventory of it on this chain. */
  readonly solver: boolean
  /** Standard of the token's own signed permit. */
  readonly permit: 'eip3009' | 'eip2612' | 'none'
  /** The token demands that an allowance is reset to zero before it changes. */
  readonly resetsAllowance: boolean
  /** Token program of the currency, in families with several; absent: the family's default. */
  readonly tokenProgram?: string
}

/** A configured chain with its family's rules and its currencies. */
export type QuotableChain = {
  /** String id, as orders name the chain. */
  readonly key: string
  readonly chainId: number
  readonly vmType: VmType
  readonly codec: VmCodec
  /** Rules of the chain's family. */
  readonly quoting: ChainQuoting
  readonly config: QuoteChain
  /** Canonical address. */
  readonly depository: string
  /** Tells which accounts are never paid there. */
  readonly payees: PayeeRule
  readonly native: QuotableCurrency
  /** Undefined where the configuration lists none. */
  readonly wrappedNative: QuotableCurrency | undefined
  /** By canonical address. */
  readonly currencies: ReadonlyMap<string, QuotableCurrency>
  /** Currencies that the solver keeps inventory of here. */
  readonly solverCurrencies: readonly QuotableCurrency[]
}

/** Chains and currencies that can be quoted. Built once at start; look-ups take constant time. */
export type QuoteRegistry = {
  readonly chains: readonly QuotableChain[]
  readonly chainById: ReadonlyMap<number, QuotableChain>
  readonly networkByKey: NetworkOf
}

/** Members of an entry of the chains file that quoting needs. */
export type ListedChain = Pick<ChainEntry, 'id' | 'vmType' | 'depository'> &
  PayeeSettings['listed'] &
  ChainNetwork

/**
 * Joins the quote file with the chains file.
 * @param file the quote file: chains, currencies and assets that can be quoted
 * @param chains entries of the chains file
 * @param options.families those that can be quoted
 * @param options.custody where top-ups of sponsors go, which is paid nothing else
 * @throws ConfigurationError naming every chain and currency that does not fit together
 */
export function createRegistry(
  file: QuoteFile,
  chains: readonly ListedChain[],
  { families = quotingFamilies, custody }: RegistryOptions = {},
): QuoteRegistry {
  const entries = new Map(chains.map((entry) => [entry.id, entry]))
  const assets = new Map(file.assets.map((asset) => [asset.id, asset]))
  const problems: string[] = []
  const quotable: QuotableChain[] = []
  for (const [key, config] of Object.entries(file.chains)) {
    const entry = entries.get(key)
    if (entry?.depository === undefined) {
      problems.push(`chains.${key}: no depository in the chains file`)
      continue
    }
    const family = families[entry.vmType]
    if (family === undefined) {
      problems.push(`chains.${key}: a chain of ${entry.vmType} cannot be quoted`)
      continue
    }
    if (feeModelClass(config.feeModel) !== family.feeModel) {
      problems.push(`chains.${key}.feeModel: ${config.feeModel.kind} is none of ${entry.vmType}`)
      continue
    }
    for (const setting of addressSettings)
      if (config[setting] !== undefined && setting !== family.addressSetting)
        problems.push(`chains.${key}.${setting}: chains of ${entry.vmType} make no deposit addresses with it`)
    const { depository } = entry
    quotable.push(quotableChain({ key, config, entry, family, assets, problems, depository, file, custody }))
  }
  if (problems.length > 0) throw new ConfigurationError(`Bad quote configuration:\n${problems.join('\n')}`)
  return {
    chains: quotable,
    chainById: new Map(quotable.map((chain) => [chain.chainId, chain])),
    networkByKey: (chainKey) => entries.get(chainKey),
  }
}

type RegistryOptions = { readonly families?: QuotingFamilies; readonly custody?: string | undefined }

type ChainParts = {
  readonly key: string
  readonly config: QuoteChain
  readonly entry: ListedChain
  readonly family: QuotingFamily
  readonly depository: string
  readonly assets: ReadonlyMap<string, QuoteAsset>
  /** Problems found so far, in words for an operator; further ones are added. */
  readonly problems: string[]
  readonly file: QuoteFile
  readonly custody: string | undefined
}

function quotableChain(parts: ChainParts): QuotableChain {
  const { key, config, entry, family, file, custody } = parts
  const { vmType, network } = entry
  const { chainId, depositRouter, depositAddresses, depositAddressProgram, depositAddressKey } = config
  const codec = codecOf(entry)
  const depository = codec.canonicalAddress(parts.depository)
  const currencies = currenciesOf(parts, codec)
  const native = currencies.get(codec.canonicalAddress(codec.nativeCurrency))
  // Thrown at once, before other problems are collected: no `QuotableChain` can be made without it.
  if (native === undefined) throw new ConfigurationError(`chains.${key}: the native currency is not listed`)
  return {
    key,
    chainId,
    vmType,
    codec,
    config,
    depository,
    native,
    currencies,
    quoting: family.bind({
      chainId,
      chainKey: key,
      codec,
      network,
      depository,
      wrappedNative: config.wrappedNative,
      depositRouter,
      depositAddresses,
      depositAddressProgram,
      depositAddressKey,
      leastOutput: 'leastOutputSat' in config.feeModel ? config.feeModel.leastOutputSat : undefined,
    }),
    payees: createPayeeRule({ codec, family, listed: entry, config, file, custody }),
    // No currency has the empty address.
    wrappedNative: currencies.get(config.wrappedNative ?? ''),
    solverCurrencies: [...currencies.values()].filter((currency) => currency.solver),
  }
}

/** Currencies by canonical address. A wrong one is added to the problems. */
function currenciesOf(
  { key, config: { chainId, currencies }, assets, problems }: ChainParts,
  codec: VmCodec,
): ReadonlyMap<string, QuotableCurrency> {
  const byAddress = new Map<string, QuotableCurrency>()
  for (const currency of currencies) {
    const { asset: assetId, logoUri, address: spelled, tokenProgram } = currency
    const { symbol, name, decimals, solver, permit, resetsAllowance } = currency
    const asset = assets.get(assetId)
    if (asset === undefined) {
      problems.push(`chains.${key}: ${symbol} names the unknown asset ${assetId}`)
      continue
    }
    const problem = currencyProblem(codec, spelled)
    if (problem !== undefined) {
      problems.push(`chains.${key}: ${symbol} cannot be ${spelled}: ${problem}`)
      continue
    }
    const address = codec.canonicalAddress(spelled)
    byAddress.set(address, {
      chainId,
      address,
      symbol,
      name,
      decimals,
      ...(logoUri !== '' && { logoUri }),
      isNative: address === codec.canonicalAddress(codec.nativeCurrency),
      key: currencyKey(chainId, address),
      asset,
      assetClass: asset.class,
      solver,
      permit,
      resetsAllowance,
      ...(tokenProgram !== undefined && { tokenProgram }),
    })
  }
  return byAddress
}

/** A currency by any spelling of its address; undefined when the chain does not list it. */
export function findCurrency(chain: QuotableChain, address: string): QuotableCurrency | undefined {
  // Most callers send the canonical spelling, so it is tried before the address is decoded.
  const direct = chain.currencies.get(address)
  if (direct !== undefined || !chain.codec.isAddress(address)) return direct
  return chain.currencies.get(chain.codec.canonicalAddress(address))
}
