import type { Hex } from '@causeway/core'
import type { JsonRpcClient, RpcCall, RpcOptions } from '@causeway/rpc'
import { MalformedAnswerError, parseHash, parseQuantity, parseRecord, toQuantity } from '@causeway/rpc'

/** Header of a block, as far as it is read. */
export type ChainHead = {
  readonly number: bigint
  readonly hash: Hex
  readonly parentHash: Hex
  readonly timestampSeconds: number
  /** Base fee of this block, not the next. `undefined` on chains without EIP-1559. */
  readonly baseFeePerGasWei: bigint | undefined
}

const requestName = 'eth_getBlockByNumber'

export function headRequest(block: 'latest' | 'safe' | 'finalized' | bigint = 'latest'): RpcCall {
  return { method: requestName, params: [typeof block === 'bigint' ? toQuantity(block) : block, false] }
}

/** @throws MalformedAnswerError, also on `null`: every chain has a latest block */
export function parseHead(result: unknown): ChainHead {
  const block = parseRecord(result, requestName)
  const timestampSeconds = Number(parseQuantity(block['timestamp'], requestName))
  if (!Number.isSafeInteger(timestampSeconds)) throw new MalformedAnswerError(requestName)
  const baseFee = block['baseFeePerGas']
  return {
    number: parseQuantity(block['number'], requestName),
    hash: parseHash(block['hash'], requestName),
    parentHash: parseHash(block['parentHash'], requestName),
    timestampSeconds,
    baseFeePerGasWei:
      baseFee === undefined || baseFee === null ? undefined : parseQuantity(baseFee, requestName),
  }
}

/** The newest block of one endpoint, without agreement. @throws UpstreamUnavailableError, NodeError */
export async function readHead(client: JsonRpcClient, options?: RpcOptions): Promise<ChainHead> {
  return parseHead(await client.request(headRequest(), options))
}
