import type { Hex } from '@causeway/core'
import {
  type ChainClient,
  NodeError,
  parseHash,
  parseQuantity,
  parseRecord,
  type RpcAnswer,
} from '@causeway/rpc'
import type { MinedReceipt, SignedTransaction } from './contractPayingChain.ts'

const readTimeoutMs = 5_000

/**
 * Receipt of the one transaction that is mined, of several that have the same nonce; undefined if none is.
 * @param finalBlock number of the newest final block
 * @throws DomainError, NodeError, MalformedAnswerError
 */
export async function firstMined(
  client: ChainClient,
  transactions: readonly SignedTransaction[],
  finalBlock: bigint,
): Promise<MinedReceipt | undefined> {
  if (transactions.length === 0) return undefined
  const calls = transactions.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
  const { answers } = await client.agree(calls, {
    timeoutMs: readTimeoutMs,
    project: (receipts) => receipts.map(receiptOf),
  })
  const minedReceipt = answers.map(receiptOf).find((receipt) => receipt !== undefined)
  if (minedReceipt === undefined) return undefined
  const { hash, succeeded, blockNumber, costWei } = minedReceipt
  return { hash, succeeded, costWei, isFinal: blockNumber <= finalBlock }
}

/** Members of a receipt on which endpoints have to agree. */
type Receipt = {
  readonly hash: Hex
  readonly succeeded: boolean
  readonly blockNumber: bigint
  readonly blockHash: Hex
  readonly costWei: bigint
}

/** Undefined for a transaction that no block has. @throws MalformedAnswerError, NodeError */
function receiptOf(answer: RpcAnswer): Receipt | undefined {
  const method = 'eth_getTransactionReceipt'
  if (!answer.ok) throw new NodeError(answer)
  if (answer.result === null) return undefined
  const receipt = parseRecord(answer.result, method)
  return {
    hash: parseHash(receipt['transactionHash'], method),
    succeeded: parseQuantity(receipt['status'], method) === 1n,
    blockNumber: parseQuantity(receipt['blockNumber'], method),
    blockHash: parseHash(receipt['blockHash'], method),
    costWei:
      parseQuantity(receipt['gasUsed'], method) * parseQuantity(receipt['effectiveGasPrice'], method) +
      // Rollups of the OP stack charge for data beside the gas.
      (receipt['l1Fee'] === undefined ? 0n : parseQuantity(receipt['l1Fee'], method)),
  }
}
