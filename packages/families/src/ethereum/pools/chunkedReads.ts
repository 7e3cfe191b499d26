import type { Hex } from '@causeway/core'
import { type AgreedClient, agreedCall } from '../agreement/agreedTransport.ts'
import {
  type ContractAnswer,
  type ContractCall,
  decodeAggregate3,
  encodeAggregate3,
} from '../contracts/multicall.ts'
import { chunks } from './chunks.ts'

/** Keeps one `eth_call` under 5 M gas, far below what nodes allow it. */
const callsPerRequest = 500
/** Keeps one HTTP answer under 2 MB. */
const requestsPerBatch = 4

/** The block at which contracts are read, and the multicall contract that reads them. */
export type ReadAt = { readonly multicall3: Hex; readonly blockHash: Hex }

/**
 * Reads any number of contracts at one block, in batches of limited size. The first batch is sent in the same turn of
 * the event loop, so that it shares a request with other reads made then.
 * @throws UpstreamUnavailableError, UpstreamDisagreementError
 */
export async function readContracts(
  client: AgreedClient,
  calls: readonly ContractCall[],
  at: ReadAt,
): Promise<readonly ContractAnswer[]> {
  const answers: ContractAnswer[] = []
  for (const batch of chunks(chunks(calls, callsPerRequest), requestsPerBatch)) {
    const parts = await Promise.all(batch.map((part) => readPart(client, part, at)))
    answers.push(...parts.flat())
  }
  return answers
}

/** @throws MalformedAnswerError also if Multicall3 itself reverts, as then another contract stands at its address */
async function readPart(
  client: AgreedClient,
  calls: readonly ContractCall[],
  { multicall3, blockHash }: ReadAt,
): Promise<readonly ContractAnswer[]> {
  const data = await agreedCall(client, { to: multicall3, data: encodeAggregate3(calls), blockHash })
  return decodeAggregate3(data, calls.length)
}
