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
  type QuoteFile,
  quoteFileSchema,
  stopsStart,
  UnfitSettingsError,
} from '@causeway/core/config'
import { listsContract } from '@causeway/families/rules'
import type { QuoteApiConfig } from './config.ts'

export type LoadedFiles = { readonly chains: ChainRegistry; readonly quote: QuoteFile }

/** Settings that locate the JSON configuration files, and values that are compared with the files. */
export type FilePlaces = Pick<QuoteApiConfig, 'environment' | 'configDirectory'> & {
  /** True for the command that deploys what the files then name. */
  readonly isDeploying?: boolean | undefined
  readonly custody: string | undefined
  /** `undefined` while the key cannot be read: then it is compared with nothing. */
  readonly orderSigner: string | undefined
}

/**
 * Reads the chain and quote files of the environment, with placeholders resolved and the guards between local and real
 * networks applied.
 * @throws UnfitSettingsError naming every problem
 */
export async function loadFiles(
  config: QuoteApiConfig,
  variables: Variables,
  orderSigner: string,
  { isDeploying }: Pick<FilePlaces, 'isDeploying'> = {},
): Promise<LoadedFiles> {
  const findings = createFindings()
  const { environment, configDirectory, topUps } = config
  const places = { environment, configDirectory, custody: topUps.custody, orderSigner, isDeploying }
  const files = await readFiles(places, variables, findings)
  if (files === undefined || stopsStart(findings.list)) throw new UnfitSettingsError(findings.list)
  return files
}

/** Like `loadFiles`, but adds problems to `findings`; undefined only if a file cannot be read at all. */
export async function readFiles(
  { environment, configDirectory: directory, custody, orderSigner, isDeploying }: FilePlaces,
  variables: Variables,
  findings: Findings,
): Promise<LoadedFiles | undefined> {
  const [chainsJson, hubJson, quoteJson] = await readEnvironmentFiles(
    { directory, environment, isDeploying },
    ['chains', 'chains.hub', 'quote'],
    findings,
  )
  const chains =
    chainsJson === undefined
      ? undefined
      : findings.attempt(
          () => loadChains({ environment, chainsJson, hubJson, variables }),
          'configuration-wrong',
        )
  const source = { name: `quote.${environment}.json`, json: quoteJson, environment, variables }
  const quote = quoteJson === undefined ? undefined : examineConfigFile(quoteFileSchema, source, findings)
  const ownAccounts = Object.entries({ ECDSA_PRIVATE_KEY: orderSigner, CUSTODY_ADDRESS: custody })
  const addresses = [
    ...ownAccounts.flatMap(([setting, address]) => (address === undefined ? [] : [{ setting, address }])),
    ...addressesIn(chainsJson, 'chains'),
    ...addressesIn(quote, 'quote'),
  ]
  findings.problems(checkForeignAddresses({ environment, addresses }), 'address-foreign')
  if (chains === undefined || quote === undefined) return undefined
  // The command that deploys contracts reports missing ones itself.
  const contractProblems = isDeploying === true ? [] : checkFillContracts(chains, quote)
  findings.problems([...contractProblems, ...checkLocalEndpoints(chains)])
  findings.add(...chainNotes(chains))
  return { chains, quote }
}

/** Finds fill contracts that orders would name and the chain file does not list: their payments would not be believed. */
function checkFillContracts({ chains }: ChainRegistry, quote: QuoteFile): readonly string[] {
  return Object.entries(quote.chains).flatMap(([key, { fillContract }]) => {
    const chain = chains.get(key)
    if (fillContract === undefined) return []
    if (chain !== undefined && listsContract(chain, chain.fillContracts ?? [], fillContract)) return []
    return [`quote: chains.${key}.fillContract is missing in chains: ${key}.fillContracts`]
  })
}
