import { resolve } from 'node:path'
import { denyListSettings, denyListVariables, parseOracles, type Variables } from '@causeway/chains'
import { ConfigurationError, Secret } from '@causeway/core'
import {
  environmentName,
  listenPort,
  readVariables,
  stopsStart,
  UnfitSettingsError,
} from '@causeway/core/config'
import { parseAddressList } from '@causeway/families/rules'
import { findForeignKeys, readTracingSettings, tracingVariables } from '@causeway/service'
import { z } from 'zod'

const secret = z.string().transform((value) => new Secret(value))

/** The solver's variables, without those of its keys and those that configuration files name. */
const variables = z.object({
  ENVIRONMENT: environmentName.describe('Selects the configuration files'),
  OPS_HOST: z.string().default('127.0.0.1'),
  OPS_PORT: listenPort.default(3001),
  CONFIG_DIR: z.string().optional(),
  CAUSEWAY_LOCAL_DIR: z.string().optional(),
  DATABASE_URL: secret.optional(),
  QUOTE_API_URL: z.url({ protocol: /^https?$/ }).optional(),
  SOLVER_API_KEY: secret.optional(),
  ORDER_SIGNERS: z.string().optional(),
  ORACLES: secret.optional(),
  ORACLES_THRESHOLD: z.coerce.number().int().min(1).max(100).optional(),
  POLL_INTERVAL_MS: z.coerce.number().int().min(20).max(60_000).default(500),
  LEASE_MS: z.coerce.number().int().min(1_000).max(600_000).default(10_000),
  DRY_RUN: z.enum(['on', 'off']).default('off'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  ...denyListVariables,
  ...tracingVariables,
})

const tracedShare = 1

export type SolverConfig = ReturnType<typeof loadConfig>

/**
 * Parses the environment once, at start. An empty variable counts as unset.
 * @param source the process environment, with `/vault/secrets` merged in by the caller
 * @throws UnfitSettingsError naming every bad variable and printing no value
 */
export function loadConfig(source: Variables, repositoryRoot: string) {
  const { config, findings } = readConfig(source, repositoryRoot)
  if (config === undefined) throw new UnfitSettingsError(findings)
  return config
}

/**
 * As `loadConfig`, for `doctor`: collects what is wrong. `config` is undefined if a finding stops the start; the other
 * members are what could be read.
 */
export function readConfig(source: Variables, repositoryRoot: string) {
  const { values, whole: env, findings } = readVariables(variables, source)
  // `other`: any service but the allocator.
  findings.problems(findForeignKeys('other', source), 'setting-contradicts')
  const isLocal = source['ENVIRONMENT'] === 'local'
  if (!isLocal && values.DATABASE_URL === undefined)
    findings.missing('DATABASE_URL', 'DATABASE_URL is required in every environment but local')
  const { ORACLES: text, ORACLES_THRESHOLD: threshold } = values
  const oracles = findings.attempt(() => parseOracles({ text, threshold, isLocal }))
  const orderSigners = findings.attempt(() => parseAddressList('ORDER_SIGNERS', values.ORDER_SIGNERS))
  const places = {
    environment: values.ENVIRONMENT,
    isLocal,
    configDirectory: resolve(repositoryRoot, values.CONFIG_DIR ?? 'configs'),
  }
  const denyList = denyListSettings(values, places, findings)
  if (env === undefined || stopsStart(findings.list))
    return { config: undefined, values, places, oracles, denyList, findings: findings.list }
  const config = Object.freeze({
    environment: env.ENVIRONMENT,
    isLocal,
    ops: { host: env.OPS_HOST, port: env.OPS_PORT },
    configDirectory: places.configDirectory,
    localDirectory: resolve(repositoryRoot, env.CAUSEWAY_LOCAL_DIR ?? '.local'),
    databaseUrl: env.DATABASE_URL,
    quoteApiUrl: env.QUOTE_API_URL,
    solverApiKey: env.SOLVER_API_KEY,
    orderSigners: orderSigners ?? new Set<string>(),
    oracles,
    pollIntervalMs: env.POLL_INTERVAL_MS,
    leaseMs: env.LEASE_MS,
    isDryRun: env.DRY_RUN === 'on',
    denyList,
    logLevel: env.LOG_LEVEL,
    // All rounds and items are traced by default: a fill is rare and worth more than its trace costs.
    tracing: readTracingSettings(env, tracedShare),
  })
  return { config, values, places, oracles, denyList, findings: findings.list }
}

/**
 * Settings that a running solver needs and its commands do not.
 * @throws ConfigurationError naming all missing ones
 */
export function workSettings({ quoteApiUrl, solverApiKey, orderSigners }: SolverConfig) {
  const missing = [
    ...(quoteApiUrl === undefined ? ['QUOTE_API_URL'] : []),
    ...(solverApiKey === undefined ? ['SOLVER_API_KEY'] : []),
    ...(orderSigners.size === 0 ? ['ORDER_SIGNERS'] : []),
  ]
  if (quoteApiUrl === undefined || solverApiKey === undefined || missing.length > 0)
    throw new ConfigurationError(`Required: ${missing.join(', ')}.`)
  return { quoteApiUrl, solverApiKey, orderSigners }
}
