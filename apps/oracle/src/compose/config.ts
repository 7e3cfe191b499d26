import { resolve } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import { parseTrustedProxies, refuseForeignKeys } from '@causeway/http'
import { z } from 'zod'
import { shownKeys } from '../peers/settings.ts'
import { parseKeySettings, refuseShownKeys } from '../service/keySetting.ts'

const port = z.coerce.number().int().min(0).max(65_535)
const text = z.string()

/** Every variable of the oracle but those of its signer and those that the chain files name. */
const variables = z.object({
  ENVIRONMENT: text.regex(/^[a-z0-9]+(\.[a-z0-9]+)*$/).describe('Selects the configuration files'),
  HTTP_HOST: text.default('0.0.0.0'),
  HTTP_PORT: port.optional(),
  PORT: port.optional(),
  OPS_HOST: text.default('127.0.0.1'),
  OPS_PORT: port.default(3001),
  CONFIG_DIR: text.optional(),
  STATE_DIR: text.optional(),
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
  TRUSTED_PROXIES: text.default(''),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
})

export type OracleConfig = ReturnType<typeof loadConfig>

/**
 * Parses the environment once, at start. An empty variable counts as unset.
 * @param source the process environment, with `/vault/secrets` merged in by the caller
 * @throws ConfigurationError naming every bad variable and printing no value
 */
export function loadConfig(source: Readonly<Record<string, string | undefined>>, repositoryRoot: string) {
  refuseForeignKeys('other', source)
  const set = Object.entries(source).filter(([, value]) => value !== undefined && value !== '')
  const parsed = variables.safeParse(Object.fromEntries(set))
  if (!parsed.success) throw new ConfigurationError(`Bad environment:\n${z.prettifyError(parsed.error)}`)
  const env = parsed.data
  const apiKeys = parseKeySettings({ operators: env.API_KEYS, peers: env.PEER_API_KEYS })
  refuseShownKeys(apiKeys, shownKeys(env.PEERS))
  return Object.freeze({
    environment: env.ENVIRONMENT,
    isLocal: env.ENVIRONMENT === 'local',
    http: { host: env.HTTP_HOST, port: env.HTTP_PORT ?? env.PORT ?? 3000 },
    ops: { host: env.OPS_HOST, port: env.OPS_PORT },
    configDirectory: resolve(repositoryRoot, env.CONFIG_DIR ?? 'configs'),
    stateDirectory: env.STATE_DIR === undefined ? undefined : resolve(repositoryRoot, env.STATE_DIR),
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
    trustedProxies: parseTrustedProxies(env.TRUSTED_PROXIES),
    logLevel: env.LOG_LEVEL,
  })
}
