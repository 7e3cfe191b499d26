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
import { ConfigurationError, type QuoteFile, quoteFileSchema } from '@causeway/core'
import type { QuoteApiConfig } from './config.ts'

export type LoadedFiles = { readonly chains: ChainRegistry; readonly quote: QuoteFile }

/**
 * The chain and quote files of the environment, with placeholders resolved and the guards between
 * local and real networks applied.
 * @throws ConfigurationError naming every problem
 */
export async function loadFiles(
  config: QuoteApiConfig,
  variables: Variables,
  orderSigner: string,
): Promise<LoadedFiles> {
  const { environment, configDirectory } = config
  const [chainsJson, hubJson, quoteJson] = await readConfigFiles(configDirectory, [
    `chains.${environment}.json`,
    `chains.hub.${environment}.json`,
    `quote.${environment}.json`,
  ])
  const chains = loadChains({ environment, chainsJson, hubJson, variables })
  const quote = loadConfigFile(quoteFileSchema, {
    name: `quote.${environment}.json`,
    json: quoteJson,
    environment,
    variables,
  })
  const problems = [
    ...checkFillContracts(chains, quote),
    ...checkLocalEndpoints(chains),
    ...checkForeignAddresses({
      environment,
      addresses: [
        { setting: 'ECDSA_PRIVATE_KEY', address: orderSigner },
        ...(config.topUps.custody === undefined
          ? []
          : [{ setting: 'CUSTODY_ADDRESS', address: config.topUps.custody }]),
        ...addressesIn(chainsJson, 'chains'),
        ...addressesIn(quote, 'quote'),
      ],
      localAddresses: localAddressesOf(config.isLocal ? [] : await localFiles(configDirectory)),
    }),
  ]
  if (problems.length > 0) throw new ConfigurationError(`Unsafe configuration:\n- ${problems.join('\n- ')}`)
  return { chains, quote }
}

/** Orders name a fill contract, and what it paid is believed only where the chain file lists it. */
function checkFillContracts({ chains }: ChainRegistry, quote: QuoteFile): readonly string[] {
  return Object.entries(quote.chains).flatMap(([key, { fillContract }]) => {
    const listed = (chains.get(key)?.fillContracts ?? []).map((address) => address.toLowerCase())
    if (fillContract === undefined || listed.includes(fillContract.toLowerCase())) return []
    return [`quote: chains.${key}.fillContract is missing in chains: ${key}.fillContracts`]
  })
}

function localFiles(directory: string): Promise<readonly unknown[]> {
  return readConfigFiles(directory, ['chains.local.json', 'chains.hub.local.json', 'quote.local.json'])
}
