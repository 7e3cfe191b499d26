import { decodeBase58Text } from '@causeway/core'
import type { RpcAnswer } from '@causeway/rpc'
import { MalformedAnswerError, parseList, parseRecord, resultOf } from '@causeway/rpc'
import type { RunAnswer } from '../../shared/paymentVotes.ts'

/**
 * Strict parsers of the answers to a fill wallet's calls: anything that is not exactly the method's result throws
 * `MalformedAnswerError`, and the endpoint counts as silent. @source Solana JSON-RPC documentation
 */

/** State of a transaction that landed in a block. */
export type SentStatus = { readonly succeeded: boolean; readonly isFinal: boolean }

/** In the order of the question; `undefined` for a transaction that the node never saw. @throws MalformedAnswerError */
export function parseStatuses(
  answer: RpcAnswer | undefined,
  count: number,
): readonly (SentStatus | undefined)[] {
  const requestName = 'getSignatureStatuses'
  const list = parseList(parseRecord(resultOf(answer, requestName), requestName)['value'], requestName)
  if (list.length !== count) throw new MalformedAnswerError(requestName)
  return list.map((status) => {
    if (status === null) return undefined
    const { err, confirmationStatus } = parseRecord(status, requestName)
    if (err === undefined || !['processed', 'confirmed', 'finalized'].includes(String(confirmationStatus)))
      throw new MalformedAnswerError(requestName)
    return { succeeded: err === null, isFinal: confirmationStatus === 'finalized' }
  })
}

/** @throws MalformedAnswerError */
export const parseHeight = (answer: RpcAnswer | undefined): bigint =>
  wholeNumber(resultOf(answer, 'getBlockHeight'), 'getBlockHeight')

/** A blockhash that a transaction can name. It is valid up to a block height. */
export type RecentBlockhash = { readonly blockhash: string; readonly lastValidHeight: bigint }

/** @throws MalformedAnswerError */
export function parseBlockhash(answer: RpcAnswer | undefined): RecentBlockhash {
  const requestName = 'getLatestBlockhash'
  const { blockhash, lastValidBlockHeight } = parseRecord(
    parseRecord(resultOf(answer, requestName), requestName)['value'],
    requestName,
  )
  if (typeof blockhash !== 'string' || decodeBase58Text(blockhash)?.length !== 32)
    throw new MalformedAnswerError(requestName)
  return { blockhash, lastValidHeight: wholeNumber(lastValidBlockHeight, requestName) }
}

/** Compute units that a simulated transaction took, or `fails`. @throws MalformedAnswerError */
export function parseSimulation(answer: RpcAnswer | undefined): RunAnswer {
  const requestName = 'simulateTransaction'
  const { err, unitsConsumed } = parseRecord(
    parseRecord(resultOf(answer, requestName), requestName)['value'],
    requestName,
  )
  if (err === undefined) throw new MalformedAnswerError(requestName)
  return err === null ? wholeNumber(unitsConsumed, requestName) : 'fails'
}

function wholeNumber(value: unknown, subject: string): bigint {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new MalformedAnswerError(subject)
  return BigInt(value)
}
