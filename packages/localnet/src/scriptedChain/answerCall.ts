import type { Hex } from '@causeway/core'
import type { BlockTree, ScriptedBlock, ScriptedTransaction } from './blockTree.ts'

export type ScriptedAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } }

/** A transaction in the canonical chain; `index` is its position in the block. */
type MinedTransaction = {
  readonly block: ScriptedBlock
  readonly transaction: ScriptedTransaction
  readonly index: number
}

/** Blocks that one `eth_getLogs` may span before it is refused, as hosted nodes do. */
const logRangeMax = 10_000
const blockSeconds = 2

/** Answers one JSON-RPC call from the tree, in the form of the Ethereum JSON-RPC specification. */
export function answerCall(
  tree: BlockTree,
  chainId: number,
  call: { readonly method: string; readonly params: readonly unknown[] },
): ScriptedAnswer {
  const [first, second] = call.params
  const chain = tree.canonical()
  switch (call.method) {
    case 'eth_chainId':
      return { result: quantity(chainId) }
    case 'eth_blockNumber':
      return { result: quantity(chain.length - 1) }
    case 'eth_getBlockByNumber':
      return { result: blockJson(blockAt(tree, first)) }
    case 'eth_getLogs':
      return filterLogs(tree, first)
    case 'eth_getTransactionByHash':
      return { result: transactionJson(findTransaction(chain, first)) }
    case 'eth_getTransactionReceipt':
      return { result: receiptJson(findTransaction(chain, first)) }
    case 'debug_traceTransaction': {
      // `second` names the call tracer; without it a node would answer another trace, which is not scripted.
      const trace = findTransaction(chain, first)?.transaction.trace
      return trace === undefined || second === undefined ? unknownMethod : { result: trace }
    }
    default:
      return unknownMethod
  }
}

const unknownMethod: ScriptedAnswer = { error: { code: -32601, message: 'the method does not exist' } }

function blockAt(tree: BlockTree, name: unknown): ScriptedBlock | undefined {
  const chain = tree.canonical()
  if (name === 'latest') return chain.at(-1)
  // A test may finalize above the head, or drop final blocks.
  if (name === 'finalized' || name === 'safe') return chain[tree.finalHeight()] ?? chain.at(-1)
  return typeof name === 'string' ? chain[Number(name)] : undefined
}

function findTransaction(chain: readonly ScriptedBlock[], hash: unknown): MinedTransaction | undefined {
  for (const block of chain) {
    const index = block.transactions.findIndex((transaction) => transaction.hash === hash)
    const transaction = block.transactions[index]
    if (transaction !== undefined) return { block, transaction, index }
  }
  return undefined
}

function filterLogs(tree: BlockTree, filter: unknown): ScriptedAnswer {
  const { address, topics, fromBlock, toBlock } = readFilter(filter)
  const from = blockNumber(tree, fromBlock)
  const to = blockNumber(tree, toBlock)
  if (to - from >= logRangeMax) return { error: { code: -32005, message: 'query returned too many results' } }
  const matching = tree
    .canonical()
    .slice(from, to + 1)
    .flatMap((block) => block.transactions.flatMap((_, index) => receiptLogs(block, index)))
    .filter(
      (log) =>
        log.address === address &&
        topics.every((topic, position) => topic === null || log.topics[position] === topic),
    )
  return { result: matching }
}

function readFilter(filter: unknown) {
  // CAST: only the project's own code asks a scripted chain.
  return filter as { address: Hex; topics: readonly (Hex | null)[]; fromBlock: unknown; toBlock: unknown }
}

function blockNumber(tree: BlockTree, name: unknown): number {
  return name === 'latest' ? tree.canonical().length - 1 : Number(name)
}

/** Logs of a transaction. Their indexes count over the block, so the same transaction has others in another block. */
function receiptLogs(block: ScriptedBlock, index: number) {
  const { transactions, hash, number } = block
  const before = transactions.slice(0, index).reduce((count, { logs }) => count + logs.length, 0)
  const transaction = transactions[index]
  return (transaction?.logs ?? []).map(({ address, topics, data }, position) => ({
    address,
    topics,
    data,
    blockHash: hash,
    blockNumber: quantity(number),
    transactionHash: transaction?.hash,
    transactionIndex: quantity(index),
    logIndex: quantity(before + position),
    removed: false,
  }))
}

function blockJson(block: ScriptedBlock | undefined) {
  if (block === undefined) return null
  const { number, hash, parentHash, transactions } = block
  return {
    number: quantity(number),
    hash,
    parentHash,
    timestamp: quantity(number * blockSeconds),
    transactions: transactions.map((transaction) => transaction.hash),
  }
}

function transactionJson(mined: MinedTransaction | undefined) {
  if (mined === undefined) return null
  const { block, transaction, index } = mined
  const { hash, from, to, input } = transaction
  return {
    hash,
    from,
    to,
    input,
    value: '0x0',
    blockHash: block.hash,
    blockNumber: quantity(block.number),
    transactionIndex: quantity(index),
  }
}

function receiptJson(mined: MinedTransaction | undefined) {
  if (mined === undefined) return null
  const { block, transaction, index } = mined
  return {
    transactionHash: transaction.hash,
    blockHash: block.hash,
    blockNumber: quantity(block.number),
    transactionIndex: quantity(index),
    status: transaction.succeeded === false ? '0x0' : '0x1',
    logs: receiptLogs(block, index),
  }
}

function quantity(value: number): Hex {
  return `0x${value.toString(16)}`
}
