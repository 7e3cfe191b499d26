import type { Hex } from '@causeway/core'
import type { HttpView } from '@causeway/rpc'
import {
  type LighterAccount,
  type LighterTransaction,
  parseAccount,
  parseContract,
  parseTransaction,
} from './answers.ts'

/** HTTP statuses beside 200 whose body may say, by its code, that an account or transaction is missing. */
const answerStatuses = [400, 404]

/**
 * Requests of facts to one endpoint of the HTTP API. All functions throw EndpointFailure or MalformedAnswerError, which
 * count as no answer. @source Lighter API reference, "tx", "account", "info"
 */

/** `undefined` when there is no such transaction. @param transactionId canonical */
export async function readTransaction(
  view: HttpView,
  transactionId: string,
  signal: AbortSignal,
): Promise<LighterTransaction | undefined> {
  const path = `/api/v1/tx?by=hash&value=${transactionId}`
  const { text } = await view.ask({ method: 'GET', path, answerStatuses }, signal)
  return parseTransaction(text, transactionId)
}

/** `undefined` when there is no such account. @param account canonical */
export async function readAccount(
  view: HttpView,
  account: string,
  signal: AbortSignal,
): Promise<LighterAccount | undefined> {
  const path = `/api/v1/account?by=index&value=${account}`
  const { text } = await view.ask({ method: 'GET', path, answerStatuses }, signal)
  return parseAccount(text, account)
}

/** The exchange's contract on layer 1, by which networks differ. */
export async function readContract(view: HttpView, signal: AbortSignal): Promise<Hex> {
  const { text } = await view.ask({ method: 'GET', path: '/info' }, signal)
  return parseContract(text)
}
