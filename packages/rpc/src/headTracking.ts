import type { RpcCall } from './jsonRpc.ts'

/** Call for the height of a chain's head, and its recognition in answers. */
export type HeadTracking = {
  readonly call: RpcCall
  /** The head that an answer tells, or `undefined` when the call is about something else. */
  readHead(call: RpcCall, result: unknown): bigint | undefined
  /** The widest question of all that are asked, below a head; absent where none has a width. */
  widest?(head: bigint): RpcCall
}

/** Asks endpoints whose heights nobody compares a question that no caller chose. */
export const answersTo = (call: RpcCall): HeadTracking => ({
  call,
  readHead: ({ method }, result) =>
    method === call.method && typeof result === 'object' && result !== null ? 0n : undefined,
})

/** Blocks that are looked through at once, where an endpoint takes as many. */
export const logBlocksAtMost = 1_000n

export const evmHeadTracking: HeadTracking = {
  call: { method: 'eth_blockNumber', params: [] },
  readHead({ method, params }, result) {
    if (method === 'eth_blockNumber') return parseQuantity(result)
    if (method !== 'eth_getBlockByNumber' || params[0] !== 'latest') return undefined
    const isBlock = typeof result === 'object' && result !== null && 'number' in result
    return isBlock ? parseQuantity(result.number) : undefined
  },
  widest(head) {
    const from = head < logBlocksAtMost ? 0n : head - logBlocksAtMost + 1n
    const blocks = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${head.toString(16)}` }
    // Logs that nobody writes: an answer has none.
    const filter = { address: `0x${'0'.repeat(40)}`, topics: [`0x${'0'.repeat(64)}`] }
    return { method: 'eth_getLogs', params: [{ ...filter, ...blocks }] }
  },
}

function parseQuantity(value: unknown): bigint | undefined {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value) ? BigInt(value) : undefined
}
