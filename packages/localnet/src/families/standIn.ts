/** One chain that a stand-in shows. */
export type FamilyStandIn = {
  readonly url: string
  /** A deposit of an earlier run that is still there. */
  readonly firstTransactionId?: string | undefined
  /**
   * Somebody deposits the native currency for no order; final when it resolves.
   * @param depositor a name that keys and ids follow from, where the chain is built anew by every start
   */
  deposit(amount: bigint, depositor: string): Promise<{ readonly transactionId: string }>
  /** Nobody listens there any more. */
  stop(): Promise<void>
}

/** Times of chains without a clock of their own: long over, so that nothing waits for them. */
export const firstTimeMs = 1_767_225_600_000
