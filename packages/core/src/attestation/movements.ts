/** Value of one currency that moved from one account to another inside a transaction. */
export type Movement = { readonly from: string; readonly to: string; readonly amount: bigint }

/** What a recipient has of a transaction, by who moved it to him. */
export type Received = {
  /** From the solver's side, less everything that left the recipient again; never negative. */
  readonly net: bigint
  /** From the solver's side alone. */
  readonly paidIn: bigint
  /** From everybody else: claims, airdrops, payouts, somebody's authorization. */
  readonly fromOthers: bigint
}

/**
 * What counts as paid to a recipient: what the solver's side moved to him, net over the transaction. All that
 * left him is taken off what was paid, whoever got it and whatever others gave beside it: a stranger's money
 * never makes up for a payment that went back. Nobody pays himself.
 * @param isPayer whether an account is on the solver's side
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
