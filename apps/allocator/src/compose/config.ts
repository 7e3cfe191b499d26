import { resolve } from 'node:path'
import {
  environmentName,
  listenPort,
  readVariables,
  stopsStart,
  UnfitSettingsError,
} from '@causeway/core/config'
import { findForeignKeys } from '@causeway/service'
import { z } from 'zod'

const text = z.string()

/** Every variable of the allocator except those of its keys and those that its configuration files refer to. */
const variables = z.object({
  ENVIRONMENT: environmentName.describe('Selects the configuration files'),
  OPS_HOST: text.default('127.0.0.1'),
  OPS_PORT: listenPort.default(3001),
  CONFIG_DIR: text.optional(),
  STATE_DIR: text.optional(),
  STOPS_URL: z.url({ protocol: /^https?$/ }).optional(),
  POLL_INTERVAL_MS: z.coerce.number().int().min(20).max(60_000).default(2_000),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
})

export type AllocatorConfig = ReturnType<typeof loadConfig>

/** Prefix of the variables of its keys, so that no other service reads them by mistake. */
export const keyPrefix = 'ALLOCATOR_'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Parses the environment once, at start. An empty variable counts as unset.
 * @param source the process environment, with `/vault/secrets` merged in by the caller
 * @throws UnfitSettingsError naming every bad variable, or one that holds another service's key; never a value
 */
export function loadConfig(source: Environment, repositoryRoot: string) {
  const { config, findings } = readConfig(source, repositoryRoot)
  if (config === undefined) throw new UnfitSettingsError(findings)
  return config
}

/**
 * As `loadConfig`, for doctor too: findings instead of an error. `config` is undefined when a finding stops the start;
 * `partialConfig` is then what could be read.
 */
export function readConfig(source: Environment, repositoryRoot: string) {
  const { values, whole: env, findings: found } = readVariables(variables, source)
  found.problems(findForeignKeys('allocator', source), 'setting-contradicts')
  const isLocal = source['ENVIRONMENT'] === 'local'
  if (values.STATE_DIR === undefined && !isLocal) {
    const reason = 'without it every start begins a new hour of each cap, and a stop ends with the process'
    found.missing('STATE_DIR', `STATE_DIR is required: ${reason}`)
  }
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
    ops: { host: env.OPS_HOST, port: env.OPS_PORT },
    configDirectory,
    stateDirectory,
    stopsUrl: env.STOPS_URL?.replace(/\/+$/, ''),
    pollIntervalMs: env.POLL_INTERVAL_MS,
    logLevel: env.LOG_LEVEL,
  })
  return { config, values, partialConfig, findings }
}
