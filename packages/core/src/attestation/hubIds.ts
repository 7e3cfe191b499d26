import type { ProtocolChain } from '../chain/protocolChain.ts'
import { codecOf } from '../encodings/codecs.ts'
import { AbiWords } from '../hashing/abiWords.ts'
import { bytesToHex, concatBytes, fixedHexToBytes, utf8Bytes } from '../hashing/hexBytes.ts'
import { keccak256, keccak256Hex } from '../hashing/keccak.ts'
import type { Hex } from '../hex.ts'

/**
 * Ids of accounts and tokens on the hub. Each is a hash of packed bytes that start with the chain's string
 * id. Addresses are returned in lower case; `checksumAddress` gives their EIP-55 spelling.
 * @source rule P-127
 */

/** The hub's id of one currency. @throws InvalidAddressError; also for a currency that has no token there */
export function hubTokenId(chain: ProtocolChain, currency: string): bigint {
  return BigInt(keccak256Hex(packed(chain, codecOf(chain).encodeHubCurrency(currency))))
}

/** The account on the hub that stands for an account of a chain. @throws InvalidAddressError */
export function hubAlias(chain: ProtocolChain, address: string): Hex {
  return lastTwentyBytes(packed(chain, codecOf(chain).encodeAddress(address)))
}

/**
 * The account on the hub that holds what was deposited for an order.
 * @param deposit.timestampSeconds time of the deposit's block
 * @throws InvalidAddressError
 */
export function orderAddress(
  chain: ProtocolChain,
  deposit: { depositor: string; timestampSeconds: bigint; depositId: Hex },
): Hex {
  const tail = new AbiWords(2).uint(deposit.timestampSeconds).word(fixedHexToBytes(deposit.depositId, 32))
  const depositor = codecOf(chain).encodeAddress(deposit.depositor)
  return lastTwentyBytes(packed(chain, depositor, tail.done()))
}

/**
 * The account on the hub that holds what one withdrawal takes out. The amount is not part of it.
 * @param withdrawal.nonce uint256
 * @throws InvalidAddressError
 */
export function withdrawalAddress(
  chain: ProtocolChain,
  withdrawal: { depository: string; currency: string; recipient: string; ownerAlias: Hex; nonce: bigint },
): Hex {
  const codec = codecOf(chain)
  const bytes = packed(
    chain,
    codec.encodeAddress(withdrawal.depository),
    codec.encodeCurrency(withdrawal.currency),
    codec.encodeAddress(withdrawal.recipient),
    fixedHexToBytes(withdrawal.ownerAlias, 20),
    new AbiWords(1).uint(withdrawal.nonce).done(),
  )
  return lastTwentyBytes(bytes)
}

/** Numeric id on the hub of a chain that has none of its own: neither an EVM chain nor Tron. */
export function derivedHubChainId(chainId: string): bigint {
  return BigInt(keccak256Hex(utf8Bytes(chainId)))
}

function packed(chain: ProtocolChain, ...parts: readonly Uint8Array[]): Uint8Array {
  return concatBytes([utf8Bytes(chain.chainId), ...parts])
}

function lastTwentyBytes(preimage: Uint8Array): Hex {
  return bytesToHex(keccak256(preimage).subarray(12))
}
