import { resolve } from 'node:path'
import { Secret } from '@causeway/core'
import {
  environmentName,
  listenPort,
  readVariables,
  stopsStart,
  UnfitSettingsError,
} from '@causeway/core/config'
import { parseSecurityContact, parseTrustedProxies } from '@causeway/http'
import { findForeignKeys, readTracingSettings, tracingVariables } from '@causeway/service'
import { z } from 'zod'
import { shownKeys } from '../peers/settings.ts'
import { parseKeySettings, refuseShownKeys } from '../service/keySetting.ts'

const text = z.string()
const wholeCaps = '1/1'

/** Every variable of the oracle except those of its signer and those that the chain files refer to. */
const variables = z.object({
  ENVIRONMENT: environmentName.describe('Selects the configuration files'),
  HTTP_HOST: text.default('0.0.0.0'),
  HTTP_PORT: listenPort.optional(),
  PORT: listenPort.default(3000),
  OPS_HOST: text.default('127.0.0.1'),
  OPS_PORT: listenPort.default(3001),
  CONFIG_DIR: text.optional(),
  STATE_DIR: text.optional(),
  ORACLE_DATABASE_URL: text.transform((value) => new Secret(value)).optional(),
  CAPS_SHARE: text.regex(/^1\/[1-9][0-9]{0,2}$/, 'must be 1/n with n from 1 to 999').default(wholeCaps),
  API_KEYS: text.default(''),
  PEER_API_KEYS: text.default(''),
  FORCE: z.enum(['on', 'off']).default('on'),
  UNAUTHENTICATED_RATE_LIMIT_MAX: z.coerce.number().int().min(0).max(1_000_000).default(2),
  UNAUTHENTICATED_RATE_LIMIT_WINDOW_MS: z.coerce.number().int().min(1).max(3_600_000).default(1_000),
  PEERS: text.optional(),
  PEER_REQUEST_TIMEOUT_MS: z.coerce.number().int().min(1).max(120_000).default(10_000),
  ORACLE_SIGNERS: text.optional(),
  ORACLE_SIGNERS_THRESHOLD: text.optional(),
  ATTESTATIONS_IN_FLIGHT_MAX: z.coerce.number().int().min(1).max(100_000).default(256),
  FINAL_RESULTS_KEPT_MAX: z.coerce.number().int().min(0).max(1_000_000).default(10_000),
  FINALITY_CHECK_INTERVAL_MS: z.coerce.number().int().min(100).max(600_000).default(15_000),
  HEAD_CHECK_INTERVAL_MS: z.coerce.number().int().min(50).max(1_000).default(500),
  HEAD_AGE_MAX_MS: z.coerce.number().int().min(1_000).max(600_000).default(30_000),
  AHEAD: z.enum(['on', 'off']).optional(),
  AHEAD_MINUTES: z.coerce.number().int().min(1).max(1_440).default(15),
  AHEAD_WAITING_MAX: z.coerce.number().int().min(1).max(1_000_000).default(10_000),
  TRUSTED_PROXIES: text.default(''),
  SECURITY_CONTACT: text.optional(),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  ...tracingVariables,
})

/** Share of requests whose trace begins here and is recorded; traces that callers began are recorded as well. */
const tracedShare = 0.1

const shareBesideDatabase =
  'CAPS_SHARE divides caps that ORACLE_DATABASE_URL counts over all processes already: set one of them.'

export type OracleConfig = ReturnType<typeof loadConfig>

type Environment = Readonly<Record<string, string | undefined>>

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
 * As `loadConfig`, for doctor too: findings instead of an error. `config` is undefined when a finding stops
 * the start; `values` then has the variables that could be parsed one by one, and `partialConfig` what
 * follows from these alone.
 */
export function readConfig(source: Environment, repositoryRoot: string) {
  const { values, whole: env, findings: found } = readVariables(variables, source)
  // `other`: every service except the allocator.
  found.problems(findForeignKeys('other', source), 'setting-contradicts')
  const isLocal = source['ENVIRONMENT'] === 'local'
  const keySettings = { operators: values.API_KEYS ?? '', peers: values.PEER_API_KEYS ?? '', isLocal }
  const apiKeys = found.attempt(() => parseKeySettings(keySettings)) ?? []
  found.attempt(() => refuseShownKeys(apiKeys, shownKeys(values.PEERS)), 'setting-contradicts')
  const trustedProxies = found.attempt(() => parseTrustedProxies(values.TRUSTED_PROXIES ?? '')) ?? []
  const securityContact = found.attempt(() => parseSecurityContact(values.SECURITY_CONTACT))
  if (values.ORACLE_DATABASE_URL !== undefined && (values.CAPS_SHARE ?? wholeCaps) !== wholeCaps)
    found.problems([shareBesideDatabase], 'setting-contradicts')
  const findings = found.list
  const partialConfig = {
    environment: values.ENVIRONMENT,
    isLocal,
    configDirectory: resolve(repositoryRoot, values.CONFIG_DIR ?? 'configs'),
    stateDirectory: values.STATE_DIR === undefined ? undefined : resolve(repositoryRoot, values.STATE_DIR),
  }
  const { configDirectory, stateDirectory } = partialConfig
  if (env === undefined || stopsStart(findings)) return { config: undefined, values, partialConfig, findings }
  const config = Object.freeze({
    environment: env.ENVIRONMENT,
    isLocal,
    http: { host: env.HTTP_HOST, port: env.HTTP_PORT ?? env.PORT },
    ops: { host: env.OPS_HOST, port: env.OPS_PORT },
    configDirectory,
    stateDirectory,
    databaseUrl: env.ORACLE_DATABASE_URL,
    capsShare: Number(env.CAPS_SHARE.slice(2)),
    apiKeys,
    allowsForce: env.FORCE === 'on',
    rateLimit: {
      max: env.UNAUTHENTICATED_RATE_LIMIT_MAX,
      windowMs: env.UNAUTHENTICATED_RATE_LIMIT_WINDOW_MS,
    },
    peers: { entries: env.PEERS, timeoutMs: env.PEER_REQUEST_TIMEOUT_MS },
    signers: { entries: env.ORACLE_SIGNERS, threshold: env.ORACLE_SIGNERS_THRESHOLD },
    inFlightMax: env.ATTESTATIONS_IN_FLIGHT_MAX,
    finalResultsKeptMax: env.FINAL_RESULTS_KEPT_MAX,
    finalityCheckIntervalMs: env.FINALITY_CHECK_INTERVAL_MS,
    headCheckIntervalMs: env.HEAD_CHECK_INTERVAL_MS,
    headAgeMaxMs: env.HEAD_AGE_MAX_MS,
    ahead: {
      // By default off with a key management service, which charges for each signature.
      isOn: (env.AHEAD ?? ((source['SIGNING_MODULE'] ?? '').trim() === 'aws-kms' ? 'off' : 'on')) === 'on',
      minutes: env.AHEAD_MINUTES,
      waitingMax: env.AHEAD_WAITING_MAX,
    },
    trustedProxies,
    securityContact,
    logLevel: env.LOG_LEVEL,
    tracing: readTracingSettings(env, tracedShare),
  })
  return { config, values, partialConfig, findings }
}
