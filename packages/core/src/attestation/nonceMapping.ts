import { checksumAddress } from '../encodings/checksumAddress.ts'
import type { ChainNetwork } from '../encodings/codecs.ts'
import { sha256TextHex } from '../hashing/sha256.ts'
import type { Hex } from '../hex.ts'
import type { MappingEntry } from '../signatures/execution.ts'
import type { NonceMapping } from '../signatures/nonceMapping.ts'
import { hubAlias } from './hubIds.ts'

/**
 * Id of the entry in the hub's generic mapping that tells which order a wallet's nonce pays.
 * @source rule F-152
 */
export function nonceMappingId(nonce: bigint): Hex {
  return sha256TextHex(`NONCE_MAPPING:${nonce}`)
}

/**
 * The entry that the oracles sign for a wallet's statement: one for each nonce of a wallet. The alias enters
 * the entry's own nonce in its EIP-55 spelling: all oracles must hash the same text. @source rule P-68
 */
export function nonceMappingEntry(
  { walletChainId, wallet, nonce, id: orderId, depositor }: NonceMapping,
  network: ChainNetwork,
): MappingEntry {
  const user = hubAlias({ chainId: walletChainId, ...network }, wallet.toLowerCase())
  return {
    user,
    id: nonceMappingId(nonce),
    data: `0x${orderId.slice(2)}${depositor.slice(2)}`.toLowerCase() as Hex, // CAST: hex digits behind 0x.
    nonce: sha256TextHex(`${checksumAddress(user)}:${nonce}`),
  }
}
