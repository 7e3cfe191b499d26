/** Value of one currency that moved from one account to another inside a transaction. */
export type Movement = { readonly from: string; readonly to: string; readonly amount: bigint }

/** Amounts that a recipient received in a transaction, by sender. */
export type Received = {
  /** From the solver's side, less everything that left the recipient again; never negative. */
  readonly net: bigint
  /** All from the solver's side, nothing deducted. */
  readonly paidIn: bigint
  /** Amounts from all others: claims, airdrops, payouts, transfers by authorization. */
  readonly fromOthers: bigint
}

/**
 * Amounts that count as paid to a recipient: what the solver's side moved to it, net over the transaction. All that the
 * recipient sent on is deducted from the paid amount, whoever got it, and is never set off against money from others:
 * a stranger's money cannot make up for a payment that went back. A movement to oneself does not count.
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
  let sentOn = 0n
  for (const { from, to, amount } of movements) {
    if (from === to) continue
    if (from === recipient) sentOn += amount
    if (to !== recipient) continue
    if (isPayer(from)) paidIn += amount
    else fromOthers += amount
  }
  return { net: paidIn > sentOn ? paidIn - sentOn : 0n, paidIn, fromOthers }
}
