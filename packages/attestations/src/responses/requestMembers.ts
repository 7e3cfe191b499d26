import { type Hex, type NetworkOf, type ProtocolChain, UnknownChainError } from '@causeway/core'
import { codecOf } from '@causeway/core/encodings'

/**
 * A request body that its route has validated. The `isAbout…` functions read its members by the functions of this file.
 * These may throw for an unknown chain or a malformed id; a member that is missing reads as empty.
 */
export type Request = Readonly<Record<string, unknown>>

/** Tells whether a peer's normalised response is about the fact that a request asks for. */
export type IsAbout<Response> = (response: Response, request: Request, networkOf: NetworkOf) => boolean

/** Deposit id of a deposit that names no order. */
export const noOrder: Hex = `0x${'0'.repeat(64)}`

export function chainOf(chainId: string, networkOf: NetworkOf): ProtocolChain {
  const network = networkOf(chainId)
  if (network === undefined) throw new UnknownChainError(chainId)
  return { chainId, ...network }
}

export function canonicalId(chain: ProtocolChain, transactionId: unknown): string {
  return codecOf(chain).canonicalTransactionId(text(transactionId))
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** A string that should be hex. It is not checked here: functions that need its bytes throw RangeError. */
export function hex(value: unknown): Hex {
  return `0x${text(value).slice(2)}`
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function members(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {}
}

export function member(value: unknown, name: string): unknown {
  return members(value)[name]
}
