import type { EndpointView, NamedOutput, RpcAnswer, RpcCall } from '@causeway/rpc'
import { parseList, parseRecord, resultOf } from '@causeway/rpc'
import type { OutPoint } from '../rules/transaction.ts'
import {
  type BitcoinBlock,
  type BitcoinView,
  checkMerkleProof,
  parseCoins,
  parseHashText,
  parseHeaderOf,
  parseHeight,
  parseSeenTransaction,
  type SeenTransaction,
  type Spending,
} from './bitcoinView.ts'

const codes = { notFound: -5, outOfRange: -8 }

/**
 * A node of Bitcoin Core's RPC with a transaction index. Amounts are never read from its JSON: they come
 * from raw bytes. Calls travel together, because older nodes answer a single refused call with HTTP 500.
 */
export function createBitcoindView(view: EndpointView): BitcoinView {
  const ask = async (calls: readonly RpcCall[], signal: AbortSignal) => view.ask([...calls, tipCall], signal)
  return {
    alias: view.alias,
    async readTipHeight(signal) {
      return parseHeight(resultOf((await view.ask([tipCall], signal))[0], 'getblockcount'), 'getblockcount')
    },

    async readBlockHash(height, signal) {
      const what = 'getblockhash'
      const [answer] = await ask([{ method: what, params: [Number(height)] }], signal)
      if (answer?.ok === false && answer.code === codes.outOfRange) return undefined
      return parseHashText(resultOf(answer, what), what)
    },

    async readTransaction(transactionId, signal): Promise<SeenTransaction | undefined> {
      const what = 'getrawtransaction'
      const [answer] = await ask([{ method: what, params: [transactionId, true] }], signal)
      if (isUnknown(answer)) return undefined
      const { hex, blockhash } = parseRecord(resultOf(answer, what), what)
      const block = blockhash === undefined ? undefined : { hash: parseHashText(blockhash, what) }
      return parseSeenTransaction(hex, { transactionId, block }, what)
    },

    async readBlockOf({ transactionId, block }, signal): Promise<BitcoinBlock | undefined> {
      if (block === undefined) return undefined
      const { hash } = block
      const what = 'getblockheader'
      const [described, raw, proof] = await view.ask(
        [
          { method: what, params: [hash, true] },
          { method: what, params: [hash, false] },
          { method: 'gettxoutproof', params: [[transactionId], hash] },
        ],
        signal,
      )
      const { confirmations, height } = parseRecord(resultOf(described, what), what)
      const { timeSeconds } = parseHeaderOf(hash, resultOf(raw, what), what)
      if (proof?.ok) checkMerkleProof(proof.result, { blockHash: hash, transactionId }, 'gettxoutproof')
      if (confirmations === -1) return undefined
      parseHeight(confirmations, what)
      return { hash, height: parseHeight(height, what), timeSeconds }
    },

    async readSpending({ txid, vout }: OutPoint, signal): Promise<Spending> {
      const what = 'gettxout'
      const [answer] = await ask([{ method: what, params: [txid, vout, false] }], signal)
      const output = resultOf(answer, what)
      if (output === null) return { kind: 'spent', by: undefined }
      parseRecord(output, what)
      return { kind: 'unspent' }
    },

    async nameOutputs(address, signal) {
      const what = 'scantxoutset'
      const answer = await view.askAlone({ method: what, params: ['start', [`addr(${address})`]] }, signal)
      return parseUnspents(resultOf(answer, what), what)
    },
  }
}

function parseUnspents(result: unknown, what: string): readonly NamedOutput[] {
  const { unspents } = parseRecord(result, what)
  return parseList(unspents, what).map((listed) => {
    const { txid, vout, amount } = parseRecord(listed, what)
    return {
      ...{ txid: parseHashText(txid, what), vout: Number(parseHeight(vout, what)) },
      value: parseCoins(amount, what),
    }
  })
}

export const tipCall: RpcCall = { method: 'getblockcount', params: [] }

/** A node without an index, or still building it, refuses with the same code and cannot tell. */
function isUnknown(answer: RpcAnswer | undefined): boolean {
  if (answer?.ok !== false || answer.code !== codes.notFound) return false
  return answer.message.startsWith('No such mempool or blockchain transaction')
}
