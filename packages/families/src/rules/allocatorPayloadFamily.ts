import type { Hex, PayloadPayer } from '@causeway/core'

/** One family's format of payloads, the bytes that an allocator issues and signs for a withdraw request. */
export type AllocatorPayloadFamily = {
  /**
   * The `additionalData` with which a withdraw request yields these bytes as its payload; `undefined` if the family
   * needs none. @throws InvalidWithdrawalError
   */
  additionalData(withdrawal: Hex): Readonly<Record<string, unknown>> | undefined
  /** Hashes that the allocator signs for the payload, in order. @throws InvalidWithdrawalError */
  hashes(payload: Hex, payer: PayloadPayer): readonly Hex[]
  /** The payload as withdrawal bytes, which the family's reader takes. @throws InvalidWithdrawalError */
  toWithdrawal(payload: Hex): Hex
  /**
   * Name of the first member in which a caller's withdrawal bytes differ from the payload; `undefined` if both move the
   * same money. @throws InvalidWithdrawalError
   */
  difference(withdrawal: Hex, payload: Hex): string | undefined
}

/** Name of the first member in which two withdrawals differ; `undefined` if they are equal. */
export function firstDifference<Withdrawal extends object>(
  one: Withdrawal,
  other: Withdrawal,
): string | undefined {
  const members = new Map(Object.entries(one))
  const otherMembers = new Map(Object.entries(other))
  const names = new Set([...members.keys(), ...otherMembers.keys()])
  return [...names].find((name) => textOf(members.get(name)) !== textOf(otherMembers.get(name)))
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'bigint' ? `${member}n` : member,
  )
}
