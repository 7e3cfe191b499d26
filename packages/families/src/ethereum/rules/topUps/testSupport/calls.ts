import type { Hex } from '@causeway/core'
import { tailMarker } from '../tail.ts'
import type { CallFrame, TopUpFacts, TopUpLog, TopUpTarget } from '../topUp.ts'

// Calldata and facts for tests of top-ups.

export const marker = tailMarker
export const token = account('dc')
export const custody = account('22')
export const sender = account('aa')
/** 25 USDC. */
export const amount = 25_000_000n
export const target: TopUpTarget = { token, custody, allowTrailing: true }

/** An address whose last `count` bytes are `byte`. */
export function account(byte: string, count = 20): Hex {
  return `0x${byte.repeat(count).padStart(40, '0')}`
}

export function word(value: Hex | bigint): string {
  return (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')
}

/** A tail that names the owner. */
export function named(owner: Hex): string {
  return `${marker}${owner.slice(2)}${marker}`
}

export function transferCall(tail: string, { to = custody, value = amount } = {}): Hex {
  return `0xa9059cbb${word(to)}${word(value)}${tail}`
}

export function transferFromCall(from: Hex, tail: string): Hex {
  return `0x23b872dd${word(from)}${word(custody)}${word(amount)}${tail}`
}

export function logOf(log: Partial<TopUpLog>): TopUpLog {
  return { ordinal: 0, logIndex: 7, from: sender, value: amount, ...log }
}

/** The sender calls the token, and one transfer of the usual amount comes of it. */
export function directCall(input: Hex): TopUpFacts {
  return { succeeded: true, from: sender, to: token, input, logs: [logOf({})] }
}

export function frame(parts: Partial<CallFrame> & Pick<CallFrame, 'from' | 'to' | 'input'>): CallFrame {
  return { type: 'CALL', isReverted: false, calls: [], ...parts }
}
