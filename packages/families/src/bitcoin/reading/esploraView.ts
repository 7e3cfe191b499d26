import type { HttpAnswer, HttpView, NamedOutput } from '@causeway/rpc'
import { EndpointFailure, MalformedAnswerError, parseList, parseRecord } from '@causeway/rpc'
import { outPointText } from '../rules/transaction.ts'
import {
  type BitcoinBlock,
  type BitcoinView,
  checkMerkleProof,
  parseHashText,
  parseHeaderOf,
  parseHeight,
  parseSeenTransaction,
  type SeenTransaction,
  type Spending,
} from './bitcoinView.ts'

const notFound = 404
/** Pages that `nameNewest` reads; one holds 25 transactions. */
const pagesMax = 8

/** An Esplora-compatible API. Amounts are never read from its JSON: they come from raw bytes. */
export function createEsploraView(view: HttpView): BitcoinView {
  const get = (path: string, signal: AbortSignal) =>
    view.ask({ method: 'GET', path, answerStatuses: [notFound] }, signal)
  return {
    alias: view.alias,
    async readTipHeight(signal) {
      const path = '/blocks/tip/height'
      return parseHeight(jsonOf(await get(path, signal), path), path)
    },

    async readBlockHash(height, signal) {
      const answer = await get(`/block-height/${height}`, signal)
      return answer.status === notFound ? undefined : parseHashText(answer.text.trim(), '/block-height')
    },

    async readTransaction(transactionId, signal): Promise<SeenTransaction | undefined> {
      const [bytesAnswer, statusAnswer] = await Promise.all([
        get(`/tx/${transactionId}/hex`, signal),
        get(`/tx/${transactionId}/status`, signal),
      ])
      if (bytesAnswer.status === notFound && statusAnswer.status === notFound) return undefined
      if (bytesAnswer.status === notFound) throw new MalformedAnswerError('/tx/hex')
      const block = parseStatus(jsonOf(statusAnswer, '/tx/status'))
      return parseSeenTransaction(bytesAnswer.text.trim(), { transactionId, block }, '/tx/hex')
    },

    async readBlockOf({ transactionId, block }, signal): Promise<BitcoinBlock | undefined> {
      if (block?.height === undefined) return undefined
      const { hash, height } = block
      const [header, canonical, proof] = await Promise.all([
        get(`/block/${hash}/header`, signal),
        this.readBlockHash(height, signal),
        get(`/tx/${transactionId}/merkleblock-proof`, signal),
      ])
      const { timeSeconds } = parseHeaderOf(hash, header.text.trim(), '/block/header')
      // An API may offer no proofs; one that it shows must be right.
      if (proof.status !== notFound) {
        checkMerkleProof(proof.text.trim(), { blockHash: hash, transactionId }, '/tx/merkleblock-proof')
      }
      return canonical === hash ? { hash, height, timeSeconds } : undefined
    },

    async readSpending({ txid, vout }, signal): Promise<Spending> {
      const answer = await get(`/tx/${txid}/outspend/${vout}`, signal)
      // An output that the endpoint does not know counts as unspent: callers also read the transaction that made it.
      return answer.status === notFound ? { kind: 'unspent' } : parseSpending(answer)
    },

    async nameOutputs(address, signal, whose) {
      const answer = await get(`/address/${address}/utxo`, signal).catch(unlessRefused)
      if (answer !== undefined) return parseOutputs(answer)
      // The address has too many outputs, or the endpoint refuses everything: then it fails here.
      await this.readTipHeight(signal)
      return whose === 'own' ? nameNewest(get, address, signal) : 'refused'
    },
  }
}

function parseSpending(answer: HttpAnswer): Spending {
  const requestName = '/tx/outspend'
  const { spent, txid: by, status } = parseRecord(jsonOf(answer, requestName), requestName)
  if (spent === false) return { kind: 'unspent' }
  const { confirmed } = parseRecord(status, requestName)
  if (spent !== true || typeof confirmed !== 'boolean') throw new MalformedAnswerError(requestName)
  return confirmed ? { kind: 'spent', by: parseHashText(by, requestName) } : { kind: 'unspent' }
}

/** Confirmed outputs. */
function parseOutputs(answer: HttpAnswer): readonly NamedOutput[] {
  const requestName = '/address/utxo'
  return parseList(jsonOf(answer, requestName), requestName).flatMap((entry) => {
    const { txid, vout, value, status } = parseRecord(entry, requestName)
    const { confirmed } = parseRecord(status, requestName)
    if (confirmed !== true) return []
    const outPoint = { txid: parseHashText(txid, requestName), vout: Number(parseHeight(vout, requestName)) }
    return [{ ...outPoint, value: parseHeight(value, requestName) }]
  })
}

/** Endpoints refuse an address with more outputs than they list, 500 by default. @source electrs, `utxos_limit` */
function unlessRefused(error: unknown): undefined {
  if (error instanceof EndpointFailure && error.reason === 'refused') return undefined
  throw error
}

type Get = (path: string, signal: AbortSignal) => Promise<HttpAnswer>

/**
 * Unspent outputs to an address in its newest confirmed transactions. Pages go back in time, and a spender is
 * newer than the transaction that it spends from: so the pages that show an output also show its spender.
 */
async function nameNewest(get: Get, address: string, signal: AbortSignal): Promise<readonly NamedOutput[]> {
  const requestName = '/address/txs/chain'
  const transactions: ListedTransaction[] = []
  for (let page = 0; page < pagesMax; page += 1) {
    const last = transactions.at(-1)?.txid
    const path = `/address/${address}/txs/chain${last === undefined ? '' : `/${last}`}`
    const listed = parseList(jsonOf(await get(path, signal), requestName), requestName)
    if (listed.length === 0) break
    transactions.push(...listed.map((entry) => parseListed(entry, address, requestName)))
  }
  const spent = new Set(transactions.flatMap((transaction) => transaction.spent))
  return transactions.flatMap(({ paid }) => paid).filter((output) => !spent.has(outPointText(output)))
}

/** A transaction of an address's list. `spent`: its inputs as `txid:vout`; `paid`: its outputs to the address. */
type ListedTransaction = {
  readonly txid: string
  readonly spent: readonly string[]
  readonly paid: readonly NamedOutput[]
}

function parseListed(entry: unknown, address: string, subject: string): ListedTransaction {
  const { txid: id, vin, vout: outputs } = parseRecord(entry, subject)
  const txid = parseHashText(id, subject)
  const spent = parseList(vin, subject).map((input) => {
    const { txid: spentId, vout } = parseRecord(input, subject)
    return `${spentId}:${vout}`
  })
  const paid = parseList(outputs, subject).flatMap((output, vout) => {
    const { scriptpubkey_address: recipient, value } = parseRecord(output, subject)
    return recipient === address ? [{ txid, vout, value: parseHeight(value, subject) }] : []
  })
  return { txid, spent, paid }
}

function parseStatus(value: unknown): SeenTransaction['block'] {
  const requestName = '/tx/status'
  const { confirmed, block_hash: hash, block_height: height } = parseRecord(value, requestName)
  if (confirmed === false) return undefined
  if (confirmed !== true) throw new MalformedAnswerError(requestName)
  return { hash: parseHashText(hash, requestName), height: parseHeight(height, requestName) }
}

function jsonOf({ status, text }: HttpAnswer, subject: string): unknown {
  if (status === notFound) throw new MalformedAnswerError(subject)
  try {
    return JSON.parse(text)
  } catch {
    throw new MalformedAnswerError(subject)
  }
}
