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

/** Error codes of nodes. @source Bitcoin Core, `rpc/protocol.h` */
const codes = { notFound: -5, outOfRange: -8 }

/**
 * The view of a Bitcoin Core node with a transaction index. Amounts of transactions come from raw bytes, never from its
 * JSON. `ask` adds a second call to each request, because older nodes answer a single refused call with HTTP 500.
 */
export function createBitcoindView(view: EndpointView): BitcoinView {
  const ask = async (calls: readonly RpcCall[], signal: AbortSignal) => view.ask([...calls, tipCall], signal)
  return {
    alias: view.alias,
    async readTipHeight(signal) {
      return parseHeight(resultOf((await view.ask([tipCall], signal))[0], 'getblockcount'), 'getblockcount')
    },

    async readBlockHash(height, signal) {
      const requestName = 'getblockhash'
      const [answer] = await ask([{ method: requestName, params: [Number(height)] }], signal)
      if (answer?.ok === false && answer.code === codes.outOfRange) return undefined
      return parseHashText(resultOf(answer, requestName), requestName)
    },

    async readTransaction(transactionId, signal): Promise<SeenTransaction | undefined> {
      const requestName = 'getrawtransaction'
      const [answer] = await ask([{ method: requestName, params: [transactionId, true] }], signal)
      if (isUnknown(answer)) return undefined
      const { hex, blockhash } = parseRecord(resultOf(answer, requestName), requestName)
      const block = blockhash === undefined ? undefined : { hash: parseHashText(blockhash, requestName) }
      return parseSeenTransaction(hex, { transactionId, block }, requestName)
    },

    async readBlockOf({ transactionId, block }, signal): Promise<BitcoinBlock | undefined> {
      if (block === undefined) return undefined
      const { hash } = block
      const requestName = 'getblockheader'
      // These are several calls already, so `ask` need not add one.
      const [described, raw, proof] = await view.ask(
        [
          { method: requestName, params: [hash, true] },
          { method: requestName, params: [hash, false] },
          { method: 'gettxoutproof', params: [[transactionId], hash] },
        ],
        signal,
      )
      const { confirmations, height } = parseRecord(resultOf(described, requestName), requestName)
      const { timeSeconds } = parseHeaderOf(hash, resultOf(raw, requestName), requestName)
      // A node may refuse to make a proof; one that it shows must be right.
      if (proof?.ok) checkMerkleProof(proof.result, { blockHash: hash, transactionId }, 'gettxoutproof')
      // The block was left by a reorganization.
      if (confirmations === -1) return undefined
      // Any other value must be a count, but the count itself is not used.
      parseHeight(confirmations, requestName)
      return { hash, height: parseHeight(height, requestName), timeSeconds }
    },

    async readSpending({ txid, vout }: OutPoint, signal): Promise<Spending> {
      const requestName = 'gettxout'
      const withMempool = false
      const [answer] = await ask([{ method: requestName, params: [txid, vout, withMempool] }], signal)
      const output = resultOf(answer, requestName)
      // It is null for an unconfirmed or unknown output too: callers check that a block has the output.
      if (output === null) return { kind: 'spent', by: undefined }
      parseRecord(output, requestName)
      return { kind: 'unspent' }
    },

    async nameOutputs(address, signal) {
      const requestName = 'scantxoutset'
      // The scan is asked for alone, so that no other answer waits for it. It has no limit of outputs, so
      // that `refused` and `whose` are of no use here.
      const answer = await view.askAlone(
        { method: requestName, params: ['start', [`addr(${address})`]] },
        signal,
      )
      return parseUnspents(resultOf(answer, requestName), requestName)
    },
  }
}

function parseUnspents(result: unknown, subject: string): readonly NamedOutput[] {
  const { unspents } = parseRecord(result, subject)
  return parseList(unspents, subject).map((listed) => {
    const { txid, vout, amount } = parseRecord(listed, subject)
    return {
      txid: parseHashText(txid, subject),
      vout: Number(parseHeight(vout, subject)),
      value: parseCoins(amount, subject),
    }
  })
}

/** Call for the newest height; also the second call of requests that would have only one. */
export const tipCall: RpcCall = { method: 'getblockcount', params: [] }

/** True if the node knows no such transaction. A node without a complete index has the same code, but other words. */
function isUnknown(answer: RpcAnswer | undefined): boolean {
  if (answer?.ok !== false || answer.code !== codes.notFound) return false
  return answer.message.startsWith('No such mempool or blockchain transaction')
}
