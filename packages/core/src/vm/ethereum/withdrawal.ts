import { DomainError } from '../../errors.ts'
import { abiAddress, abiBytes, abiUint, encodeAbiArray, encodeAbiTuple } from '../../hashing/abiTuple.ts'
import { AbiWords } from '../../hashing/abiWords.ts'
import { bytesToHex, fixedHexToBytes, hexToBytes, parseHexDigits } from '../../hashing/hexBytes.ts'
import { keccak256 } from '../../hashing/keccak.ts'
import { hashArray, typeHash } from '../../hashing/typedData.ts'
import type { Hex } from '../../hex.ts'

export type WithdrawalCall = {
  readonly to: Hex
  readonly data: Hex
  readonly value: bigint
  readonly allowFailure: boolean
}

/** What a depository executes for a withdrawal on ethereum-vm and, with equal bytes, on tron-vm. */
export type EvmWithdrawal = {
  readonly calls: readonly WithdrawalCall[]
  readonly nonce: bigint
  /** Unix seconds. */
  readonly expiration: bigint
}

/** The `withdrawal` bytes of a request are not what the family encodes. */
export class InvalidWithdrawalError extends DomainError {
  readonly code = 'INVALID_WITHDRAWAL'
  readonly kind = 'invalid_request'

  constructor(reason: string) {
    super(`The withdrawal cannot be read: ${reason}.`, { data: { reason } })
  }
}

const callType = 'Call(address to,bytes data,uint256 value,bool allowFailure)'
const callTypeHash = typeHash(callType)
const callRequestTypeHash = typeHash('CallRequest(Call[] calls,uint256 nonce,uint256 expiration)', [callType])
/** Bounds the work of reading hostile bytes; the public services build one call. */
const callsMax = 32
const wordDigits = 64

/**
 * EIP-712 struct hash of `CallRequest`, without a domain: the key of the depository's `callRequests`.
 * @throws RangeError when a part does not fit its type
 * @source oracle-protocol.md 1.7
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
 * Reads what `encodeEvmWithdrawal` writes and nothing else: a request has one encoding, so bytes with
 * other offsets, dirty padding or a tail are refused. Addresses and data come in lower case.
 * @throws InvalidWithdrawalError
 */
export function decodeEvmWithdrawal(withdrawal: Hex): EvmWithdrawal {
  const bytes = withdrawal.startsWith('0x') ? parseHexDigits(withdrawal, 2) : undefined
  if (bytes === undefined) throw new InvalidWithdrawalError('it is not 0x and whole bytes in hex')
  const canonical = bytesToHex(bytes)
  const decoded = readInOrder(canonical.slice(2))
  if (decoded === undefined || encodeEvmWithdrawal(decoded) !== canonical) {
    throw new InvalidWithdrawalError('it is not the canonical ABI encoding of a call request')
  }
  return decoded
}

/**
 * Reads the parts in the order in which the canonical encoding has them and skips offsets: the caller
 * compares the result's encoding with the input. `undefined` when the input ends too early.
 */
function readInOrder(digits: string): EvmWithdrawal | undefined {
  let at = 2 * wordDigits
  const take = (digitCount: number): string => {
    at += digitCount
    return digits.slice(at - digitCount, at)
  }
  const takeUint = (): bigint => BigInt(`0x0${take(wordDigits)}`)
  const takeCall = (): WithdrawalCall => {
    const to: Hex = `0x${take(wordDigits).slice(24)}`
    take(wordDigits)
    const value = takeUint()
    const allowFailure = takeUint() === 1n
    const data: Hex = `0x${take(2 * Number(takeUint()))}`
    at = Math.ceil(at / wordDigits) * wordDigits
    return { to, data, value, allowFailure }
  }

  const nonce = takeUint()
  const expiration = takeUint()
  const callCount = Number(takeUint())
  if (callCount > callsMax) return undefined
  take(callCount * wordDigits)
  const calls = Array.from({ length: callCount }, takeCall)
  return at === digits.length ? { calls, nonce, expiration } : undefined
}
