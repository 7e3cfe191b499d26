import {
  addressesIn,
  checkForeignAddresses,
  checkLocalEndpoints,
  loadChains,
  loadConfigFile,
  localAddressesOf,
  type RegisteredHub,
  readConfigFiles,
  readSigningCaps,
  type Variables,
} from '@causeway/chains'
import {
  type AllocatorDepository,
  type AllocatorFile,
  allocatorFileSchema,
  ConfigurationError,
  type Hex,
  hubTokenId,
} from '@causeway/core'
import type { CapTable } from '@causeway/signer'
import { chainOfPlace, type SignedPlace, signedPlaceOf } from '../payloads/signedPlace.ts'

/** The hub that the allocator works on: its contract stands there, beside the ledger that it checks. */
export type OwnHub = RegisteredHub & { readonly hubAddress: Hex; readonly auroraAllocatorAddress: Hex }

export type LoadedFiles = {
  readonly hub: OwnHub
  readonly places: readonly SignedPlace[]
  readonly caps: CapTable
  readonly firstBlock: bigint
  readonly maxFeePerGasWei: bigint
}

/**
 * The chain, hub and allocator files of the environment, with the guards between local and real networks.
 * @throws ConfigurationError naming every problem
 */
export async function loadFiles(args: {
  readonly environment: string
  readonly configDirectory: string
  readonly variables: Variables
  /** Address of the key. */
  readonly signer: Hex
}): Promise<LoadedFiles> {
  const { environment, configDirectory, variables, signer } = args
  const name = `allocator.${environment}.json`
  const [chainsJson, hubJson, json] = await readConfigFiles(configDirectory, [
    `chains.${environment}.json`,
    `chains.hub.${environment}.json`,
    name,
  ])
  const registry = loadChains({ environment, chainsJson, hubJson, variables })
  const file = loadConfigFile(allocatorFileSchema, { name, json, environment, variables })
  const problems: string[] = []
  const { places, caps } = readDepositories(file, registry.chains, problems)
  const hub = ownHub(registry.hub, problems)
  problems.push(
    ...checkLocalEndpoints({ ...registry, chains: new Map() }),
    ...checkForeignAddresses({
      environment,
      addresses: [
        { setting: "The allocator's key", address: signer },
        ...addressesIn(chainsJson, 'chains'),
        ...addressesIn(hubJson, 'hub'),
      ],
      localAddresses: localAddressesOf(
        environment === 'local'
          ? []
          : await readConfigFiles(configDirectory, ['chains.local.json', 'chains.hub.local.json']),
      ),
    }),
  )
  if (problems.length > 0 || hub === undefined) {
    throw new ConfigurationError(`Unsafe configuration:\n- ${problems.join('\n- ')}`)
  }
  return {
    hub,
    places,
    caps,
    firstBlock: BigInt(file.firstBlock),
    maxFeePerGasWei: file.maxFeePerGasWei,
  }
}

/** @param problems takes what is wrong, by name */
function readDepositories(
  { environment, depositories }: AllocatorFile,
  chains: Awaited<ReturnType<typeof loadChains>>['chains'],
  problems: string[],
): { readonly places: readonly SignedPlace[]; readonly caps: CapTable } {
  const caps = new Map<bigint, { chain: string; currency: string; amount: bigint }>()
  const seen = new Set<string>()
  const places = depositories.flatMap((entry) => {
    const setting = `allocator.${environment}.json: depositories.${entry.chain}`
    const chain = chains.get(entry.chain)
    if (chain === undefined || seen.has(entry.chain)) {
      problems.push(`${setting} ${chain === undefined ? 'is no chain of the chain file' : 'is named twice'}`)
      return []
    }
    seen.add(entry.chain)
    const place = signedPlaceOf(chain, entry, problems)
    if (place === undefined) return []
    for (const cap of capsOf(entry, { environment, setting, place }, problems)) {
      caps.set(hubTokenId(chainOfPlace(place), cap.currency), { chain: entry.chain, ...cap })
    }
    return [place]
  })
  return { places, caps }
}

function capsOf(
  { caps }: AllocatorDepository,
  at: { readonly environment: string; readonly setting: string; readonly place: SignedPlace },
  problems: string[],
) {
  const setting = `${at.setting}.caps`
  const read = readSigningCaps(caps, chainOfPlace(at.place), setting, problems)
  if (read === undefined && at.environment !== 'local') problems.push(`${setting} is needed`)
  return read ?? []
}

function ownHub(hub: RegisteredHub | undefined, problems: string[]): OwnHub | undefined {
  if (hub === undefined) {
    problems.push('the hub file names no hub')
    return undefined
  }
  const { hubAddress, auroraAllocatorAddress, auroraEvmChainId, evmChainId } = hub
  if (!hub.ready) {
    problems.push(`httpRpcUrl of hub ${hub.id} is needed: set ${hub.unsetVariables.join(', ') || 'it'}`)
  }
  if (hub.withdrawalKeys === 'public') {
    problems.push('hub: withdrawalKeys "public" names an allocator of others: this one signs on an own hub')
  }
  if (auroraEvmChainId !== evmChainId) {
    problems.push('hub: auroraEvmChainId must be evmChainId: the hub whose balances are checked is its own')
  }
  if (hubAddress === undefined) problems.push('hub: hubAddress is needed: balances are read there')
  if (auroraAllocatorAddress === undefined) problems.push('hub: auroraAllocatorAddress is needed')
  if (hubAddress === undefined || auroraAllocatorAddress === undefined) return undefined
  return { ...hub, hubAddress, auroraAllocatorAddress }
}
