/** Balances of one address by currency, in smallest units; zero balances are left out. */
export type HeldBalances = ReadonlyMap<string, bigint>

/** The lesser of two readings per currency: the balance that an address held at both of two blocks. */
export function heldAtBoth(one: HeldBalances, other: HeldBalances): HeldBalances {
  const lesser = (a: bigint, b: bigint) => (a < b ? a : b)
  return omitZeros(
    [...one].map(([currency, amount]) => [currency, lesser(amount, amountOf(other, currency))]),
  )
}

export function amountOf(held: HeldBalances, currency: string): bigint {
  return held.get(currency) ?? 0n
}

/** All balances but that of `currency`, in the order in which they were read: the native coin first. */
export function othersOf(held: HeldBalances, currency: string): readonly (readonly [string, bigint])[] {
  return [...held].filter(([other]) => other !== currency)
}

function omitZeros(amounts: readonly (readonly [string, bigint])[]): HeldBalances {
  return new Map(amounts.filter(([, amount]) => amount > 0n))
}
