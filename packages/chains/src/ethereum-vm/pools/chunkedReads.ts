import { type Hex, UpstreamUnavailableError } from '@causeway/core'
import type { RpcAnswer, RpcCall, RpcOptions } from '../../rpc/jsonRpc.ts'
import { NodeError } from '../../rpc/nodeError.ts'
import type { BatchClient } from '../agreement/agreedReads.ts'
import {
  type ContractAnswer,
  type ContractCall,
  decodeAggregate3,
  multicallRequest,
} from '../contracts/multicall.ts'
import { chunks } from './chunks.ts'

/** Keeps one `eth_call` under 5 M gas, far below what nodes allow it. */
const callsPerRequest = 500
/** Keeps one HTTP answer under 2 MB. */
const requestsPerBatch = 4

export type ReadAt = { readonly multicall3: Hex; readonly blockHash: Hex }

/** Any number of contract calls as the fewest `eth_call`s. See `contractAnswers`. */
export function contractRequests(calls: readonly ContractCall[], at: ReadAt): readonly RpcCall[] {
  const { multicall3, blockHash } = at
  return chunks(calls, callsPerRequest).map((part) =>
    multicallRequest({ multicall3, calls: part, block: { hash: blockHash } }),
  )
}

/** The answers to `contractRequests` in call order. @throws UpstreamUnavailableError */
export function contractAnswers(
  chainId: string,
  answers: readonly (RpcAnswer | undefined)[],
  callCount: number,
): readonly ContractAnswer[] {
  return answers.flatMap((answer, index) =>
    decodeAggregate3(
      resultOf(chainId, answer),
      Math.min(callsPerRequest, callCount - index * callsPerRequest),
    ),
  )
}

/** Reads any number of contracts at one block, in as few batches as answers of bearable size allow. */
export async function readContracts(
  client: BatchClient,
  calls: readonly ContractCall[],
  at: ReadAt,
  options?: RpcOptions,
): Promise<readonly ContractAnswer[]> {
  const answers: RpcAnswer[] = []
  for (const batch of chunks(contractRequests(calls, at), requestsPerBatch)) {
    answers.push(...(await client.batch(batch, options)))
  }
  return contractAnswers(client.chainId, answers, calls.length)
}

/** A node that refuses a plain read, e.g. of a block it does not know, is one that cannot be read. */
export function resultOf(chainId: string, answer: RpcAnswer | undefined): unknown {
  if (answer?.ok === true) return answer.result
  throw new UpstreamUnavailableError(`Chain ${chainId} cannot be read at the moment.`, {
    code: 'RPC_HTTP_ERROR',
    data: { chainId },
    cause: answer === undefined ? undefined : new NodeError(answer),
  })
}
