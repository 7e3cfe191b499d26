import { AbiWords } from '../hashing/abiWords.ts'
import { fixedHexToBytes } from '../hashing/hexBytes.ts'
import { keccak256 } from '../hashing/keccak.ts'
import { sha256TextHex } from '../hashing/sha256.ts'
import { domainSeparator, hashText, typedDataDigest, typeHash } from '../hashing/typedData.ts'
import type { Hex } from '../hex.ts'
import type { MappingEntry } from '../signatures/execution.ts'
import { checksumAddress } from '../vm/ethereum/checksumAddress.ts'
import { mainNetwork } from '../vm/families.ts'
import { hubAlias } from './hubIds.ts'

/**
 * A solver's promise neither to fill nor to refund an order, which sets the order's deposits free. It names
 * the order and the solver's chain, and no hub. @source withdrawals.md 2
 */
export type NoFillOrRefund = {
  /** String id of the solver's chain, an `ethereum-vm` one. */
  readonly solverChainId: string
  readonly solver: Hex
  readonly orderId: Hex
}

/** What an entry of the hub's mapping holds where a promise was given. */
export const noFillOrRefundData: Hex = '0x01'

const promiseTypeHash = typeHash('NoFillOrRefund(string chainId,address solver,bytes32 orderId)')
const noContract: Hex = `0x${'0'.repeat(40)}`

/**
 * The 32 bytes that the solver signs.
 * @param hubChainId number of the solver's chain
 * @throws RangeError when a member does not fit its type
 */
export function noFillOrRefundDigest(
  { solverChainId, solver, orderId }: NoFillOrRefund,
  hubChainId: number,
): Uint8Array {
  const separator = domainSeparator({
    ...{ name: 'RelayNoFillOrRefund', version: '1', chainId: hubChainId },
    verifyingContract: noContract,
  })
  const words = new AbiWords(4)
    .word(promiseTypeHash)
    .word(hashText(solverChainId))
    .address(fixedHexToBytes(solver, 20))
    .word(fixedHexToBytes(orderId, 32))
  return typedDataDigest(separator, keccak256(words.done()))
}

/** Where the hub keeps the promise: the solver's account there, and the id that the order has under it. */
export function noFillOrRefundPlace({ solverChainId, solver, orderId }: NoFillOrRefund): {
  readonly user: Hex
  readonly id: Hex
} {
  return {
    user: hubAlias({ chainId: solverChainId, ...mainNetwork('ethereum-vm') }, solver.toLowerCase()),
    id: sha256TextHex(`NO_FILL_OR_REFUND:${orderId.toLowerCase()}`),
  }
}

/** The entry that the oracles sign for a promise. One order has one, however its id is spelled. */
export function noFillOrRefundEntry(promise: NoFillOrRefund): MappingEntry {
  const { user, id } = noFillOrRefundPlace(promise)
  const nonce = sha256TextHex(`${checksumAddress(user)}:${promise.orderId.toLowerCase()}`)
  return { user, id, data: noFillOrRefundData, nonce }
}
