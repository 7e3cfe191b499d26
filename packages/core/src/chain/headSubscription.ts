/** How a node is asked over a websocket to tell of new blocks, in JSON-RPC. */
export type HeadSubscription = {
  readonly method: string
  readonly params: readonly string[]
  /** Method of the notifications that the node then sends. */
  readonly notification: string
}
