import type { Hex } from '@causeway/core'

/** One JSON-RPC call of a request. */
export type NodeCall = { readonly id: unknown; readonly method: string; readonly params: readonly unknown[] }

/** An answer without the envelope of JSON-RPC. */
export type NodeAnswer = { readonly result: unknown } | { readonly error: unknown }

/**
 * Answers of a real node, asked for once each: its chain stands still, so every answer stays true. Many endpoints can
 * replay them at the speed of memory.
 */
export type RecordedChain = {
  /** The true answer while the head is at `height`. */
  answer(call: NodeCall, height: bigint): Promise<NodeAnswer>
}

export function recordChain(url: string): RecordedChain {
  const known = new Map<string, Promise<NodeAnswer>>()
  const heights = new Map<string, bigint>()
  const ask = async (method: string, params: readonly unknown[]): Promise<NodeAnswer> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    const { result, error }: { result?: unknown; error?: unknown } = Object(await response.json())
    return error === undefined ? { result } : { error }
  }
  return {
    async answer({ method, params }, height) {
      if ((heightNamed(method, params) ?? 0n) > height) {
        return method === 'eth_getBlockByNumber' ? { result: null } : notYet
      }
      const pinned = params.map((param) => (param === 'latest' ? toHex(height) : param))
      const key = JSON.stringify([method, pinned])
      const answer = known.get(key) ?? ask(method, pinned).then(rememberBlock)
      known.set(key, answer)
      return answer
    },
  }

  /** The height of a block that a call names by its number or by the hash that was told of it. */
  function heightNamed(method: string, params: readonly unknown[]): bigint | undefined {
    const isFirst = method === 'eth_getBlockByNumber' || method === 'eth_getLogs'
    const named = isFirst ? params[0] : params[1]
    if (typeof named === 'string') return named.startsWith('0x') ? BigInt(named) : undefined
    const { blockHash }: { blockHash?: unknown } = Object(named)
    return typeof blockHash === 'string' ? heights.get(blockHash) : undefined
  }

  function rememberBlock(answer: NodeAnswer): NodeAnswer {
    const { number, hash }: { number?: unknown; hash?: unknown } =
      'result' in answer ? Object(answer.result) : {}
    if (typeof number === 'string' && typeof hash === 'string') heights.set(hash, BigInt(number))
    return answer
  }
}

/** Node's answer about the state of a block that it does not have. */
const notYet: NodeAnswer = { error: { code: -32_000, message: 'header not found' } }

function toHex(height: bigint): Hex {
  return `0x${height.toString(16)}`
}
