import { resolve } from 'node:path'
import { ConfigurationError, Secret } from '@causeway/core'
import { refuseForeignKeys } from '@causeway/http'
import { z } from 'zod'

const port = z.coerce.number().int().min(0).max(65_535)
const secret = z.string().transform((value) => new Secret(value))
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/)

/** Every variable of the solver but those of its signer and those that the configuration files name. */
const variables = z.object({
  ENVIRONMENT: z
    .string()
    .regex(/^[a-z0-9]+(\.[a-z0-9]+)*$/)
    .describe('Selects the configuration files'),
  OPS_HOST: z.string().default('127.0.0.1'),
  OPS_PORT: port.default(3001),
  CONFIG_DIR: z.string().optional(),
  CAUSEWAY_LOCAL_DIR: z.string().optional(),
  DATABASE_URL: secret.optional(),
  QUOTE_API_URL: z.url({ protocol: /^https?$/ }).optional(),
  SOLVER_API_KEY: secret.optional(),
  ORDER_SIGNERS: z
    .string()
    .transform((text) => text.split(/[;,]/).map((part) => part.trim().toLowerCase()))
    .pipe(z.array(address).min(1))
    .optional(),
  POLL_INTERVAL_MS: z.coerce.number().int().min(20).max(60_000).default(500),
  LEASE_MS: z.coerce.number().int().min(1_000).max(600_000).default(10_000),
  DRY_RUN: z.enum(['on', 'off']).default('off'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
})

export type SolverConfig = ReturnType<typeof loadConfig>

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
  const isLocal = env.ENVIRONMENT === 'local'
  if (!isLocal && env.DATABASE_URL === undefined)
    throw new ConfigurationError('DATABASE_URL is required in every environment but local.')
  return Object.freeze({
    environment: env.ENVIRONMENT,
    isLocal,
    ops: { host: env.OPS_HOST, port: env.OPS_PORT },
    configDirectory: resolve(repositoryRoot, env.CONFIG_DIR ?? 'configs'),
    localDirectory: resolve(repositoryRoot, env.CAUSEWAY_LOCAL_DIR ?? '.local'),
    databaseUrl: env.DATABASE_URL,
    quoteApiUrl: env.QUOTE_API_URL,
    solverApiKey: env.SOLVER_API_KEY,
    orderSigners: new Set(env.ORDER_SIGNERS ?? []),
    pollIntervalMs: env.POLL_INTERVAL_MS,
    leaseMs: env.LEASE_MS,
    isDryRun: env.DRY_RUN === 'on',
    logLevel: env.LOG_LEVEL,
  })
}

/** What the solver cannot work without, though its commands can. @throws ConfigurationError naming them all */
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
