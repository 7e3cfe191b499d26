import {
  addressesIn,
  type ChainRegistry,
  chainNotes,
  checkForeignAddresses,
  checkLocalEndpoints,
  loadChains,
  readEnvironmentFiles,
  type Variables,
} from '@causeway/chains'
import { createFindings, type Findings, stopsStart, UnfitSettingsError } from '@causeway/core/config'
import type { RegisteredHub } from '@causeway/families'

export type LoadedFiles = { readonly chains: ChainRegistry; readonly hub: RegisteredHub }

type FilesToRead = {
  readonly environment: string
  readonly configDirectory: string
  readonly variables: Variables
  /** Address of the oracle's key, which must be no published one; `undefined` where the key cannot be read. */
  readonly signer: string | undefined
}

/**
 * The chain and hub files of the environment, with placeholders resolved and the guards between local
 * and real networks applied.
 * @throws UnfitSettingsError naming every problem
 * @source rules O-144, O-149
 */
export async function loadFiles(args: FilesToRead): Promise<LoadedFiles> {
  const findings = createFindings()
  const files = await readFiles(args, findings)
  if (files === undefined || stopsStart(findings.list)) throw new UnfitSettingsError(findings.list)
  return files
}

/** As `loadFiles`, but problems go to `findings`; `undefined` where a file cannot be used at all. */
export async function readFiles(args: FilesToRead, findings: Findings): Promise<LoadedFiles | undefined> {
  const { environment, configDirectory: directory, variables, signer } = args
  const names = ['chains', 'chains.hub']
  const [chainsJson, hubJson] = await readEnvironmentFiles({ directory, environment }, names, findings)
  const foreign = checkForeignAddresses({
    environment,
    addresses: [
      ...(signer === undefined ? [] : [{ setting: "The signer's key", address: signer }]),
      ...addressesIn(chainsJson, 'chains'),
      ...addressesIn(hubJson, 'hub'),
    ],
  })
  findings.problems(foreign, 'address-foreign')
  if (chainsJson === undefined || hubJson === undefined) return undefined
  const chains = findings.attempt(
    () => loadChains({ environment, chainsJson, hubJson, variables }),
    'configuration-wrong',
  )
  if (chains === undefined) return undefined
  findings.add(...chainNotes(chains))
  const { hub } = chains
  findings.problems([
    ...(environment === 'local' ? [] : missingCaps(chains)),
    ...checkLocalEndpoints(chains),
    ...(hub === undefined ? [`chains.hub.${environment}.json names no hub.`] : []),
  ])
  if (hub === undefined) return undefined
  if (!hub.ready) {
    const needed = `httpRpcUrl of hub ${hub.id} is needed: set ${hub.unsetVariables.join(', ') || 'it'}`
    findings.problems([needed], 'chain-without-endpoint')
  }
  return { chains, hub }
}

/** Problems of chains that have an endpoint but no signing caps. */
function missingCaps({ chains }: ChainRegistry): readonly string[] {
  return [...chains.values()].flatMap(({ id, ready, signingCaps, unsetCapVariables = [] }) => {
    if (!ready || signingCaps !== undefined) return []
    return [`signingCaps of chain ${id} is needed: set ${unsetCapVariables.join(', ') || 'it'}`]
  })
}
