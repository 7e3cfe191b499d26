import type { EndpointView, HttpView } from '@causeway/rpc'
import { MalformedAnswerError, resultOf } from '@causeway/rpc'
import { createBitcoindView, tipCall } from '../reading/bitcoindView.ts'
import { type BitcoinView, parseHeaderOf } from '../reading/bitcoinView.ts'
import { createEsploraView } from '../reading/esploraView.ts'

/** Result of sending a transaction to an endpoint: accepted, or refused with the endpoint's message. */
export type BroadcastOutcome =
  | { readonly isAccepted: true }
  | { readonly isAccepted: false; readonly refusal: string }

/** Queries that a fill wallet needs beyond those that facts are read with. Throws as `BitcoinView` does. */
export interface BitcoinPayingView extends BitcoinView {
  /** Unix seconds in the header of the best chain's block at a height. @throws MalformedAnswerError without a block */
  readBlockTime(height: bigint, signal: AbortSignal): Promise<bigint>
  send(hex: string, signal: AbortSignal): Promise<BroadcastOutcome>
}

/** True for the error of a node that has the transaction already. @source Bitcoin Core, `node/transaction.cpp` */
const isAlreadyKnown = (message: string): boolean =>
  /already in (block ?chain|utxo set|mempool)|txn-already-(known|in-mempool)/i.test(message)

/** Characters of a refusal that are kept: it is for logs, and some endpoints answer with long texts. */
const refusalMax = 200

/** Outcome of a broadcast that an endpoint answered with an error. */
const outcomeOfError = (message: string): BroadcastOutcome =>
  isAlreadyKnown(message)
    ? { isAccepted: true }
    : { isAccepted: false, refusal: message.slice(0, refusalMax) }

/** As `createBitcoindView`, which also tells why each request has `tipCall` as a second call. */
export function bitcoindPayingView(view: EndpointView): BitcoinPayingView {
  const base = createBitcoindView(view)
  return {
    ...base,
    async readBlockTime(height, signal) {
      const requestName = 'getblockheader'
      const hash = await base.readBlockHash(height, signal)
      if (hash === undefined) throw new MalformedAnswerError(requestName)
      const isDecoded = false
      const [answer] = await view.ask([{ method: requestName, params: [hash, isDecoded] }, tipCall], signal)
      return parseHeaderOf(hash, resultOf(answer, requestName), requestName).timeSeconds
    },
    async send(hex, signal) {
      const requestName = 'sendrawtransaction'
      const [answer] = await view.ask([{ method: requestName, params: [hex] }, tipCall], signal)
      if (answer === undefined) throw new MalformedAnswerError(requestName)
      return answer.ok ? { isAccepted: true } : outcomeOfError(answer.message)
    },
  }
}

export function esploraPayingView(view: HttpView): BitcoinPayingView {
  const base = createEsploraView(view)
  return {
    ...base,
    async readBlockTime(height, signal) {
      const requestName = '/block/header'
      const hash = await base.readBlockHash(height, signal)
      if (hash === undefined) throw new MalformedAnswerError(requestName)
      const { text } = await view.ask({ method: 'GET', path: `/block/${hash}/header` }, signal)
      return parseHeaderOf(hash, text.trim(), requestName).timeSeconds
    },
    async send(hex, signal) {
      const request = { method: 'POST' as const, path: '/tx', text: hex, answerStatuses: [badRequest] }
      const { status, text } = await view.ask(request, signal)
      return status === badRequest ? outcomeOfError(text) : { isAccepted: true }
    },
  }
}

const badRequest = 400
