import { ConfigurationError } from '@causeway/core'
import type { RegisteredChain } from '../../shared/registeredChain.ts'

/** One deployment of Lighter. */
export type LighterNetwork = {
  /** Part of the text that a transfer's owner signs, and so of withdrawal ids. Endpoints do not show it. */
  readonly lighterChainId: bigint
  /** Its contract on layer 1, in lower case, by which an endpoint's network is recognised; undefined: not known. */
  readonly contract: string | undefined
}

/** @source Lighter, signer library: chain ids; Lighter documentation, "Contracts" */
export const lighterNetworks = {
  mainnet: { lighterChainId: 304n, contract: '0x3b4d794a66304f130a4db8f2551b0070dfcf5ca7' },
  testnet: { lighterChainId: 300n, contract: undefined },
} as const satisfies Record<string, LighterNetwork>

/** The network of a chain by its setting. @throws ConfigurationError for an unknown name */
export function lighterNetworkOf({
  id,
  network = 'mainnet',
}: Pick<RegisteredChain, 'id'> & Partial<Pick<RegisteredChain, 'network'>>): LighterNetwork {
  const match = Object.entries(lighterNetworks).find(([name]) => name === network)
  if (match !== undefined) return match[1]
  throw new ConfigurationError(`chains: ${id}.additionalData.network: Lighter has no network of that name`)
}
