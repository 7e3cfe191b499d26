import { ConfigurationError } from '@causeway/core'
import type { RegisteredChain } from '../../shared/registeredChain.ts'

/** One deployment of Lighter. */
export type LighterNetwork = {
  /** Part of the message that a transfer's owner signs, so of withdrawal ids; no endpoint names it. */
  readonly lighterChainId: bigint
  /** Contract on its layer 1, in lower case: what tells deployments apart. */
  readonly contract: string | undefined
}

/** @source Lighter, signer library: chain ids; Lighter documentation, "Contracts" */
export const lighterNetworks = {
  mainnet: { lighterChainId: 304n, contract: '0x3b4d794a66304f130a4db8f2551b0070dfcf5ca7' },
  testnet: { lighterChainId: 300n, contract: undefined },
} as const satisfies Record<string, LighterNetwork>

/** @throws ConfigurationError for a name that is none */
export function lighterNetworkOf({
  id,
  network = 'mainnet',
}: Pick<RegisteredChain, 'id'> & Partial<Pick<RegisteredChain, 'network'>>): LighterNetwork {
  const match = Object.entries(lighterNetworks).find(([name]) => name === network)
  if (match !== undefined) return match[1]
  throw new ConfigurationError(`chains: ${id}.additionalData.network: Lighter has no network of that name`)
}
