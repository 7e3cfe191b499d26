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
} from '@causeway/core/config'
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
  const findings = createFindings()
  const files = await readFiles(config, variables, fillWallet, findings)
  if (files === undefined || stopsStart(findings.list)) throw new UnfitSettingsError(findings.list)
  return files
}

/**
 * As `loadFiles`, but problems become findings.
 * @returns undefined if a file cannot be read or has another form than its schema
 * @param fillWallet `undefined` while the key cannot be read: then it is compared with nothing
 */
export async function readFiles(
  config: Pick<SolverConfig, 'environment' | 'configDirectory' | 'isLocal'>,
  variables: Variables,
  fillWallet: string | undefined,
  findings: Findings,
): Promise<LoadedFiles | undefined> {
  const { environment, configDirectory: directory, isLocal } = config
  const names = ['chains', 'quote', 'solver']
  const folder = { directory, environment }
  const [chainsJson, quoteJson, solverJson] = await readEnvironmentFiles(folder, names, findings)
  if (chainsJson === undefined || quoteJson === undefined || solverJson === undefined) return undefined
  // The hub's file may be missing: only some families need it, and they say so.
  const [hubJson] = await readEnvironmentFiles(folder, ['chains.hub'], createFindings())
  // The quote file names its fill wallet by this variable; here it is always the wallet that pays.
  const knownVariables = { ...variables, FILL_WALLET_ADDRESS: fillWallet }
  const shared = { environment, variables: knownVariables }
  const chains = findings.attempt(() => loadChains({ chainsJson, hubJson, ...shared }), 'configuration-wrong')
  const configFile = (name: string, json: unknown) => ({
    name: `${name}.${environment}.json`,
    json,
    ...shared,
  })
  const quote = examineConfigFile(quoteFileSchema, configFile('quote', quoteJson), findings)
  const listed = examineConfigFile(solverFileSchema, configFile('solver', solverJson), findings)
  const foreign = checkForeignAddresses({
    environment,
    addresses: [
      ...(fillWallet === undefined ? [] : [{ setting: "The fill wallet's key", address: fillWallet }]),
      ...addressesIn(chainsJson, 'chains'),
      ...addressesIn(quote, 'quote'),
      ...addressesIn(listed, 'solver'),
    ],
  })
  findings.problems(foreign, 'address-foreign')
  if (chains === undefined || quote === undefined || listed === undefined) return undefined
  // In `local`, chains whose nodes were not started are no finding.
  const solver = withRunningChains(listed, chains, isLocal ? createFindings() : findings)
  findings.problems([...payingProblems(chains, quote, solver), ...checkLocalEndpoints(chains)])
  findings.add(...chainNotes(chains))
  return { chains, quote, solver }
}

/**
 * Drops chains without an endpoint, which quote-api does not quote either. A finding names each, because its endpoint may
 * have been forgotten.
 */
function withRunningChains(solver: SolverFile, { chains }: ChainRegistry, findings: Findings): SolverFile {
  const listed = Object.entries(solver.chains)
  // A chain that the chains file lacks stays here: `payingProblems` names it.
  const running = listed.filter(([key]) => chains.get(key)?.ready !== false)
  for (const [key] of listed) {
    const chain = chains.get(key)
    if (chain?.ready !== false) continue
    const setting = chain.unsetVariables.join(', ') || `httpRpcUrl of ${key}`
    findings.add({
      code: 'chain-without-endpoint',
      severity: 'degrades',
      setting,
      // The report adds the remedy of the setting.
      fix: '',
      seen: `${key} has no endpoint: orders that pay there are not filled`,
    })
  }
  if (running.length === 0) findings.problems(['solver: chains: none of them has an endpoint'])
  return { ...solver, chains: Object.fromEntries(running) }
}

/** Sentences about chains that the solver is to pay on and cannot: not quoted, or without a fill contract that oracles know. */
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
