import type { LocalKeys } from '../keys/localKeys.ts'

type UserChain = 'base' | 'optimism'

/** Facts of a network that a solver needs, independent of how the solver is run. */
export type SolverNetwork = {
  readonly chains: Readonly<Record<UserChain | 'hub', { readonly url: string }>>
  readonly keys: Pick<LocalKeys, 'fillWallet' | 'orderSigner'>
}

export type SolverSettings = {
  readonly quoteApiUrl: string
  readonly quoteApiKey: string
  /** Default: an embedded server under `directory`. */
  readonly databaseUrl?: string
  readonly directory: string
  readonly opsPort: number
  readonly pollMs: number
}

/** Environment of a solver for the user chains of a local network, without the variables of its keys. */
export function solverEnvironment(
  { chains, keys }: SolverNetwork,
  settings: SolverSettings,
): Readonly<Record<string, string>> {
  return {
    ENVIRONMENT: 'local',
    BASE_RPC_URL: chains.base.url,
    OPTIMISM_RPC_URL: chains.optimism.url,
    RELAY_RPC_URL: chains.hub.url,
    ORDER_SIGNERS: keys.orderSigner.address,
    QUOTE_API_URL: settings.quoteApiUrl,
    SOLVER_API_KEY: settings.quoteApiKey,
    DATABASE_URL: settings.databaseUrl ?? '',
    CAUSEWAY_LOCAL_DIR: settings.directory,
    OPS_PORT: String(settings.opsPort),
    POLL_INTERVAL_MS: String(settings.pollMs),
  }
}
