import {
  addressesIn,
  type ChainRegistry,
  checkForeignAddresses,
  checkLocalEndpoints,
  loadChains,
  loadConfigFile,
  localAddressesOf,
  readConfigFiles,
  type Variables,
} from '@causeway/chains'
import {
  ConfigurationError,
  type QuoteFile,
  quoteFileSchema,
  type SolverFile,
  solverFileSchema,
} from '@causeway/core'
import type { SolverConfig } from './config.ts'

export type LoadedFiles = {
  readonly chains: ChainRegistry
  readonly quote: QuoteFile
  readonly solver: SolverFile
}

/**
 * The chain, quote and solver files of the environment, with placeholders resolved and the guards between local and
 * real networks applied. @throws ConfigurationError naming every problem
 */
export async function loadFiles(
  { environment, configDirectory, isLocal }: SolverConfig,
  variables: Variables,
  fillWallet: string,
): Promise<LoadedFiles> {
  const names = [`chains.${environment}.json`, `quote.${environment}.json`, `solver.${environment}.json`]
  const [chainsJson, quoteJson, solverJson] = await readConfigFiles(configDirectory, names)
  // The quote file names the wallet whose inventory is quoted; here it is the one that pays.
  const known = { ...variables, FILL_WALLET_ADDRESS: fillWallet }
  const chains = loadChains({ environment, chainsJson, variables: known })
  const shared = { environment, variables: known }
  const quote = loadConfigFile(quoteFileSchema, { name: names[1] ?? '', json: quoteJson, ...shared })
  const solver = loadConfigFile(solverFileSchema, { name: names[2] ?? '', json: solverJson, ...shared })
  const problems = [
    ...payingProblems(chains, quote, solver),
    ...checkLocalEndpoints(chains),
    ...checkForeignAddresses({
      environment,
      addresses: [
        { setting: "The fill wallet's key", address: fillWallet },
        ...addressesIn(chainsJson, 'chains'),
        ...addressesIn(quote, 'quote'),
        ...addressesIn(solver, 'solver'),
      ],
      localAddresses: localAddressesOf(isLocal ? [] : await localFiles(configDirectory)),
    }),
  ]
  if (problems.length > 0) throw new ConfigurationError(`Unsafe configuration:\n- ${problems.join('\n- ')}`)
  return { chains, quote, solver }
}

/** A chain that the solver is to pay on is quoted, can be read, and has a fill contract that oracles know. */
function payingProblems(
  { chains }: ChainRegistry,
  quote: QuoteFile,
  { chains: paying }: SolverFile,
): readonly string[] {
  return Object.keys(paying).flatMap((key) => {
    const config = quote.chains[key]
    const chain = chains.get(key)
    if (config === undefined || chain === undefined)
      return [`solver: chains.${key} is not in the quote file and the chains file`]
    if (config.fillContract === undefined) return [`quote: chains.${key}.fillContract is needed to pay there`]
    const listed = (chain.fillContracts ?? []).map((one) => one.toLowerCase())
    return [
      ...(chain.ready
        ? []
        : [`chains: ${key} has no endpoint: set ${chain.unsetVariables.join(', ') || 'httpRpcUrl'}`]),
      ...(listed.includes(config.fillContract)
        ? []
        : [`quote: chains.${key}.fillContract is missing in chains: ${key}.fillContracts`]),
    ]
  })
}

function localFiles(directory: string): Promise<readonly unknown[]> {
  return readConfigFiles(directory, ['chains.local.json', 'quote.local.json', 'solver.local.json'])
}
