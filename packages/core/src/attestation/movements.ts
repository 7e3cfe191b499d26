/** Value of one currency that moved from one account to another inside a transaction. */
export type Movement = { readonly from: string; readonly to: string; readonly amount: bigint }

/** Amounts that a recipient received in a transaction, by sender. */
export type Received = {
  /** From the solver's side, less everything that left the recipient again; never negative. */
  readonly net: bigint
  /** From the solver's side alone. */
  readonly paidIn: bigint
  /** Amounts from all others: claims, airdrops, payouts, transfers by authorization. */
  readonly fromOthers: bigint
}

/**
 * Amounts that count as paid to a recipient: moved to him by the solver's side, net over the transaction. All that left
 * the recipient again is deducted from the paid amount, whoever got it and whatever others gave beside it: a stranger's
 * money never makes up for a payment that went back. A payment to oneself does not count.
 * @param isPayer true for an account on the solver's side
 * @source rule P-43
 */
export function receivedBy(
  recipient: string,
  movements: readonly Movement[],
  isPayer: (account: string) => boolean,
): Received {
  let paidIn = 0n
  let fromOthers = 0n
  let left = 0n
  for (const { from, to, amount } of movements) {
    if (from === to) continue
    if (from === recipient) left += amount
    if (to !== recipient) continue
    if (isPayer(from)) paidIn += amount
    else fromOthers += amount
  }
  return { net: paidIn > left ? paidIn - left : 0n, paidIn, fromOthers }
}
