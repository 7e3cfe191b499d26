import type { AbiReader, Hex } from '@causeway/core'
import {
  AbiWords,
  abiAddress,
  abiBytes,
  abiUint,
  bytesToHex,
  encodeAbiArray,
  encodeAbiTuple,
  fixedHexToBytes,
  hashArray,
  hexToBytes,
  keccak256,
  typeHash,
} from '@causeway/core'
import { decodeAbiWithdrawal } from '../../rules/withdrawalBytes.ts'

/** One call of a withdrawal. Value in wei. */
export type WithdrawalCall = {
  readonly to: Hex
  readonly data: Hex
  readonly value: bigint
  readonly allowFailure: boolean
}

/** Calls that a depository executes for a withdrawal on ethereum-vm and, with equal bytes, on tron-vm. */
export type EvmWithdrawal = {
  readonly calls: readonly WithdrawalCall[]
  readonly nonce: bigint
  /** Unix seconds. */
  readonly expiration: bigint
}

const callType = 'Call(address to,bytes data,uint256 value,bool allowFailure)'
const callTypeHash = typeHash(callType)
const callRequestTypeHash = typeHash('CallRequest(Call[] calls,uint256 nonce,uint256 expiration)', [callType])
/** Bounds the work of reading hostile bytes; the public services build withdrawals of one call. */
const callsMax = 32

/**
 * EIP-712 struct hash of `CallRequest`, without a domain: the key of the depository's `callRequests`.
 * @throws RangeError when a part does not fit its type
 * @source Depository.sol
 */
export function evmWithdrawalId({ calls, nonce, expiration }: EvmWithdrawal): Hex {
  const callHashes = calls.map((call) => {
    const words = new AbiWords(5)
      .word(callTypeHash)
      .address(fixedHexToBytes(call.to, 20))
      .word(keccak256(hexToBytes(call.data)))
      .uint(call.value)
      .number(call.allowFailure ? 1 : 0)
    return keccak256(words.done())
  })
  const words = new AbiWords(4)
    .word(callRequestTypeHash)
    .word(hashArray(callHashes))
    .uint(nonce)
    .uint(expiration)
  return bytesToHex(keccak256(words.done()))
}

/** ABI encoding of the request as one tuple. @throws RangeError when a part does not fit its type */
export function encodeEvmWithdrawal({ calls, nonce, expiration }: EvmWithdrawal): Hex {
  const encodedCalls = calls.map((call) =>
    encodeAbiTuple([
      abiAddress(call.to),
      abiBytes(hexToBytes(call.data)),
      abiUint(call.value),
      abiUint(call.allowFailure ? 1n : 0n),
    ]),
  )
  const request = encodeAbiTuple([
    { tail: encodeAbiArray(encodedCalls) },
    abiUint(nonce),
    abiUint(expiration),
  ])
  return bytesToHex(encodeAbiTuple([{ tail: request }]))
}

/**
 * Decodes exactly the bytes that `encodeEvmWithdrawal` writes, so that a request has one encoding: other offsets, dirty
 * padding or a tail are refused. Addresses and data are returned in lower case.
 * @throws InvalidWithdrawalError
 */
export function decodeEvmWithdrawal(withdrawal: Hex): EvmWithdrawal {
  return decodeAbiWithdrawal(withdrawal, {
    what: 'a call request',
    read: readRequest,
    encode: encodeEvmWithdrawal,
  })
}

/** Skips offsets, which `decodeAbiWithdrawal` checks by encoding the result again. */
function readRequest(reader: AbiReader): EvmWithdrawal | undefined {
  reader.skipWords(2)
  const nonce = reader.uint()
  const expiration = reader.uint()
  const callCount = Number(reader.uint())
  if (callCount > callsMax) return undefined
  reader.skipWords(callCount)
  return { calls: Array.from({ length: callCount }, () => readCall(reader)), nonce, expiration }
}

function readCall(reader: AbiReader): WithdrawalCall {
  const to = reader.address()
  reader.skipWords(1)
  const value = reader.uint()
  const allowFailure = reader.uint() === 1n
  return { to, data: bytesToHex(reader.bytes()), value, allowFailure }
}
