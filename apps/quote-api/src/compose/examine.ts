import { readFileSync } from 'node:fs'
import {
  examineClock,
  examineDenyList,
  examineEndpoints,
  examineHeadPushes,
  findContradictions,
  headSeconds,
} from '@causeway/chains'
import { createFindings, type Finding, type Findings } from '@causeway/core/config'
import { examineDatabase } from '@causeway/database'
import type { ChainClient } from '@causeway/rpc'
import { type Examination, examineOracles, readFileMode } from '@causeway/service'
import { checkHubKey, examineSigningKey, hasHubKey, hubKeyPrefix } from '@causeway/signer'
import { evidenceKeyPrefix, hasEvidenceKey, type QuoteApiConfig, readConfig } from '../config/config.ts'
import { type LoadedFiles, readFiles } from '../config/configuration.ts'
import { chainChecks } from '../operate/checkChains.ts'
import { schemaModules } from '../operate/database.ts'
import { examineGuardians, examineNetworks } from '../operate/examineNetworks.ts'
import { examineStored } from '../operate/examineStored.ts'
import type { QuoteRegistry } from '../pricing/registry.ts'
import { watchedChains } from '../requests/stops/networkWatch.ts'
import { ownTermsOf } from '../requests/stops/ownTerms.ts'
import type { OwnTerms } from '../requests/stops/solverTerms.ts'
import { checkEvidenceKey } from '../requests/timeline/signTimeline.ts'
import { examineFiles, examineValues, type Settings, type Variables } from './examineSettings.ts'
import { connectChains } from './market.ts'
import { createPriceAdapters } from './priceAdapters.ts'

/** Database connections beside the pool: two of the jobs, one that listens for status changes, one for offered work. */
const connectionsBesidePool = 4

/** The doctor's examination of quote-api: all that is missing, wrong or contradictory, in one pass. Rejects only for a bug. */
export async function examineQuoteApi(
  variables: Variables,
  { repositoryRoot, nowMs, scope }: Examination,
): Promise<readonly Finding[]> {
  const settings = readConfig(variables, repositoryRoot)
  const findings = createFindings()
  findings.add(...settings.findings)
  examineValues(settings, variables, findings)
  const orderSigner = await examineKeys(variables, findings)
  const { environment, configDirectory, custody } = settings.places
  const places = environment && { environment, configDirectory, custody, orderSigner }
  const files = places ? await readFiles(places, variables, findings) : undefined
  const registry = files ? examineFiles(files, settings, findings) : undefined
  // A start in `local` examines settings and files alone.
  if (scope === 'settings') return findings.list
  const isRead = (key: string) => files?.chains.chains.get(key)?.ready === true
  const hasTerms = files !== undefined && registry !== undefined && orderSigner !== undefined
  const ownTerms = hasTerms ? ownTermsOf({ quote: files.quote, registry, orderSigner, isRead }) : undefined
  await Promise.all([
    files && registry && examineChains(files, registry, nowMs, findings),
    files && settings.config && examineSigners(files, settings.config, nowMs, findings),
    examineOwnDatabase(settings, { registry, own: ownTerms, nowMs }, findings),
    settings.oracles && examineOracles(settings.oracles, 'nothing settles', findings),
    examineDenyLists(settings, findings),
  ])
  return findings.list
}

/** Examines the order signer, and the evidence key and the hub key if they are set. @returns the order signer's address */
async function examineKeys(variables: Variables, findings: Findings): Promise<string | undefined> {
  const readFile = (path: string) => readFileSync(path, 'utf8')
  const keyFiles = { environment: variables, readFile, modeOf: readFileMode }
  const examineKey = async (isSet: boolean, prefix: string) =>
    isSet ? await examineSigningKey({ ...keyFiles, prefix }, findings) : undefined
  const orderSigner = await examineSigningKey(keyFiles, findings)
  const evidenceKey = await examineKey(hasEvidenceKey(variables), evidenceKeyPrefix)
  findings.attempt(() => checkEvidenceKey(evidenceKey, orderSigner), 'key-wrong')
  const hubKey = await examineKey(hasHubKey(variables), hubKeyPrefix)
  findings.attempt(() => checkHubKey(hubKey, [orderSigner, evidenceKey]), 'key-wrong')
  return orderSigner
}

/** Asks the endpoints of all chains: what contradicts the files, networks, heads and the clock. */
async function examineChains(
  { chains, quote }: LoadedFiles,
  registry: QuoteRegistry,
  nowMs: () => number,
  findings: Findings,
): Promise<void> {
  const opened = connectChains(chains, registry).flatMap(({ chain, client }) =>
    client === undefined ? [] : [{ chain, client }],
  )
  const clients = new Map<string, ChainClient>(opened.map(({ chain, client }) => [chain.id, client]))
  const { environment } = chains
  const clocks = opened.map(({ chain, client }) => {
    return () => headSeconds(chain, client)
  })
  try {
    const [contradictions] = await Promise.all([
      findContradictions(chainChecks({ environment, file: quote, registry, chains: chains.chains, clients })),
      examineNetworks(watchedChains(registry, clients, quote.fillWallet), findings),
      ...opened.map(({ client }) => examineEndpoints(client, findings)),
      ...opened.map(({ chain }) => examineHeadPushes(chain, findings)),
      examineClock(clocks, nowMs, findings),
    ])
    findings.problems(contradictions, 'chain-contradicts')
  } finally {
    await Promise.all(opened.map(({ client }) => client.close()))
  }
}

/** Compares the guardians of the quote file with those that sign prices of Hermes now. */
async function examineSigners(
  { quote }: LoadedFiles,
  { priceAdapters }: QuoteApiConfig,
  nowMs: () => number,
  findings: Findings,
): Promise<void> {
  // `examineFiles` reports adapters that contradict the files; here that finding is dropped.
  const adapters = createFindings().attempt(() => createPriceAdapters(priceAdapters, quote)) ?? []
  await examineGuardians(adapters, quote, nowMs, findings)
}

/** Results of reading settings and files; undefined where that was not possible. */
type ReadableSettings = {
  readonly registry: QuoteRegistry | undefined
  readonly own: OwnTerms | undefined
  readonly nowMs: () => number
}

async function examineOwnDatabase(
  { values, apiKeyPeppers }: Settings,
  { registry, own, nowMs }: ReadableSettings,
  findings: Findings,
): Promise<void> {
  // A pool size that cannot be read is a finding of `readConfig`; here it counts as 0.
  const { DATABASE_URL: url, DATABASE_POOL_SIZE: poolSize = 0, JOBS: jobs } = values
  // Without a URL, `local` starts a database of its own; in other environments `readConfig` reported it.
  if (url === undefined) return
  const examined = {
    connectionString: url.reveal(),
    setting: 'DATABASE_URL',
    // The service starts without its database, and waits for it.
    isWaitedFor: true,
    nowMs,
    connections: poolSize + connectionsBesidePool,
    runsJobs: jobs !== 'off',
    directories: schemaModules,
  }
  await examineDatabase(examined, findings)
  const chainNames = new Map((registry?.chains ?? []).map(({ chainId, key }) => [chainId, key]))
  await examineStored(url.reveal(), { chainNames, peppers: apiKeyPeppers, own, nowMs }, findings)
}

/** Deny lists: without a readable one that is configured, the service does not start. */
async function examineDenyLists({ denyList }: Settings, findings: Findings): Promise<void> {
  for (const { setting, problem } of await examineDenyList(denyList)) findings.wrong(setting, problem)
}
