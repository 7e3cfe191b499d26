import {
  addressesIn,
  type ChainRegistry,
  chainNotes,
  checkForeignAddresses,
  checkLocalEndpoints,
  examineConfigFile,
  loadChains,
  readEnvironmentFiles,
  type Variables,
} from '@causeway/chains'
import {
  createFindings,
  type Findings,
  isContractChain,
  type QuoteFile,
  quoteFileSchema,
  type SolverFile,
  solverFileSchema,
  stopsStart,
  UnfitSettingsError,
} from '@causeway/core'
import { listsContract } from '@causeway/families/rules'
import type { SolverConfig } from './config.ts'

export type LoadedFiles = {
  readonly chains: ChainRegistry
  readonly quote: QuoteFile
  readonly solver: SolverFile
}

/**
 * The chain, hub, quote and solver files of the environment, with placeholders resolved and the guards between local and
 * real networks applied. @throws UnfitSettingsError naming every problem
 */
export async function loadFiles(
  config: SolverConfig,
  variables: Variables,
  fillWallet: string,
): Promise<LoadedFiles> {
  const found = createFindings()
  const files = await readFiles(config, variables, fillWallet, found)
  if (files === undefined || stopsStart(found.list)) throw new UnfitSettingsError(found.list)
  return files
}

/**
 * As `loadFiles`; what is wrong is found, and only what cannot be read at all leaves nothing.
 * @param fillWallet `undefined` while the key cannot be read: then it is compared with nothing
 */
export async function readFiles(
  {
    environment,
    configDirectory: directory,
    isLocal,
  }: Pick<SolverConfig, 'environment' | 'configDirectory' | 'isLocal'>,
  variables: Variables,
  fillWallet: string | undefined,
  found: Findings,
): Promise<LoadedFiles | undefined> {
  const names = ['chains', 'quote', 'solver']
  const [chainsJson, quoteJson, solverJson] = await readEnvironmentFiles(
    { directory, environment },
    names,
    found,
  )
  if (chainsJson === undefined || quoteJson === undefined || solverJson === undefined) return undefined
  // Few chains need it; those that do say so.
  const [hubJson] = await readEnvironmentFiles({ directory, environment }, ['chains.hub'], createFindings())
  // The quote file names the wallet whose inventory is quoted; here it is the one that pays.
  const known = { ...variables, FILL_WALLET_ADDRESS: fillWallet }
  const shared = { environment, variables: known }
  const chains = found.attempt(() => loadChains({ chainsJson, hubJson, ...shared }), 'configuration-wrong')
  const named = (name: string, json: unknown) => ({ name: `${name}.${environment}.json`, json, ...shared })
  const quote = examineConfigFile(quoteFileSchema, named('quote', quoteJson), found)
  const listed = examineConfigFile(solverFileSchema, named('solver', solverJson), found)
  const foreign = checkForeignAddresses({
    environment,
    addresses: [
      ...(fillWallet === undefined ? [] : [{ setting: "The fill wallet's key", address: fillWallet }]),
      ...addressesIn(chainsJson, 'chains'),
      ...addressesIn(quote, 'quote'),
      ...addressesIn(listed, 'solver'),
    ],
  })
  found.problems(foreign, 'address-foreign')
  if (chains === undefined || quote === undefined || listed === undefined) return undefined
  const solver = withRunningChains(listed, chains, isLocal ? createFindings() : found)
  found.problems([...payingProblems(chains, quote, solver), ...checkLocalEndpoints(chains)])
  found.add(...chainNotes(chains))
  return { chains, quote, solver }
}

/**
 * Drops chains without an endpoint, which quote-api does not quote either. Each is named, since its endpoint may just
 * be forgotten.
 */
function withRunningChains(solver: SolverFile, { chains }: ChainRegistry, found: Findings): SolverFile {
  const listed = Object.entries(solver.chains)
  const running = listed.filter(([key]) => chains.get(key)?.ready !== false)
  for (const [key] of listed) {
    const chain = chains.get(key)
    if (chain?.ready !== false) continue
    const setting = chain.unsetVariables.join(', ') || `httpRpcUrl of ${key}`
    found.add({
      ...{ code: 'chain-without-endpoint', severity: 'degrades', setting, fix: '' },
      seen: `${key} has no endpoint: orders that pay there are not filled`,
    })
  }
  if (running.length === 0) found.problems(['solver: chains: none of them has an endpoint'])
  return { ...solver, chains: Object.fromEntries(running) }
}

/** A chain that the solver is to pay on is quoted, can be read, and has a fill contract that oracles know, where its family has contracts. */
function payingProblems(
  { chains }: ChainRegistry,
  quote: QuoteFile,
  { chains: paying }: SolverFile,
): readonly string[] {
  return Object.entries(paying).flatMap(([key, policy]) => {
    const config = quote.chains[key]
    const chain = chains.get(key)
    if (config === undefined || chain === undefined)
      return [`solver: chains.${key} is not in the quote file and the chains file`]
    if (policy.submitRpcUrl !== undefined && !isContractChain(config))
      return [
        `solver: chains.${key}.submitRpcUrl: what is sent on ${chain.vmType} goes to the endpoints of the chain: remove it`,
      ]
    const { fillContract } = config
    if (fillContract === undefined)
      return isContractChain(config) ? [`quote: chains.${key}.fillContract is needed to pay there`] : []
    return listsContract(chain, chain.fillContracts ?? [], fillContract)
      ? []
      : [`quote: chains.${key}.fillContract is missing in chains: ${key}.fillContracts`]
  })
}
