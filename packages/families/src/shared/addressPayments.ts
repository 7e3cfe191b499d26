/** A payment to a watched address, as a scan of blocks finds it. */
export type Payment = {
  /** Identifies the payment if overlapping scans may list it again. */
  readonly id?: string
  /** Sender of the coin or owner of the tokens; absent if blocks do not show him. */
  readonly from?: string
  /** Canonical, as the currency. */
  readonly to: string
  readonly currency: string
  readonly amount: bigint
  /** Absent if blocks do not show it. */
  readonly transactionHash?: string
}

/** Payers by paid address. Pure. */
export function payersOf(payments: readonly Payment[]): ReadonlyMap<string, ReadonlySet<string>> {
  const payers = new Map<string, Set<string>>()
  for (const { from, to } of payments)
    if (from !== undefined) payers.set(to, (payers.get(to) ?? new Set()).add(from))
  return payers
}

/** A transfer that brings money to an address. */
export type LargestTransfer = {
  readonly transactionHash: string
  /** Absent if several accounts paid, or the payer is unknown. */
  readonly from?: string | undefined
  readonly amount: bigint
}

/** By address and currency, the largest transfer, so that dust from strangers does not hide the real payment. Pure. */
export function largestTransfers(
  payments: readonly Payment[],
): ReadonlyMap<string, ReadonlyMap<string, LargestTransfer>> {
  const largest = new Map<string, Map<string, LargestTransfer>>()
  for (const { to, currency, from, amount, transactionHash } of payments) {
    if (transactionHash === undefined) continue
    const amountsOfAddress = largest.get(to) ?? new Map<string, LargestTransfer>()
    if (amount > (amountsOfAddress.get(currency)?.amount ?? 0n))
      amountsOfAddress.set(currency, { transactionHash, from, amount })
    largest.set(to, amountsOfAddress)
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
