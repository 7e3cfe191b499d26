/** A node understood the call and refused it: a revert, an unknown method, a bad parameter. */
export class NodeError extends Error {
  /** JSON-RPC error code, e.g. 3 for a revert, -32601 for an unknown method. */
  readonly code: number
  readonly data: unknown

  /** @param args.message the node's own words: for logs and for revert reasons, not for callers */
  constructor(args: { code: number; message: string; data?: unknown }) {
    super(args.message)
    this.name = 'NodeError'
    this.code = args.code
    this.data = args.data
  }
}
