import type { Hex } from '@causeway/core'
import type { HttpView } from '@causeway/rpc'
import {
  type LighterAccount,
  type LighterTransaction,
  parseAccount,
  parseContract,
  parseTransaction,
} from './answers.ts'

/** Statuses that report a missing object with a code in the body; so does 200. */
const answerStatuses = [400, 404]

/**
 * One endpoint of the HTTP API. All functions throw EndpointFailure or MalformedAnswerError: then the endpoint
 * did not answer. @source Lighter API reference, "tx", "account", "info"
 */

/** @param transactionId canonical */
export async function readTransaction(
  view: HttpView,
  transactionId: string,
  signal: AbortSignal,
): Promise<LighterTransaction | undefined> {
  const path = `/api/v1/tx?by=hash&value=${transactionId}`
  const { text } = await view.ask({ method: 'GET', path, answerStatuses }, signal)
  return parseTransaction(text, transactionId)
}

/** @param account canonical */
export async function readAccount(
  view: HttpView,
  account: string,
  signal: AbortSignal,
): Promise<LighterAccount | undefined> {
  const path = `/api/v1/account?by=index&value=${account}`
  const { text } = await view.ask({ method: 'GET', path, answerStatuses }, signal)
  return parseAccount(text, account)
}

export async function readContract(view: HttpView, signal: AbortSignal): Promise<Hex> {
  const { text } = await view.ask({ method: 'GET', path: '/info' }, signal)
  return parseContract(text)
}
