import { resolve } from 'node:path'
import { type DenyListSettings, denyListSettings, denyListVariables, parseOracles } from '@causeway/chains'
import { type Hex, Secret } from '@causeway/core'
import {
  decimalInteger,
  environmentName,
  type Finding,
  type Findings,
  listenPort,
  readVariables,
  stopsStart,
  UnfitSettingsError,
} from '@causeway/core/config'
import { parseCasedAddress } from '@causeway/families/rules'
import { checkKeySetting, parseSecurityContact, parseTrustedProxies } from '@causeway/http'
import { findForeignKeys, readTracingSettings, tracingVariables } from '@causeway/service'
import { z } from 'zod'
import { parsePeppers } from '../access/keys/peppers.ts'

const limit = z.coerce.number().int().min(0).max(1_000_000)
const days = (least: number) => z.coerce.number().int().min(least).max(36_500)
const url = z.url({ protocol: /^https?$/ })
const secret = z.string().transform((value) => new Secret(value))

/** Every variable of quote-api; endpoint variables are named by the chain files. */
const variables = z.object({
  ENVIRONMENT: environmentName.describe('Selects the configuration files'),
  HTTP_HOST: z.string().default('0.0.0.0'),
  HTTP_PORT: listenPort.optional(),
  PORT: listenPort.default(3000),
  OPS_HOST: z.string().default('127.0.0.1'),
  OPS_PORT: listenPort.default(3001),
  ADMIN_HOST: z.string().default('127.0.0.1'),
  ADMIN_PORT: listenPort.default(3002),
  ADMIN_API_KEY: secret.optional(),
  API_KEY_PEPPERS: secret.optional(),
  PUBLIC_URL: url.optional(),
  CONFIG_DIR: z.string().optional(),
  CAUSEWAY_LOCAL_DIR: z.string().optional(),
  DATABASE_URL: secret.optional(),
  DATABASE_POOL_SIZE: z.coerce.number().int().min(1).max(64).default(8),
  DATABASE_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  SIGNING_MODULE: z.enum(['raw-private-key', 'aws-kms']).default('raw-private-key'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  TRUSTED_PROXIES: z.string().default(''),
  SECURITY_CONTACT: z.string().optional(),
  RATE_LIMIT_PER_KEY: limit.optional(),
  RATE_LIMIT_PER_IP: limit.optional(),
  RATE_LIMIT_COUNTING: z.enum(['shared', 'alone']).optional(),
  HERMES_URL: url.optional(),
  HERMES_API_KEY: secret.optional(),
  DEFILLAMA_URL: url.optional(),
  COINGECKO_URL: url.optional(),
  COINGECKO_API_KEY: secret.optional(),
  EXTERNAL_LIQUIDITY_URL: url.optional(),
  EXTERNAL_LIQUIDITY_API_KEY: secret.optional(),
  JOBS: z.enum(['on', 'off']).default('on'),
  DRAIN_MS: z.coerce.number().int().min(0).max(10_000).optional(),
  CUSTODY_ADDRESS: z
    .string()
    .refine((text) => parseCasedAddress(text) !== undefined, 'must be an EVM address with the right checksum')
    .optional(),
  TOP_UP_FROM_BLOCK: decimalInteger.optional(),
  TOP_UP_MODE: z.enum(['strict', 'trace']).default('strict'),
  TOP_UP_TRAILING_BYTES: z.enum(['accept', 'suspend']).default('accept'),
  TOP_UP_RECONCILE_RPC_URL: secret.optional(),
  SOLVER_API_KEY: secret.optional(),
  ORACLES: secret.optional(),
  WEBHOOK_PRIVATE_ADDRESSES: z.enum(['refuse', 'allow']).default('refuse'),
  ORACLES_THRESHOLD: z.coerce.number().int().min(1).max(100).optional(),
  ...denyListVariables,
  ...tracingVariables,
  DEPOSITS_UNREAD_SECONDS: z.coerce.number().int().min(5).max(3_600).default(15),
  JOBS_SILENT_SECONDS: z.coerce.number().int().min(5).max(3_600).default(30),
  STANDSTILL_SECONDS: z.coerce.number().int().min(10).max(86_400).default(300),
  RETENTION_QUOTES_DAYS: days(1).optional(),
  // Rule O-184 keeps requests for thirty days at least, O-183 messages for thirty at most.
  RETENTION_REQUESTS_DAYS: days(30).optional(),
  RETENTION_WEBHOOKS_DAYS: days(1).max(30).default(30),
})

export type QuoteApiConfig = ReturnType<typeof loadConfig>

type Environment = Readonly<Record<string, string | undefined>>

/** Share of the traces that begin here: at thousands of requests per second one in ten suffices. */
const tracedShare = 0.1

/** Prefix of the variables of the key that signs timelines. */
export const evidenceKeyPrefix = 'EVIDENCE_'
const evidenceKeyVariables = [
  'EVIDENCE_SIGNING_MODULE',
  'EVIDENCE_ECDSA_PRIVATE_KEY',
  'EVIDENCE_ECDSA_PRIVATE_KEY_FILE',
  'EVIDENCE_AWS_KMS_SIGNER_KEY_ID',
  'EVIDENCE_AWS_KMS_SIGNER_KEY_REGION',
]

/** True if timelines are signed: any variable of their key, once set, asks for it. */
export const hasEvidenceKey = (source: Environment): boolean =>
  evidenceKeyVariables.some((name) => (source[name] ?? '').trim() !== '')

/** Needed but in `local`, which makes them itself. The admin listener checks `ADMIN_API_KEY`. */
const neededElsewhere = ['DATABASE_URL', 'API_KEY_PEPPERS', 'PUBLIC_URL'] as const

/**
 * Parses the environment once, at start. An empty variable counts as unset.
 * @param source the process environment, with `/vault/secrets` merged in by the caller
 * @throws UnfitSettingsError naming every bad variable and printing no value
 */
export function loadConfig(source: Environment, repositoryRoot: string) {
  const { config, findings } = readConfig(source, repositoryRoot)
  if (config === undefined) throw new UnfitSettingsError(findings)
  return config
}

/**
 * Like `loadConfig`, with all findings, for the doctor. `config` is undefined if one of them stops the start.
 * The other members are there in any case, as far as their variables are good, so that the doctor can look at
 * what they name.
 */
export function readConfig(source: Environment, repositoryRoot: string) {
  // `values` has each variable that is good by itself; `env` is undefined unless all are.
  const { values, whole: env, findings: found } = readVariables(variables, source)
  // `other`: any service but the allocator.
  found.problems(findForeignKeys('other', source), 'setting-contradicts')
  const isLocal = source['ENVIRONMENT'] === 'local'
  if (!isLocal) findMissing(values, found)
  const parsed = parseTexts(values, isLocal, found)
  const findings: readonly Finding[] = found.list
  const places = {
    environment: values.ENVIRONMENT,
    isLocal,
    configDirectory: resolve(repositoryRoot, values.CONFIG_DIR ?? 'configs'),
    custody: values.CUSTODY_ADDRESS === undefined ? undefined : parseCasedAddress(values.CUSTODY_ADDRESS),
  }
  const denyList = denyListSettings(values, places, found)
  const { oracles, apiKeyPeppers } = parsed
  const config =
    env === undefined || stopsStart(findings)
      ? undefined
      : buildConfig(env, repositoryRoot, places, { ...parsed, denyList })
  return { config, values, places, oracles, denyList, apiKeyPeppers, findings }
}

/** The variables that are good by themselves. */
type Values = Partial<z.output<typeof variables>>

/** Reports variables that are missing outside a local network. */
function findMissing(values: Values, found: Findings): void {
  for (const name of neededElsewhere) {
    // A variable with a bad value is not missing: it has a finding already.
    if (values[name] === undefined && !found.list.some(({ setting }) => setting === name))
      found.missing(name, `${name} is required in every environment but local`)
  }
  if (values.CUSTODY_ADDRESS !== undefined && values.TOP_UP_FROM_BLOCK === undefined)
    found.missing('TOP_UP_FROM_BLOCK', 'TOP_UP_FROM_BLOCK is required beside CUSTODY_ADDRESS')
}

/** Parses variables that hold more than one value, and reports bad ones; undefined where one is bad or not set. */
function parseTexts(values: Values, isLocal: boolean, found: Findings) {
  const { API_KEY_PEPPERS: peppers, SOLVER_API_KEY: solverApiKey } = values
  const apiKeyPeppers = peppers && found.attempt(() => parsePeppers(peppers))
  if (solverApiKey) found.attempt(() => checkKeySetting(solverApiKey.reveal(), 'SOLVER_API_KEY', isLocal))
  const { ORACLES: text, ORACLES_THRESHOLD: threshold } = values
  const oracles = found.attempt(() => parseOracles({ text, threshold, isLocal }))
  const trustedProxies = found.attempt(() => parseTrustedProxies(values.TRUSTED_PROXIES ?? '')) ?? []
  const securityContact = found.attempt(() => parseSecurityContact(values.SECURITY_CONTACT))
  return { apiKeyPeppers, solverApiKey, oracles, trustedProxies, securityContact }
}

type ConfigPlaces = { isLocal: boolean; configDirectory: string; custody: Hex | undefined }

function buildConfig(
  env: z.output<typeof variables>,
  repositoryRoot: string,
  { isLocal, configDirectory, custody }: ConfigPlaces,
  parsed: ReturnType<typeof parseTexts> & { readonly denyList: DenyListSettings },
) {
  return Object.freeze({
    ...plainSettings(env),
    isLocal,
    apiKeyPeppers: parsed.apiKeyPeppers,
    configDirectory,
    docsDirectory: resolve(repositoryRoot, 'docs'),
    localDirectory: resolve(repositoryRoot, env.CAUSEWAY_LOCAL_DIR ?? '.local'),
    // A local network has no load balancer to drain.
    drainMs: env.DRAIN_MS ?? (isLocal ? 0 : 5_000),
    topUps: {
      custody,
      // Only a local network, whose chain is short, may leave it out beside CUSTODY_ADDRESS.
      fromBlock: env.TOP_UP_FROM_BLOCK ?? 0n,
      // `trace`: nodes are asked for call traces, so that transfers by contracts are credited too.
      mode: env.TOP_UP_MODE,
      allowTrailing: env.TOP_UP_TRAILING_BYTES === 'accept',
      reconcileRpcUrl: env.TOP_UP_RECONCILE_RPC_URL,
    },
    solverApiKey: parsed.solverApiKey,
    oracles: parsed.oracles,
    denyList: parsed.denyList,
    trustedProxies: parsed.trustedProxies,
    securityContact: parsed.securityContact,
    rateLimits: {
      perKeyMax: env.RATE_LIMIT_PER_KEY,
      perIpMax: env.RATE_LIMIT_PER_IP,
      // A local network has one replica.
      isShared: (env.RATE_LIMIT_COUNTING ?? (isLocal ? 'alone' : 'shared')) === 'shared',
    },
  })
}

/** Settings that depend on no other variable, environment or folder. */
function plainSettings(env: z.output<typeof variables>) {
  return {
    environment: env.ENVIRONMENT,
    // PORT is set by hosting platforms; HTTP_PORT, the operator's own, comes first.
    http: { host: env.HTTP_HOST, port: env.HTTP_PORT ?? env.PORT },
    ops: { host: env.OPS_HOST, port: env.OPS_PORT },
    admin: { host: env.ADMIN_HOST, port: env.ADMIN_PORT, apiKey: env.ADMIN_API_KEY },
    // The default is for `local` alone: elsewhere the variable is needed.
    publicUrl: env.PUBLIC_URL ?? 'http://localhost',
    // Without a URL, in `local` alone, the service starts a server of its own, at `port` where it is set.
    database: { url: env.DATABASE_URL, poolSize: env.DATABASE_POOL_SIZE, port: env.DATABASE_PORT },
    runsJobs: env.JOBS === 'on',
    webhooks: {
      allowPrivate: env.WEBHOOK_PRIVATE_ADDRESSES === 'allow',
      keptDays: env.RETENTION_WEBHOOKS_DAYS,
    },
    standstillSeconds: env.STANDSTILL_SECONDS,
    jobsSilentSeconds: env.JOBS_SILENT_SECONDS,
    depositsUnreadSeconds: env.DEPOSITS_UNREAD_SECONDS,
    retention: { quotesDays: env.RETENTION_QUOTES_DAYS, requestsDays: env.RETENTION_REQUESTS_DAYS },
    logLevel: env.LOG_LEVEL,
    tracing: readTracingSettings(env, tracedShare),
    externalLiquidity: { url: env.EXTERNAL_LIQUIDITY_URL, apiKey: env.EXTERNAL_LIQUIDITY_API_KEY },
    priceAdapters: {
      hermes: { url: env.HERMES_URL, apiKey: env.HERMES_API_KEY },
      defillama: { url: env.DEFILLAMA_URL },
      coingecko: { url: env.COINGECKO_URL, apiKey: env.COINGECKO_API_KEY },
    },
  }
}
