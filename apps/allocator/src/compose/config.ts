import { resolve } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import { refuseForeignKeys } from '@causeway/http'
import { z } from 'zod'

const text = z.string()

/** Every variable of the allocator but those of its keys and those that its files name. */
const variables = z.object({
  ENVIRONMENT: text.regex(/^[a-z0-9]+(\.[a-z0-9]+)*$/).describe('Selects the configuration files'),
  OPS_HOST: text.default('127.0.0.1'),
  OPS_PORT: z.coerce.number().int().min(0).max(65_535).default(3001),
  CONFIG_DIR: text.optional(),
  STATE_DIR: text.optional(),
  POLL_INTERVAL_MS: z.coerce.number().int().min(20).max(60_000).default(2_000),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
})

export type AllocatorConfig = ReturnType<typeof loadConfig>

/** Prefix of the variables of its key, so that nobody hands it to another service by mistake. */
export const keyPrefix = 'ALLOCATOR_'

/**
 * Parses the environment once, at start. An empty variable counts as unset.
 * @param source the process environment, with `/vault/secrets` merged in by the caller
 * @throws ConfigurationError naming every bad variable, or one that holds another service's key; never a value
 */
export function loadConfig(source: Readonly<Record<string, string | undefined>>, repositoryRoot: string) {
  refuseForeignKeys('allocator', source)
  const set = Object.entries(source).filter(([, value]) => value !== undefined && value !== '')
  const parsed = variables.safeParse(Object.fromEntries(set))
  if (!parsed.success) throw new ConfigurationError(`Bad environment:\n${z.prettifyError(parsed.error)}`)
  const env = parsed.data
  const isLocal = env.ENVIRONMENT === 'local'
  if (env.STATE_DIR === undefined && !isLocal) {
    throw new ConfigurationError(
      'STATE_DIR is required: without it every start begins a new hour of each cap, and a stop ends with the process.',
    )
  }
  return Object.freeze({
    environment: env.ENVIRONMENT,
    isLocal,
    ops: { host: env.OPS_HOST, port: env.OPS_PORT },
    configDirectory: resolve(repositoryRoot, env.CONFIG_DIR ?? 'configs'),
    stateDirectory: env.STATE_DIR === undefined ? undefined : resolve(repositoryRoot, env.STATE_DIR),
    pollIntervalMs: env.POLL_INTERVAL_MS,
    logLevel: env.LOG_LEVEL,
  })
}
