import { type Finding, publishedDevelopmentAddresses, splitList } from '@causeway/core/config'
import type { Endpoints, FamilyChain } from '@causeway/families'
import { isOnThisMachine, localEnvironment, rehearsalEnvironment } from '@causeway/families'
import type { ChainRegistry } from './config/chainRegistry.ts'
import { localNetworkAddresses, rehearsalAddresses } from './config/localAddresses.ts'

// Checks at start that keep a local network apart from real chains: a local network uses the chain ids of real ones, so
// ids do not tell them apart. Problems name settings, never values; an empty list means none. @source O-149, O-150

const serviceUrls = ['esploraCompatibleApiUrl', 'proxyApiUrl', 'explorerApiUrl'] as const

/** Problems of endpoints elsewhere, in the environments `local` and `rehearsal`, which may read only this machine. */
export function checkLocalEndpoints(registry: ChainRegistry): readonly string[] {
  const { environment, hub } = registry
  if (!isOnThisMachine(environment)) return []
  const endpointLists: readonly (readonly [string, Endpoints])[] = [
    ...[...registry.chains.values()].map((chain) => [`httpRpcUrl of ${chain.id}`, chain] as const),
    ...(hub === undefined ? [] : [[`httpRpcUrl of hub ${hub.id}`, hub] as const]),
    // An allocator on the hub is read at the hub's own endpoints.
    ...(hub === undefined || hub.auroraEvmChainId === hub.evmChainId
      ? []
      : [[`auroraHttpRpcUrl of hub ${hub.id}`, hub.allocatorEndpoints] as const]),
  ]
  const demand = `is not on this machine, as ENVIRONMENT=${environment} demands`
  const nodeProblems = endpointLists.flatMap(([setting, { endpoints }]) =>
    endpoints.flatMap((url, index) =>
      isLoopback(url.reveal()) ? [] : [`${setting}: endpoint ${index + 1} ${demand}`],
    ),
  )
  const serviceProblems = [...registry.chains.values()].flatMap(({ id, additionalData }) =>
    serviceUrls.flatMap((name) => {
      const urls = splitList(additionalData[name]?.reveal(), ',')
      return urls.every(isLoopback) ? [] : [`${name} of ${id} ${demand}`]
    }),
  )
  return [...nodeProblems, ...serviceProblems]
}

/** Notes that the operator of a registry should know. */
export function chainNotes(registry: ChainRegistry): readonly Finding[] {
  return [...windingDownChains(registry), ...settingsWithoutEffect(registry)]
}

/** Chains that are being wound down and still have an endpoint, so that deposits there can be withdrawn. @source F-48 */
function windingDownChains({ chains }: ChainRegistry): readonly Finding[] {
  return [...chains.values()].flatMap(({ id, ready, windingDown }): Finding[] => {
    if (!ready || windingDown === undefined) return []
    const setting = `httpRpcUrl of ${id}`
    return [
      {
        code: 'chain-winding-down',
        severity: 'note',
        setting,
        seen: `${id} has an endpoint and is being wound down. ${windingDown}`,
        fix: `Quote nothing to ${id}, have what lies in its depository withdrawn, then remove the endpoint.`,
      },
    ]
  })
}

/** @source rule P-45 */
function settingsWithoutEffect({ chains }: ChainRegistry): readonly Finding[] {
  return [...chains.values()].flatMap(({ id, additionalData }): Finding[] => {
    if (additionalData.traceInternalTransfers === undefined) return []
    return [
      {
        code: 'setting-without-effect',
        severity: 'note',
        setting: `traceInternalTransfers of ${id}`,
        seen: `traceInternalTransfers of ${id} does nothing: no trace is read for a payment`,
        fix: 'Remove it from the chain file.',
      },
    ]
  })
}

/**
 * Checks a chain before it is read: its endpoints must agree with its configuration and, in an environment of this
 * machine, be part of a local network.
 * @returns problems that name settings @throws DomainError when too few endpoints answer
 */
export async function verifyChain(
  chain: Pick<FamilyChain, 'verify' | 'verifyLocal'>,
  environment: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const local = isOnThisMachine(environment) ? [chain.verifyLocal(signal, environment)] : []
  return joinProblems([...local, chain.verify(signal)])
}

/** Problems of several checks of one chain. @throws the error of a failed check, if the others found nothing */
export async function joinProblems(
  checks: readonly Promise<readonly string[]>[],
): Promise<readonly string[]> {
  const outcomes = await Promise.allSettled(checks)
  const problems = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []))
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (problems.length === 0 && failed !== undefined) throw failed.reason
  return problems
}

/**
 * Problems of configured addresses that must not hold real money: accounts with a published key, and addresses of a
 * local network or of a rehearsal (which may use its own). Nothing is refused in `local`. The lists of such addresses
 * are part of the release, so that an operator's files cannot change them.
 */
export function checkForeignAddresses(args: {
  readonly environment: string
  readonly addresses: readonly { readonly setting: string; readonly address: string }[]
}): readonly string[] {
  const { environment, addresses } = args
  if (environment === localEnvironment) return []
  return addresses.flatMap(({ setting, address }) => {
    const canonical = address.toLowerCase()
    if (publishedDevelopmentAddresses.has(canonical))
      return [`${setting} belongs to a published development key`]
    if (localNetworkAddresses.has(canonical)) return [`${setting} belongs to the local network`]
    const isRehearsed = environment !== rehearsalEnvironment && rehearsalAddresses.has(canonical)
    return isRehearsed ? [`${setting} belongs to a rehearsal`] : []
  })
}

/**
 * Addresses that only a local network has: all in the `local` files but those that public chains have too.
 * `scripts/writeLocalConfigs.ts` writes `localNetworkAddresses` with it.
 */
export function localAddressesOf(localFiles: readonly unknown[]): ReadonlySet<string> {
  const addresses = localFiles
    .flatMap((file) => addressesIn(file))
    .map(({ address }) => address.toLowerCase())
  return new Set(addresses.filter((address) => !isPublicAddress(address)))
}

/** Every EVM address in a parsed file, with its place as the setting. */
export function addressesIn(
  json: unknown,
  setting = '',
): readonly { readonly setting: string; readonly address: string }[] {
  if (typeof json === 'string') {
    return /^0x[0-9a-fA-F]{40}$/.test(json) ? [{ setting, address: json }] : []
  }
  if (typeof json !== 'object' || json === null) return []
  return Object.entries(json).flatMap(([name, member]) =>
    addressesIn(member, setting === '' ? name : `${setting}.${name}`),
  )
}

/** The native currency, Multicall3, and predeploys of rollups. */
function isPublicAddress(address: string): boolean {
  return (
    address === `0x${'0'.repeat(40)}` ||
    address === '0xca11bde05977b3631167028862be2a173976ca11' ||
    /^0x42000000000000000000000000000000000000[0-9a-f]{2}$/.test(address)
  )
}

function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { hostname } = new URL(url)
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}
