import type { Hex } from '@causeway/core'
import { derivedKey } from '../keys/familyAccounts.ts'
import type { LocalKeys } from '../keys/localKeys.ts'

/** Facts of a network that its allocator needs, independent of how the allocator is run. */
export type AllocatorNetwork = {
  readonly chains: { readonly hub: { readonly url: string } }
  readonly keys: Pick<LocalKeys, 'allocator'>
}

/** Keys of other services, emptied: a shell may hold some, and the allocator refuses to start beside one. */
const foreignKeys = {
  ECDSA_PRIVATE_KEY: '',
  ECDSA_PRIVATE_KEY_FILE: '',
  AWS_KMS_SIGNER_KEY_ID: '',
  ADMIN_API_KEY: '',
  API_KEY_PEPPERS: '',
  SOLVER_API_KEY: '',
}

/** Environment of a local network's allocator, without the variables that hold its own keys. */
export function allocatorEnvironment(
  { chains }: Pick<AllocatorNetwork, 'chains'>,
  settings: { readonly opsPort: number; readonly pollMs: number; readonly stateDirectory?: string },
): Readonly<Record<string, string>> {
  return {
    ...foreignKeys,
    ENVIRONMENT: 'local',
    OPS_PORT: String(settings.opsPort),
    POLL_INTERVAL_MS: String(settings.pollMs),
    RELAY_RPC_URL: chains.hub.url,
    ...(settings.stateDirectory !== undefined && { STATE_DIR: settings.stateDirectory }),
  }
}

/** The two keys of the local allocator. */
export function allocatorKeys({ keys }: Pick<AllocatorNetwork, 'keys'>): { ecdsa: Hex; ed25519: Hex } {
  const { privateKey } = keys.allocator
  return { ecdsa: privateKey, ed25519: allocatorEd25519Key(privateKey) }
}

/** Signs withdrawals on Solana. It follows from the ECDSA key, so that the key file keeps one key per role. */
export function allocatorEd25519Key(privateKey: Hex): Hex {
  return derivedKey('allocator on Solana', { privateKey })
}
