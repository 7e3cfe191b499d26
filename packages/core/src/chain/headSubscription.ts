/** A subscription by JSON-RPC: the question, and the method of what comes for it. */
export type HeadSubscription = {
  readonly method: string
  readonly params: readonly string[]
  readonly notification: string
}
