import type { RpcCall } from './jsonRpc.ts'

/** How the height of a chain's head is asked for and recognised in answers. */
export type HeadTracking = {
  readonly call: RpcCall
  /** The head that an answer tells, or `undefined` when the call is about something else. */
  readHead(call: RpcCall, result: unknown): bigint | undefined
}

export const evmHeadTracking: HeadTracking = {
  call: { method: 'eth_blockNumber', params: [] },
  readHead({ method, params }, result) {
    if (method === 'eth_blockNumber') return parseQuantity(result)
    if (method !== 'eth_getBlockByNumber' || params[0] !== 'latest') return undefined
    const isBlock = typeof result === 'object' && result !== null && 'number' in result
    return isBlock ? parseQuantity(result.number) : undefined
  },
}

function parseQuantity(value: unknown): bigint | undefined {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value) ? BigInt(value) : undefined
}
