import { AbiWords } from '../hashing/abiWords.ts'
import { fixedHexToBytes } from '../hashing/hexBytes.ts'
import { keccak256 } from '../hashing/keccak.ts'
import { domainSeparator, hashText, typedDataDigest, typeHash } from '../hashing/typedData.ts'
import type { Hex } from '../hex.ts'

/**
 * A solver's promise neither to fill nor to refund an order: it lets oracles return the order's deposits. It names
 * no hub, so it counts on every hub. @source rules P-70, P-123
 */
export type NoFillOrRefund = {
  /** String id of the solver's chain, an `ethereum-vm` one. */
  readonly solverChainId: string
  readonly solver: Hex
  readonly orderId: Hex
}

const promiseTypeHash = typeHash('NoFillOrRefund(string chainId,address solver,bytes32 orderId)')
/** The domain has a member for a contract, but no contract checks the promise. */
const noContract: Hex = `0x${'0'.repeat(40)}`

/**
 * The 32 bytes that the solver signs.
 * @param solverChainNumber EVM chain id of the solver's chain, whose string id is in the promise
 * @throws RangeError when a member does not fit its type
 */
export function noFillOrRefundDigest(
  { solverChainId, solver, orderId }: NoFillOrRefund,
  solverChainNumber: number,
): Uint8Array {
  const separator = domainSeparator({
    name: 'RelayNoFillOrRefund',
    version: '1',
    chainId: solverChainNumber,
    verifyingContract: noContract,
  })
  const words = new AbiWords(4)
    .word(promiseTypeHash)
    .word(hashText(solverChainId))
    .address(fixedHexToBytes(solver, 20))
    .word(fixedHexToBytes(orderId, 32))
  return typedDataDigest(separator, keccak256(words.done()))
}
