import { decodeBase58Text } from '@causeway/core'
import type { RpcAnswer } from '@causeway/rpc'
import { MalformedAnswerError, parseList, parseRecord, resultOf } from '@causeway/rpc'
import type { SaidRun } from '../../shared/paymentVotes.ts'

/**
 * Strict parsers of the answers to a fill wallet's calls: anything that is not exactly the method's result throws
 * `MalformedAnswerError`, and the endpoint counts as silent. @source Solana JSON-RPC documentation
 */

export type SentStatus = { readonly succeeded: boolean; readonly isFinal: boolean }

/** In the order of the question; `undefined` where the node never saw one. @throws MalformedAnswerError */
export function parseStatuses(
  answer: RpcAnswer | undefined,
  count: number,
): readonly (SentStatus | undefined)[] {
  const what = 'getSignatureStatuses'
  const list = parseList(parseRecord(resultOf(answer, what), what)['value'], what)
  if (list.length !== count) throw new MalformedAnswerError(what)
  return list.map((status) => {
    if (status === null) return undefined
    const { err, confirmationStatus } = parseRecord(status, what)
    if (err === undefined || !['processed', 'confirmed', 'finalized'].includes(String(confirmationStatus)))
      throw new MalformedAnswerError(what)
    return { succeeded: err === null, isFinal: confirmationStatus === 'finalized' }
  })
}

/** @throws MalformedAnswerError */
export const parseHeight = (answer: RpcAnswer | undefined): bigint =>
  wholeNumber(resultOf(answer, 'getBlockHeight'), 'getBlockHeight')

export type RecentBlockhash = { readonly blockhash: string; readonly lastValidHeight: bigint }

/** @throws MalformedAnswerError */
export function parseBlockhash(answer: RpcAnswer | undefined): RecentBlockhash {
  const what = 'getLatestBlockhash'
  const { blockhash, lastValidBlockHeight } = parseRecord(
    parseRecord(resultOf(answer, what), what)['value'],
    what,
  )
  if (typeof blockhash !== 'string' || decodeBase58Text(blockhash)?.length !== 32)
    throw new MalformedAnswerError(what)
  return { blockhash, lastValidHeight: wholeNumber(lastValidBlockHeight, what) }
}

/** Compute units that it took. @throws MalformedAnswerError */
export function parseSimulation(answer: RpcAnswer | undefined): SaidRun {
  const what = 'simulateTransaction'
  const { err, unitsConsumed } = parseRecord(parseRecord(resultOf(answer, what), what)['value'], what)
  if (err === undefined) throw new MalformedAnswerError(what)
  return err === null ? wholeNumber(unitsConsumed, what) : 'fails'
}

function wholeNumber(value: unknown, what: string): bigint {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new MalformedAnswerError(what)
  return BigInt(value)
}
