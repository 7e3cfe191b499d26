import { ConfigurationError, Secret } from '@causeway/core'
import {
  type ChainEntry,
  chainEntrySchema,
  chainsFileSchema,
  hubFileSchema,
  splitList,
} from '@causeway/core/config'
import { type ChainNetwork, codecOf } from '@causeway/core/encodings'
import type { SigningCap } from '@causeway/families'
import {
  type AdditionalData,
  canPay,
  type Endpoints,
  type ListedChain,
  type RegisteredChain,
  type RegisteredHub,
  secretMembers,
} from '@causeway/families'
import { families } from '@causeway/families/rules'
import { countHosts, defaultThreshold, parseEndpoint } from '@causeway/rpc'
import { z } from 'zod'
import { badConfiguration, describeIssues, nameVariables, readConfigFile, ruleOfFile } from './configFile.ts'
import type { Placeholder, Variables } from './placeholders.ts'
import { readSigningCaps } from './signingCaps.ts'

/** The configured chains and the hub, as `loadChains` read them. */
export type ChainRegistry = {
  readonly environment: string
  /** By string id, in the order of the file. */
  readonly chains: ReadonlyMap<string, RegisteredChain>
  readonly hub: RegisteredHub | undefined
}

export type ChainSources = {
  /** The running environment: both files must carry it. */
  readonly environment: string
  /** Parsed content of `chains.<ENVIRONMENT>.json`. */
  readonly chainsJson: unknown
  /** Parsed content of `chains.hub.<ENVIRONMENT>.json`: one object, or a list with it alone. */
  readonly hubJson?: unknown
  readonly variables: Variables
}

/**
 * Reads which chains there are and where they are read.
 * @throws ConfigurationError that names every problem of every chain at once, and no value
 * @source rules O-144, O-154
 */
export function loadChains(sources: ChainSources): ChainRegistry {
  const problems: string[] = []
  const chains = readChains(sources, problems)
  const hub = sources.hubJson === undefined ? undefined : readHub(sources, problems)
  if (problems.length > 0) throw badConfiguration(problems)
  return {
    environment: sources.environment,
    chains: new Map(chains.map((chain) => [chain.id, chain])),
    hub,
  }
}

/**
 * Reads the chains and appends to `problems`, as the functions below do. A chain with problems is returned
 * all the same: nobody gets it, because `loadChains` then throws.
 */
function readChains(sources: ChainSources, problems: string[]): readonly RegisteredChain[] {
  const { environment, variables, chainsJson: json } = sources
  const name = `chains.${environment}.json`
  // Entries are parsed one by one, so that a bad one does not hide problems of the others.
  const looseFile = chainsFileSchema.extend({ chains: z.array(z.unknown()) })
  const file = readConfigFile(looseFile, { name, json, environment, variables })
  problems.push(...file.problems)
  const entries = file.value?.chains ?? []
  // Collected apart, because variables are still to be named in them: `readConfigFile` did so in its own.
  const entryProblems: string[] = []
  const chains = entries.flatMap((entry, index) => {
    const path = `chains[${index}]`
    const parsed = chainEntrySchema.safeParse(entry, { error: ruleOfFile })
    if (parsed.success) return [registerChain(parsed.data, { name, path, unset: file.unset }, entryProblems)]
    entryProblems.push(...describeIssues(name, { value: entry, error: parsed.error }, file.unset, path))
    return []
  })
  for (const id of repeated(chains.map((chain) => chain.id)))
    entryProblems.push(`${name}: ${id} is listed twice`)
  problems.push(...nameVariables(name, entryProblems, file.set))
  return chains
}

function readHub(sources: ChainSources, problems: string[]): RegisteredHub | undefined {
  const { environment, variables, hubJson } = sources
  const name = `chains.hub.${environment}.json`
  const json: unknown = Array.isArray(hubJson) && hubJson.length === 1 ? hubJson[0] : hubJson
  const file = readConfigFile(hubFileSchema, { name, json, environment, variables })
  problems.push(...file.problems)
  if (file.value === undefined) return undefined
  const { httpRpcUrl, auroraHttpRpcUrl, ...hub } = file.value
  const place = { name, path: '', unset: file.unset }
  const hubProblems: string[] = []
  const endpoints = readEndpoints(httpRpcUrl, place, hubProblems)
  const isOnHub = hub.auroraEvmChainId === hub.evmChainId
  if (isOnHub && auroraHttpRpcUrl !== undefined) {
    hubProblems.push(`${name}: auroraHttpRpcUrl: the allocator stands on the hub, which httpRpcUrl names`)
  }
  const allocatorEndpoints = isOnHub
    ? endpoints
    : readEndpoints(auroraHttpRpcUrl, { ...place, setting: 'auroraHttpRpcUrl' }, hubProblems)
  problems.push(...nameVariables(name, hubProblems, file.set))
  return { ...hub, ...endpoints, allocatorEndpoints }
}

/** Place of a setting, so that problems can name it. */
type SettingPlace = {
  /** Name of the file. */
  readonly name: string
  /** Path of the object that holds the setting, e.g. `chains[3]`; empty for the file itself. */
  readonly path: string
  /** Placeholders of the file whose variables are not set. */
  readonly unset: readonly Placeholder[]
  /** Name of the setting with the endpoints; default `httpRpcUrl`. */
  readonly setting?: string
}

function registerChain(entry: ChainEntry, place: SettingPlace, problems: string[]): RegisteredChain {
  const { httpRpcUrl, wsRpcUrl, rpcThreshold, additionalData, signingCaps: namedCaps, ...rest } = entry
  const httpEndpoints = readEndpoints(httpRpcUrl, place, problems)
  const headPushUrls = readPushUrls(wsRpcUrl, entry, place, problems)
  const hostCount = countHosts(httpEndpoints.endpoints)
  if (rpcThreshold !== undefined && hostCount > 0 && rpcThreshold > hostCount) {
    problems.push(`${place.name}: ${place.path}.rpcThreshold is above the number of endpoint hosts`)
  }
  const network = { vmType: entry.vmType, network: additionalData?.network }
  const unsetCapVariables = variablesOf(`${place.path}.signingCaps`, place.unset)
  let signingCaps: readonly SigningCap[] | undefined
  try {
    checkPayers({ ...rest, ...network }, place, problems)
    const setting = `${place.name}: ${place.path}.signingCaps`
    // If a variable is unset all caps are left out, and the oracle asks for it: without its cap a currency would be
    // held.
    signingCaps =
      unsetCapVariables.length > 0 ? undefined : readSigningCaps(namedCaps, network, setting, problems)
  } catch (error) {
    // The family's codec is made in both functions, and refuses a network that it does not have.
    if (!(error instanceof ConfigurationError)) throw error
    problems.push(`${place.name}: ${place.path}.additionalData.network: ${error.message}`)
  }
  return {
    ...rest,
    ...network,
    ...httpEndpoints,
    ...(headPushUrls.length > 0 && { headPushUrls }),
    // At least 1 also for a chain without endpoints, which stays listed.
    rpcThreshold: rpcThreshold ?? Math.max(defaultThreshold(hostCount), 1),
    ...(signingCaps !== undefined && { signingCaps }),
    ...(unsetCapVariables.length > 0 && { unsetCapVariables }),
    additionalData: hideSecrets(additionalData ?? {}),
  }
}

/**
 * Adds problems for configured payers of fills that cannot pay any.
 * @throws ConfigurationError for a network that the family does not have
 */
function checkPayers(
  chain: ListedChain & ChainNetwork,
  { name, path }: SettingPlace,
  problems: string[],
): void {
  const codec = codecOf(chain)
  for (const setting of ['fillContracts', 'fillPayers'] as const) {
    const accounts = chain[setting] ?? []
    if (accounts.length > 0 && !families[chain.vmType].payerSettings.includes(setting)) {
      problems.push(`${name}: ${path}.${setting} means nothing on ${chain.vmType}`)
    } else if (!accounts.every((account) => canPay(account, chain, codec))) {
      problems.push(`${name}: ${path}.${setting} holds an account that can pay no fill`)
    }
  }
}

function readEndpoints(
  httpRpcUrl: string | readonly string[] | undefined,
  { name, path, unset, setting: member = 'httpRpcUrl' }: SettingPlace,
  problems: string[],
): Endpoints {
  const setting = path === '' ? member : `${path}.${member}`
  const urls = listedUrls(httpRpcUrl)
  const distinctUrls = new Set<string>()
  for (const [index, url] of urls.entries()) {
    try {
      const { origin, path: endpointPath } = parseEndpoint({ url }, index + 1)
      distinctUrls.add(`${origin}${endpointPath.reveal()}`)
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error
      problems.push(`${name}: ${setting}: endpoint ${index + 1} is not an http(s) URL`)
      // It counts here too, so that it is not reported a second time as a repeated one.
      distinctUrls.add(url)
    }
  }
  if (distinctUrls.size < urls.length) problems.push(`${name}: ${setting}: one endpoint is named twice`)
  return {
    endpoints: urls.map((url) => new Secret(url)),
    ready: urls.length > 0,
    unsetVariables: variablesOf(setting, unset),
  }
}

function listedUrls(setting: string | readonly string[] | undefined): readonly string[] {
  return [setting ?? []].flat().flatMap((urlList) => splitList(urlList, ','))
}

function isWebsocketUrl(text: string): boolean {
  const { protocol, hash } = URL.canParse(text) ? new URL(text) : { protocol: '', hash: '' }
  // `WebSocket` refuses a URL with a fragment.
  return /^wss?:$/.test(protocol) && hash === ''
}

/** Websocket URLs that push new blocks. */
function readPushUrls(
  wsRpcUrl: string | readonly string[] | undefined,
  { vmType }: Pick<ChainEntry, 'vmType'>,
  { name, path }: SettingPlace,
  problems: string[],
): readonly Secret[] {
  const setting = `${name}: ${path}.wsRpcUrl`
  if (wsRpcUrl !== undefined && families[vmType].headSubscription === undefined)
    problems.push(`${setting} means nothing on ${vmType}`)
  const urls = listedUrls(wsRpcUrl)
  for (const [index, url] of urls.entries())
    if (!isWebsocketUrl(url)) problems.push(`${setting}: endpoint ${index + 1} is not a ws(s) URL`)
  if (new Set(urls).size < urls.length) problems.push(`${setting}: one endpoint is named twice`)
  return urls.map((url) => new Secret(url))
}

/** Unset variables that a setting, or a part of it, names. */
function variablesOf(setting: string, unset: readonly Placeholder[]): readonly string[] {
  return unset.filter(({ path }) => path.startsWith(setting)).map(({ variable }) => variable)
}

function hideSecrets(data: AdditionalData): RegisteredChain['additionalData'] {
  const hidden = secretMembers.flatMap((member) => {
    const value = data[member]
    return value === undefined ? [] : [[member, new Secret(value)] as const]
  })
  const { finalizationBlocks, finalizationTime, isZksyncStack, traceInternalTransfers } = data
  return {
    ...(finalizationBlocks !== undefined && { finalizationBlocks }),
    ...(finalizationTime !== undefined && { finalizationTime }),
    ...(isZksyncStack !== undefined && { isZksyncStack }),
    ...(traceInternalTransfers !== undefined && { traceInternalTransfers }),
    ...Object.fromEntries(hidden),
  }
}

function repeated(values: readonly string[]): readonly string[] {
  return [...new Set(values.filter((value, index) => values.indexOf(value) !== index))]
}
