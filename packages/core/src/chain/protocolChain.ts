import { type ChainNetwork, codecOf } from '../encodings/codecs.ts'
import type { VmCodec } from '../encodings/vmCodec.ts'
import { DomainError } from '../errors.ts'
import { hashText } from '../hashing/typedData.ts'

/** One chain as the protocol knows it: its string id enters hashes, its family encodes its addresses. */
export type ProtocolChain = ChainNetwork & { readonly chainId: string }

/** Looks a string chain id up in the configuration. */
export type NetworkOf = (chainId: string) => ChainNetwork | undefined

/** A string chain id that the configuration does not have. */
export class UnknownChainError extends DomainError {
  readonly code = 'UNKNOWN_CHAIN'
  readonly kind = 'invalid_request'

  constructor(chainId: string) {
    const shownChainId = chainId.slice(0, 64)
    super(`The chain ${shownChainId} is not configured.`, { data: { chainId: shownChainId } })
  }
}

/** Chain data that hashing needs. */
export type HashedChain = {
  readonly codec: VmCodec
  readonly idHash: Uint8Array
  /** Cache: hashes of recipients, currencies and extra data that were hashed before, by their text. */
  readonly hashes: Readonly<Record<'recipients' | 'currencies' | 'data', Map<string, Uint8Array>>>
}

/**
 * Returns a lookup of chains for hashing one structure, or many. It remembers each chain, so that values which occur
 * several times are hashed once. The lookup throws UnknownChainError.
 */
export function createChainHasher(networkOf: NetworkOf): (chainId: string) => HashedChain {
  const chains = new Map<string, HashedChain>()
  return (chainId) => {
    const cached = chains.get(chainId)
    if (cached !== undefined) return cached
    const network = networkOf(chainId)
    if (network === undefined) throw new UnknownChainError(chainId)
    const hashes = { recipients: new Map(), currencies: new Map(), data: new Map() }
    const chain = { codec: codecOf(network), idHash: hashText(chainId), hashes }
    chains.set(chainId, chain)
    return chain
  }
}
