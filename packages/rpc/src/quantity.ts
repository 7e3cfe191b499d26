import { type Hex, isAnyCaseHex32 } from '@causeway/core'
import type { RpcAnswer } from './jsonRpc.ts'
import { MalformedAnswerError } from './malformedAnswer.ts'
import { NodeError } from './nodeError.ts'

// Strict parsers of members of node answers. All throw `MalformedAnswerError` for any other form, because endpoints may
// be wrong or lie. `subject` names the method that was asked. @source Ethereum JSON-RPC, "Encoding"

/** An integer as `0x` and hex digits. */
export function parseQuantity(value: unknown, subject: string): bigint {
  if (typeof value !== 'string' || !quantityPattern.test(value)) throw new MalformedAnswerError(subject)
  return BigInt(value)
}

export function toQuantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`
}

/** Whole bytes, lower case. */
export function parseBytes(value: unknown, subject: string): Hex {
  if (typeof value !== 'string' || !bytesPattern.test(value)) throw new MalformedAnswerError(subject)
  return lowerCase(value)
}

/** 20 bytes, lower case. */
export function parseAddress(value: unknown, subject: string): Hex {
  if (typeof value !== 'string' || !addressPattern.test(value)) throw new MalformedAnswerError(subject)
  return lowerCase(value)
}

/** 32 bytes, lower case. */
export function parseHash(value: unknown, subject: string): Hex {
  if (!isAnyCaseHex32(value)) throw new MalformedAnswerError(subject)
  return lowerCase(value)
}

/** Result of a call that a good node answers without an error. @throws MalformedAnswerError for a node's own error */
export function resultOf(answer: RpcAnswer | undefined, subject: string): unknown {
  if (answer?.ok !== true) throw new MalformedAnswerError(subject, answer && new NodeError(answer))
  return answer.result
}

export function parseRecord(value: unknown, subject: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new MalformedAnswerError(subject)
  // CAST: an object that is no array has string keys and unknown values.
  return value as Readonly<Record<string, unknown>>
}

export function parseList(value: unknown, subject: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new MalformedAnswerError(subject)
  return value
}

/** Lower case of hex that has been checked; cheap, since nearly all nodes answer in lower case already. */
export function lowerCase(hex: string): Hex {
  // CAST: the callers have checked that it begins with 0x.
  return hex.toLowerCase() as Hex
}

const quantityPattern = /^0x[0-9a-fA-F]{1,64}$/
const bytesPattern = /^0x(?:[0-9a-fA-F]{2})*$/
const addressPattern = /^0x[0-9a-fA-F]{40}$/
