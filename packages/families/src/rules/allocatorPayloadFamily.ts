import type { Hex, PayloadPlace } from '@causeway/core'

/** One family's format of the bytes that its allocator signs. */
export type AllocatorPayloadFamily = {
  /**
   * Additional data of a withdraw request that its payload needs to become these bytes. `undefined` if the family needs
   * none. @throws InvalidWithdrawalError
   */
  additionalData(withdrawal: Hex): Readonly<Record<string, unknown>> | undefined
  /** Hashes that the allocator signs for the payload, in order. @throws InvalidWithdrawalError */
  hashes(payload: Hex, place: PayloadPlace): readonly Hex[]
  /** The bytes that the family's reader understands. @throws InvalidWithdrawalError */
  toWithdrawal(payload: Hex): Hex
  /**
   * The first member in which bytes that a caller hands in differ from the payload; `undefined` where both
   * move the same money. @throws InvalidWithdrawalError
   */
  difference(withdrawal: Hex, payload: Hex): string | undefined
}

/** Compares members in order. @returns the name of the first that differs */
export function firstDifference<Withdrawal extends object>(
  one: Withdrawal,
  other: Withdrawal,
): string | undefined {
  const [actual, expected] = [new Map(Object.entries(one)), new Map(Object.entries(other))]
  const names = new Set([...actual.keys(), ...expected.keys()])
  return [...names].find((name) => textOf(actual.get(name)) !== textOf(expected.get(name)))
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'bigint' ? `${member}n` : member,
  )
}
