import type { RpcCall } from './jsonRpc.ts'

/** The call that asks for the height of a chain's head, and the reading of its answers. */
export type HeadTracking = {
  readonly call: RpcCall
  /** The head in an answer; `undefined` if the call was not about the head. */
  readHead(call: RpcCall, result: unknown): bigint | undefined
  /** The widest question that we ever ask, for blocks up to a head; absent in families without log ranges. */
  widest?(head: bigint): RpcCall
}

/**
 * Head tracking for endpoints whose heights are not compared: `call` only shows whether the endpoint answers, and every
 * answer reads as height 0.
 */
export const answersTo = (call: RpcCall): HeadTracking => ({
  call,
  readHead: ({ method }, result) =>
    method === call.method && typeof result === 'object' && result !== null ? 0n : undefined,
})

/** Most blocks of one log query, for endpoints that take as many. */
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
    // A filter that no log matches, so that the answer is empty.
    const filter = { address: `0x${'0'.repeat(40)}`, topics: [`0x${'0'.repeat(64)}`] }
    return { method: 'eth_getLogs', params: [{ ...filter, ...blocks }] }
  },
}

function parseQuantity(value: unknown): bigint | undefined {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value) ? BigInt(value) : undefined
}
