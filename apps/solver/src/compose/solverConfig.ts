import { readFile } from 'node:fs/promises'
import { ConfigurationError } from '@causeway/core'
import { z } from 'zod'
import { hexSchema } from '@causeway/localnet'

const chainSchema = z.object({
  chainId: z.number().int().positive(),
  rpcUrl: z.url(),
  depository: hexSchema(20),
  fillContract: hexSchema(20),
  depositAddresses: hexSchema(20),
  permitRouter: hexSchema(20),
  wrappedNative: hexSchema(20),
})

const configSchema = z.object({
  quoteApiUrl: z.url(),
  quoteApiKey: z.string().min(1),
  /** Where signed transactions are kept. */
  directory: z.string().min(1),
  healthPort: z.number().int().min(0).max(65_535),
  pollMs: z.number().int().positive(),
  /** Pays orders. */
  fillWalletKey: hexSchema(32),
  chains: z.array(chainSchema).min(1),
})

/** What the solver is started with; the file holds keys, so its owner alone can read it. */
export type SolverConfig = z.output<typeof configSchema>
export type SolverChainConfig = SolverConfig['chains'][number]
/** The same as JSON. */
export type SolverConfigFile = z.input<typeof configSchema>

/** @throws ConfigurationError naming the fields that are wrong, never their values */
export async function readSolverConfig(path: string | undefined): Promise<SolverConfig> {
  if (path === undefined || path === '') throw new ConfigurationError('SOLVER_CONFIG_FILE is not set')
  const parsed = configSchema.safeParse(JSON.parse(await readFile(path, 'utf8')))
  if (parsed.success) return parsed.data
  const fields = parsed.error.issues.map(({ path: field }) => field.join('.'))
  throw new ConfigurationError(`SOLVER_CONFIG_FILE is wrong at ${fields.join(', ')}`)
}
