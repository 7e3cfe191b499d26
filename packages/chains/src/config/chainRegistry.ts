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
import {
  badConfiguration,
  describeIssues,
  namingVariables,
  readConfigFile,
  ruleOfFile,
} from './configFile.ts'
import type { Placeholder, Variables } from './placeholders.ts'
import { readSigningCaps } from './signingCaps.ts'

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

function readChains(sources: ChainSources, problems: string[]): readonly RegisteredChain[] {
  const { environment, variables, chainsJson: json } = sources
  const name = `chains.${environment}.json`
  // Entries are parsed one by one, so that a bad one does not hide what is wrong with the others.
  const looseFile = chainsFileSchema.extend({ chains: z.array(z.unknown()) })
  const file = readConfigFile(looseFile, { name, json, environment, variables })
  problems.push(...file.problems)
  const entries = file.value?.chains ?? []
  const wrong: string[] = []
  const chains = entries.flatMap((entry, index) => {
    const path = `chains[${index}]`
    const parsed = chainEntrySchema.safeParse(entry, { error: ruleOfFile })
    if (parsed.success) return [registerChain(parsed.data, { name, path, unset: file.unset }, wrong)]
    wrong.push(...describeIssues(name, { value: entry, error: parsed.error }, file.unset, path))
    return []
  })
  for (const id of repeated(chains.map((chain) => chain.id))) wrong.push(`${name}: ${id} is listed twice`)
  problems.push(...namingVariables(name, wrong, file.set))
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
  const wrong: string[] = []
  const endpoints = readEndpoints(httpRpcUrl, place, wrong)
  const isOnHub = hub.auroraEvmChainId === hub.evmChainId
  if (isOnHub && auroraHttpRpcUrl !== undefined) {
    wrong.push(`${name}: auroraHttpRpcUrl: the allocator stands on the hub, which httpRpcUrl names`)
  }
  const allocatorEndpoints = isOnHub
    ? endpoints
    : readEndpoints(auroraHttpRpcUrl, { ...place, setting: 'auroraHttpRpcUrl' }, wrong)
  problems.push(...namingVariables(name, wrong, file.set))
  return { ...hub, ...endpoints, allocatorEndpoints }
}

type Place = {
  readonly name: string
  readonly path: string
  readonly unset: readonly Placeholder[]
  /** Default `httpRpcUrl`. */
  readonly setting?: string
}

function registerChain(entry: ChainEntry, place: Place, problems: string[]): RegisteredChain {
  const { httpRpcUrl, wsRpcUrl, rpcThreshold, additionalData, signingCaps: namedCaps, ...rest } = entry
  const read = readEndpoints(httpRpcUrl, { ...place, path: `${place.path}.` }, problems)
  const headPushUrls = readPushUrls(wsRpcUrl, entry, place, problems)
  const count = countHosts(read.endpoints)
  if (rpcThreshold !== undefined && count > 0 && rpcThreshold > count) {
    problems.push(`${place.name}: ${place.path}.rpcThreshold is above the number of endpoint hosts`)
  }
  const network = { vmType: entry.vmType, network: additionalData?.network }
  const unsetCapVariables = variablesOf(`${place.path}.signingCaps`, place.unset)
  let signingCaps: readonly SigningCap[] | undefined
  try {
    checkPayers({ ...rest, ...network }, place, problems)
    const setting = `${place.name}: ${place.path}.signingCaps`
    // Caps of which a part is not set are none: what is left out of a cap must not be held by surprise.
    signingCaps =
      unsetCapVariables.length > 0 ? undefined : readSigningCaps(namedCaps, network, setting, problems)
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    problems.push(`${place.name}: ${place.path}.additionalData.network: ${error.message}`)
  }
  return {
    ...rest,
    ...network,
    ...read,
    ...(headPushUrls.length > 0 && { headPushUrls }),
    rpcThreshold: rpcThreshold ?? Math.max(defaultThreshold(count), 1),
    ...(signingCaps !== undefined && { signingCaps }),
    ...(unsetCapVariables.length > 0 && { unsetCapVariables }),
    additionalData: hideSecrets(additionalData ?? {}),
  }
}

/** @throws ConfigurationError for a network that the family does not have */
function checkPayers(chain: ListedChain & ChainNetwork, { name, path }: Place, problems: string[]): void {
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
  { name, path, unset, setting: member = 'httpRpcUrl' }: Place,
  problems: string[],
): Endpoints {
  const setting = `${path}${member}`
  const urls = listedUrls(httpRpcUrl)
  const places = new Set<string>()
  for (const [index, url] of urls.entries()) {
    try {
      const { origin, path: endpointPath } = parseEndpoint({ url }, index + 1)
      places.add(`${origin}${endpointPath.reveal()}`)
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error
      problems.push(`${name}: ${setting}: endpoint ${index + 1} is not an http(s) URL`)
      places.add(url)
    }
  }
  if (places.size < urls.length) problems.push(`${name}: ${setting}: one endpoint is named twice`)
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
  // Nobody can be connected to at a fragment.
  return /^wss?:$/.test(protocol) && hash === ''
}

function readPushUrls(
  wsRpcUrl: string | readonly string[] | undefined,
  { vmType }: Pick<ChainEntry, 'vmType'>,
  { name, path }: Place,
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
