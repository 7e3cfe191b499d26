export type Payment = {
  /** Set where it may be listed again. */
  readonly id?: string
  /** The sender of the coin, the owner of the tokens; absent where blocks do not tell. */
  readonly from?: string
  /** Canonical, as the currency. */
  readonly to: string
  readonly currency: string
  readonly amount: bigint
  /** Absent where blocks do not tell. */
  readonly transactionHash?: string
}

/** Payers by address. Pure. */
export function payersOf(payments: readonly Payment[]): ReadonlyMap<string, ReadonlySet<string>> {
  const payers = new Map<string, Set<string>>()
  for (const { from, to } of payments)
    if (from !== undefined) payers.set(to, (payers.get(to) ?? new Set()).add(from))
  return payers
}

/** A transfer that brings money to an address. */
export type Transfer = {
  readonly transactionHash: string
  /** Absent where not one account alone brought it. */
  readonly from?: string | undefined
  readonly amount: bigint
}

/** The largest of each currency, by address: a stranger's dust takes its place from nobody. Pure. */
export function largestTransfers(
  payments: readonly Payment[],
): ReadonlyMap<string, ReadonlyMap<string, Transfer>> {
  const largest = new Map<string, Map<string, Transfer>>()
  for (const { to, currency, from, amount, transactionHash } of payments) {
    if (transactionHash === undefined) continue
    const own = largest.get(to) ?? new Map<string, Transfer>()
    if (amount > (own.get(currency)?.amount ?? 0n)) own.set(currency, { transactionHash, from, amount })
    largest.set(to, own)
  }
  return largest
}

/** Sums by address and then by currency. Pure. */
export function sumPayments(payments: readonly Payment[]): ReadonlyMap<string, ReadonlyMap<string, bigint>> {
  const sums = new Map<string, Map<string, bigint>>()
  for (const { to, currency, amount } of payments) {
    const amounts = sums.get(to) ?? new Map<string, bigint>()
    amounts.set(currency, (amounts.get(currency) ?? 0n) + amount)
    sums.set(to, amounts)
  }
  return sums
}
