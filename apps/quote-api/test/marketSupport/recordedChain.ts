import type { Hex } from '@causeway/core'

/** One JSON-RPC call of a request. */
export type NodeCall = { readonly id: unknown; readonly method: string; readonly params: readonly unknown[] }

/** An answer without the envelope of JSON-RPC. */
export type NodeAnswer = { readonly result: unknown } | { readonly error: unknown }

/**
 * What a real node says, asked once each: its chain stands still, so every answer stays true. Many
 * endpoints can tell it over and over at the speed of memory.
 */
export type RecordedChain = {
  /** The true answer while the head is at `height`. */
  answer(call: NodeCall, height: bigint): Promise<NodeAnswer>
}

export function recordChain(url: string): RecordedChain {
  const known = new Map<string, Promise<NodeAnswer>>()
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
      const named = method === 'eth_getBlockByNumber' ? params[0] : undefined
      const isAhead = typeof named === 'string' && named.startsWith('0x') && BigInt(named) > height
      if (isAhead) return { result: null }
      const pinned = params.map((param) => (param === 'latest' ? toHex(height) : param))
      const key = JSON.stringify([method, pinned])
      const answer = known.get(key) ?? ask(method, pinned)
      known.set(key, answer)
      return answer
    },
  }
}

function toHex(height: bigint): Hex {
  return `0x${height.toString(16)}`
}
