import { readFileSync } from 'node:fs'
import {
  examineClock,
  examineDenyList,
  examineEndpoints,
  examineHeadPushes,
  findContradictions,
  headSeconds,
} from '@causeway/chains'
import { counted, createFindings, type Finding, type Findings } from '@causeway/core/config'
import { examineDatabase } from '@causeway/database'
import { checkAdminKey } from '@causeway/http'
import { hermesNeedsKey, planMarket } from '@causeway/market'
import type { ChainClient } from '@causeway/rpc'
import {
  type Examination,
  examineCompanions,
  examineOracles,
  examinePorts,
  readFileMode,
} from '@causeway/service'
import { checkHubKey, examineSigningKey, hasHubKey, hubKeyPrefix } from '@causeway/signer'
import { evidenceKeyPrefix, hasEvidenceKey, type QuoteApiConfig, readConfig } from '../config/config.ts'
import { type LoadedFiles, readFiles } from '../config/configuration.ts'
import { chainChecks } from '../operate/checkChains.ts'
import { schemaModules } from '../operate/database.ts'
import { examineGuardians, examineNetworks } from '../operate/examineNetworks.ts'
import { examineStored } from '../operate/examineStored.ts'
import { createRegistry, type QuoteRegistry } from '../pricing/registry.ts'
import { watchedChains } from '../requests/stops/networkWatch.ts'
import { ownTermsOf } from '../requests/stops/ownTerms.ts'
import type { OwnTerms } from '../requests/stops/solverTerms.ts'
import { checkEvidenceKey } from '../requests/timeline/signTimeline.ts'
import { connectChains } from './market.ts'
import { createPriceAdapters, sourceReach } from './priceAdapters.ts'
import { hasFillWallet } from './quotable.ts'

type Variables = Readonly<Record<string, string | undefined>>

type Settings = ReturnType<typeof readConfig>

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
  const readFile = (path: string) => readFileSync(path, 'utf8')
  const keyFiles = { environment: variables, readFile, modeOf: readFileMode }
  const orderSigner = await examineSigningKey(keyFiles, findings)
  const examineKey = async (isSet: boolean, prefix: string) =>
    isSet ? await examineSigningKey({ ...keyFiles, prefix }, findings) : undefined
  const evidenceKey = await examineKey(hasEvidenceKey(variables), evidenceKeyPrefix)
  findings.attempt(() => checkEvidenceKey(evidenceKey, orderSigner), 'key-wrong')
  const hubKey = await examineKey(hasHubKey(variables), hubKeyPrefix)
  findings.attempt(() => checkHubKey(hubKey, [orderSigner, evidenceKey]), 'key-wrong')
  const { environment, configDirectory, custody } = settings.places
  const places = environment && { environment, configDirectory, custody, orderSigner }
  const files = places && (await readFiles(places, variables, findings))
  const registry = files ? examineFiles(files, settings, findings) : undefined
  if (scope === 'settings') return findings.list
  const ownTerms =
    files && registry && orderSigner !== undefined
      ? ownTermsOf({
          quote: files.quote,
          registry,
          orderSigner,
          isRead: (key) => files.chains.chains.get(key)?.ready === true,
        })
      : undefined
  await Promise.all([
    files && registry && examineChains(files, registry, nowMs, findings),
    files && settings.config && examineSigners(files, settings.config, nowMs, findings),
    examineOwnDatabase(settings, { registry, own: ownTerms, nowMs }, findings),
    settings.oracles && examineOracles(settings.oracles, 'nothing settles', findings),
    examineList(settings, findings),
  ])
  return findings.list
}

/** Checks settings against each other, and names unset ones without which the service starts but does part of its work. */
function examineValues({ values, places }: Settings, variables: Variables, findings: Findings): void {
  const { isLocal } = places
  const { ADMIN_HOST: host, ADMIN_API_KEY: apiKey } = values
  if (host) findings.attempt(() => checkAdminKey({ host, isLocal, ...(apiKey !== undefined && { apiKey }) }))
  examinePorts(
    [
      {
        setting: 'HTTP_PORT',
        host: values.HTTP_HOST,
        port: values.HTTP_PORT ?? values.PORT,
      },
      { setting: 'OPS_PORT', host: values.OPS_HOST, port: values.OPS_PORT },
      { setting: 'ADMIN_PORT', host, port: values.ADMIN_PORT },
    ],
    findings,
  )
  examineCompanions(
    values,
    [
      ['HERMES_API_KEY', 'HERMES_URL'],
      ['COINGECKO_API_KEY', 'COINGECKO_URL'],
      ['EXTERNAL_LIQUIDITY_API_KEY', 'EXTERNAL_LIQUIDITY_URL'],
      ['ORACLES_THRESHOLD', 'ORACLES'],
      ['TOP_UP_FROM_BLOCK', 'CUSTODY_ADDRESS'],
      ['TOP_UP_RECONCILE_RPC_URL', 'CUSTODY_ADDRESS'],
    ],
    findings,
  )
  const { HERMES_URL: hermes, HERMES_API_KEY: hermesKey } = values
  if (hermes !== undefined && hermesKey === undefined && hermesNeedsKey(hermes)) {
    findings.add({
      code: 'setting-missing',
      severity: 'degrades',
      setting: 'HERMES_API_KEY',
      fix: '',
      seen: 'is not set: HERMES_URL is a service of Pyth, which answers nobody without an API key',
    })
  }
  if (isLocal) return
  const unserved = 'no solver can fetch work, and what is deposited is neither filled nor given back'
  const lacking = [
    ['stops', 'SOLVER_API_KEY', `is not set: ${unserved}`],
    ['degrades', 'ORACLES', 'is not set: no fill is proved, and nothing settles'],
    ['note', 'CUSTODY_ADDRESS', 'is not set: no top-up of a sponsor is seen'],
  ] as const
  for (const [severity, setting, problem] of lacking) {
    if ((variables[setting] ?? '') !== '') continue
    findings.add({ code: 'setting-missing', severity, setting, seen: problem, fix: '' })
  }
}

/** Checks the files against each other, and against the settings as far as these can be read. */
function examineFiles(
  { chains, quote }: LoadedFiles,
  { config, places }: Settings,
  findings: Findings,
): QuoteRegistry | undefined {
  const listedChains = [...chains.chains.values()]
  const registry = findings.attempt(() => createRegistry(quote, listedChains), 'configuration-wrong')
  if (config !== undefined) {
    const plan = findings.attempt(() => planMarket(quote, sourceReach(config, chains)), 'configuration-wrong')
    if (plan !== undefined) examinePrices(plan, config, findings)
    findings.attempt(() => createPriceAdapters(config.priceAdapters, quote), 'setting-contradicts')
  }
  if (registry === undefined) return undefined
  const severity = places.isLocal ? 'degrades' : 'stops'
  if (!hasFillWallet(quote)) {
    findings.add({
      code: 'nothing-quotable',
      severity,
      setting: 'FILL_WALLET_ADDRESS',
      seen: 'is not set: nobody pays orders, and every quote is refused',
      fix: '',
    })
  }
  const unreadChains = registry.chains.flatMap(
    ({ key }) => listedChains.find(({ id, ready }) => id === key && !ready) ?? [],
  )
  const isNoneRead = unreadChains.length === registry.chains.length
  for (const { id, unsetVariables } of unreadChains) {
    const [setting = `httpRpcUrl of ${id}`] = unsetVariables
    findings.add({
      code: 'chain-without-endpoint',
      severity: isNoneRead ? severity : 'note',
      setting,
      fix: '',
      seen: `is not set: ${id} is quoted by the file and cannot be priced${isNoneRead ? ', as no other chain' : ''}`,
    })
  }
  return registry
}

/** Settings that switch price services on, the one that asks for no key first. */
const priceSettings = [
  ['defillama', 'DEFILLAMA_URL'],
  ['hermes', 'HERMES_URL'],
  ['coingecko', 'COINGECKO_URL'],
] as const

/**
 * Finds prices without a second source. Such a price is refused once its only source jumps, because none confirms the
 * jump; if the files demand a second source, it is refused at once.
 */
function examinePrices(
  { prices }: ReturnType<typeof planMarket>,
  { priceAdapters }: Pick<QuoteApiConfig, 'priceAdapters'>,
  findings: Findings,
): void {
  const [unusedService] = priceSettings.filter(
    ([name]) =>
      priceAdapters[name].url === undefined &&
      prices.some(({ http }) => http.some(({ adapter }) => adapter === name)),
  )
  const say = (affectedPrices: typeof prices, reason: string) => {
    if (affectedPrices.length === 0) return
    const keys = affectedPrices.map(({ key }) => key).join(', ')
    const subject = `${counted(affectedPrices.length, 'price')} (${keys})`
    const setting = unusedService?.[1]
    findings.add({
      code: 'price-unconfirmed',
      severity: 'degrades',
      setting: setting ?? 'prices',
      seen: `${setting === undefined ? '' : 'is not set: '}no second source is reached of ${subject}: ${reason}`,
      fix: `${setting === undefined ? 'Name' : `Set ${setting}, or name`} an endpoint of another chain that has these prices, at another provider.`,
    })
  }
  say(
    prices.filter(
      ({ secondSource, lackingChains }) => secondSource === 'single' && lackingChains.length === 0,
    ),
    'a jump of the first is never confirmed, and the price stays refused until it is back',
  )
  say(
    prices.filter(({ lackingChains }) => lackingChains.length > 0),
    'quotes that need them are refused until there is one',
  )
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
  const clocks = opened.map(
    ({ chain, client }) =>
      () =>
        headSeconds(chain, client),
  )
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

/** What was read from settings and files; undefined where that was not possible. */
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
  const { DATABASE_URL: url, DATABASE_POOL_SIZE: poolSize = 0, JOBS: jobs } = values
  // Without a URL, `local` starts a database of its own; in other environments `readConfig` reported it.
  if (url === undefined) return
  const examined = {
    connectionString: url.reveal(),
    setting: 'DATABASE_URL',
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
async function examineList({ denyList }: Settings, findings: Findings): Promise<void> {
  for (const { setting, problem } of await examineDenyList(denyList)) findings.wrong(setting, problem)
}
