import { type AbiMember, abiAddress, abiBytes, abiUint, encodeAbiTuple } from '../hashing/abiTuple.ts'
import { fixedHexToBytes, hexToBytes, utf8Bytes } from '../hashing/hexBytes.ts'
import { keccak256Hex } from '../hashing/keccak.ts'
import type { Hex } from '../hex.ts'
import type { WithdrawRequest } from '../signatures/execution.ts'

/**
 * Payload id of a withdraw request, under which the allocator's contract keeps its payload: keccak-256 of the ABI
 * encoding of its eight members as **one** tuple parameter, without a type hash.
 * @throws RangeError when a member does not fit its type
 * @source github.com/relayprotocol/relay-settlement, packages/sdk/src/messages/v2.2/withdrawal.ts
 */
export function withdrawRequestPayloadId(request: WithdrawRequest): Hex {
  const tuple = encodeAbiTuple([
    abiUint(request.chainId),
    abiText(request.depository),
    abiText(request.currency),
    abiUint(request.amount),
    abiAddress(request.spender),
    abiText(request.recipient),
    abiBytes(hexToBytes(request.data)),
    { word: fixedHexToBytes(request.nonce, 32) },
  ])
  return keccak256Hex(encodeAbiTuple([{ tail: tuple }]))
}

function abiText(text: string): AbiMember {
  return abiBytes(utf8Bytes(text))
}
