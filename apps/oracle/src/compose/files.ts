import {
  addressesIn,
  type ChainRegistry,
  checkForeignAddresses,
  checkLocalEndpoints,
  loadChains,
  localAddressesOf,
  type RegisteredHub,
  readConfigFiles,
  type Variables,
} from '@causeway/chains'
import { ConfigurationError } from '@causeway/core'

export type LoadedFiles = { readonly chains: ChainRegistry; readonly hub: RegisteredHub }

/**
 * The chain and hub files of the environment, with placeholders resolved and the guards between local
 * and real networks applied.
 * @throws ConfigurationError naming every problem
 * @source oracle-protocol.md 6.2, 6.3; design.md 1
 */
export async function loadFiles(args: {
  readonly environment: string
  readonly configDirectory: string
  readonly variables: Variables
  readonly signer: string
}): Promise<LoadedFiles> {
  const { environment, configDirectory, variables, signer } = args
  const [chainsJson, hubJson] = await readConfigFiles(configDirectory, [
    `chains.${environment}.json`,
    `chains.hub.${environment}.json`,
  ])
  const chains = loadChains({ environment, chainsJson, hubJson, variables })
  const { hub } = chains
  if (hub === undefined) throw new ConfigurationError(`chains.hub.${environment}.json names no hub.`)
  const hubEndpoints = hub.ready
    ? []
    : [`httpRpcUrl of hub ${hub.id} is needed: set ${hub.unsetVariables.join(', ') || 'it'}`]
  const problems = [
    ...hubEndpoints,
    ...(environment === 'local' ? [] : missingCaps(chains)),
    ...checkLocalEndpoints(chains),
    ...checkForeignAddresses({
      environment,
      addresses: [
        { setting: "The signer's key", address: signer },
        ...addressesIn(chainsJson, 'chains'),
        ...addressesIn(hubJson, 'hub'),
      ],
      localAddresses: localAddressesOf(environment === 'local' ? [] : await localFiles(configDirectory)),
    }),
  ]
  if (problems.length > 0) throw new ConfigurationError(`Unsafe configuration:\n- ${problems.join('\n- ')}`)
  return { chains, hub }
}

/** Every chain that can be read says how much of it may be signed within an hour. */
function missingCaps({ chains }: ChainRegistry): readonly string[] {
  return [...chains.values()].flatMap(({ id, ready, signingCaps, unsetCapVariables = [] }) => {
    if (!ready || signingCaps !== undefined) return []
    return [`signingCaps of chain ${id} is needed: set ${unsetCapVariables.join(', ') || 'it'}`]
  })
}

function localFiles(directory: string): Promise<readonly unknown[]> {
  return readConfigFiles(directory, ['chains.local.json', 'chains.hub.local.json'])
}
