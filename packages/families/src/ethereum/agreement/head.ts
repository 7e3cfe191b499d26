import type { Hex } from '@causeway/core'
import type { JsonRpcClient, RpcCall, RpcOptions } from '@causeway/rpc'
import { MalformedAnswerError, parseHash, parseQuantity, parseRecord, toQuantity } from '@causeway/rpc'

export type ChainHead = {
  readonly number: bigint
  readonly hash: Hex
  readonly parentHash: Hex
  readonly timestampSeconds: number
  /** Base fee of this block, not the next. `undefined` on chains without EIP-1559. */
  readonly baseFeePerGasWei: bigint | undefined
}

const what = 'eth_getBlockByNumber'

export function headRequest(block: 'latest' | 'safe' | 'finalized' | bigint = 'latest'): RpcCall {
  return { method: what, params: [typeof block === 'bigint' ? toQuantity(block) : block, false] }
}

/** @throws MalformedAnswerError, also on `null`: every chain has a latest block */
export function parseHead(result: unknown): ChainHead {
  const block = parseRecord(result, what)
  const timestampSeconds = Number(parseQuantity(block['timestamp'], what))
  if (!Number.isSafeInteger(timestampSeconds)) throw new MalformedAnswerError(what)
  const baseFee = block['baseFeePerGas']
  return {
    number: parseQuantity(block['number'], what),
    hash: parseHash(block['hash'], what),
    parentHash: parseHash(block['parentHash'], what),
    timestampSeconds,
    baseFeePerGasWei: baseFee === undefined || baseFee === null ? undefined : parseQuantity(baseFee, what),
  }
}

/** @throws UpstreamUnavailableError, NodeError */
export async function readHead(client: JsonRpcClient, options?: RpcOptions): Promise<ChainHead> {
  return parseHead(await client.request(headRequest(), options))
}
