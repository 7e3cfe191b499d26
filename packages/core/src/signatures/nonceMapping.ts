import { AbiWords } from '../hashing/abiWords.ts'
import { fixedHexToBytes } from '../hashing/hexBytes.ts'
import { keccak256 } from '../hashing/keccak.ts'
import { domainSeparator, hashText, typedDataDigest, typeHash } from '../hashing/typedData.ts'
import type { Hex } from '../hex.ts'

/**
 * A wallet's statement that one of its transfers is the deposit of an order, on a chain whose transfers cannot name
 * one (Hyperliquid): the nonce identifies the transfer. @source rule F-152
 */
export type NonceMapping = {
  /** String id of the chain of the transfer. */
  readonly walletChainId: string
  readonly wallet: Hex
  readonly nonce: bigint
  /** The order's id. */
  readonly id: Hex
  /** Owner of the deposit. */
  readonly depositor: Hex
}

/** Members in the order in which they are hashed. */
const members = [
  { name: 'chainId', type: 'string' },
  { name: 'wallet', type: 'address' },
  { name: 'depositor', type: 'address' },
  { name: 'id', type: 'bytes32' },
  { name: 'nonce', type: 'uint256' },
] as const

const noContract: Hex = `0x${'0'.repeat(40)}`

/** EIP-712 data that the wallet signs. `signatureChainId` may be of any EVM chain, as no contract checks it. @source rule F-153 */
export const nonceMappingTypedData = (signatureChainId: number) => ({
  domain: {
    name: 'RelayNonceMapping',
    version: '2',
    chainId: signatureChainId,
    verifyingContract: noContract,
  },
  types: { NonceMapping: members },
  primaryType: 'NonceMapping' as const,
})

const mappingTypeHash = typeHash(`NonceMapping(${members.map(({ name, type }) => `${type} ${name}`).join()})`)

/**
 * The 32 bytes that the wallet signs.
 * @param signatureChainId number of the chain that the wallet signed on
 * @throws RangeError when a member does not fit its type
 */
export function nonceMappingDigest(mapping: NonceMapping, signatureChainId: number): Uint8Array {
  const { walletChainId, wallet, depositor, id, nonce } = mapping
  const words = new AbiWords(6)
    .word(mappingTypeHash)
    .word(hashText(walletChainId))
    .address(fixedHexToBytes(wallet, 20))
    .address(fixedHexToBytes(depositor, 20))
    .word(fixedHexToBytes(id, 32))
    .uint(nonce)
  return typedDataDigest(
    domainSeparator(nonceMappingTypedData(signatureChainId).domain),
    keccak256(words.done()),
  )
}
