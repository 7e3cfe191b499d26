/** The JSON-RPC call by which a node is asked over a websocket to tell of new blocks; families give theirs. */
export type HeadSubscription = {
  readonly method: string
  readonly params: readonly string[]
  /** Method of the notifications that the node then sends. */
  readonly notification: string
}
