import {
  createPublicClient,
  custom,
  formatBlock,
  formatLog,
  formatTransaction,
  formatTransactionReceipt,
  hexToBigInt,
  hexToBytes,
} from 'viem'
import { parseHead } from '../../packages/families/src/ethereum/agreement/head.ts'
import { parseFeeHistory } from '../../packages/families/src/ethereum/gas/feeModel.ts'
import {
  type EvmLog,
  parseHeader,
  parseLog,
  parseMinedTransaction,
  parseReceipt,
} from '../../packages/families/src/ethereum/reading/answers.ts'
import { traceReading } from '../../packages/families/src/ethereum/settling/chainReadings.ts'
import { parseBytes, parseQuantity, parseRecord } from '../../packages/rpc/src/quantity.ts'
import { blockForm, feeHistoryForm, receiptForm, traceForm, transactionForm } from './forms.ts'
import { type Facts, has, isListOf, ok, type RecordKind, Refusal } from './outcome.ts'

const lower = (value: unknown): unknown =>
  typeof value === 'string' ? value.toLowerCase() : (value ?? undefined)

/** Answers of EVM nodes, read beside viem. */
export const ethereumRecords: readonly RecordKind[] = [
  {
    name: 'a receipt',
    form: receiptForm,
    fits: ({ result }) => has(result, 'transactionHash', 'cumulativeGasUsed'),
    read: ({ result }) => readReceipt(result),
    library: ({ result }) => viemReceipt(result),
  },
  {
    name: 'receipts of a block',
    fits: ({ result }) => isListOf(result, 'transactionHash', 'cumulativeGasUsed'),
    read: ({ result }) => ({ receipts: listOf(result).map(readReceipt) }),
    library: ({ result }) => ({ receipts: listOf(result).map(viemReceipt) }),
  },
  {
    name: 'a block',
    form: blockForm,
    fits: ({ result }) => has(result, 'parentHash'),
    read({ result }) {
      const { hash, number } = Object(result)
      if (hash === null || number === null) throw new Refusal('it is pending')
      const { timestampSeconds, ...head } = parseHead(result)
      parseHeader(ok(result))
      return { ...head, timestamp: BigInt(timestampSeconds) }
    },
    library({ result }) {
      const { number, hash, parentHash, timestamp, baseFeePerGas } = formatBlock({
        ...Object(result),
        transactions: [],
      })
      const baseFeePerGasWei = baseFeePerGas ?? undefined
      return { number, hash: lower(hash), parentHash: lower(parentHash), baseFeePerGasWei, timestamp }
    },
  },
  {
    name: 'a transaction',
    form: transactionForm,
    fits: ({ result }) => has(result, 'hash', 'from', 'nonce'),
    read({ result }) {
      const transaction = parseMinedTransaction(ok(result), String(lower(Object(result)['hash'])))
      if (transaction === undefined) throw new Refusal('no block holds it')
      const { blockHash, blockNumber, from, to, input, value } = transaction
      return { blockHash, blockNumber, from, to, input, value }
    },
    library({ result }) {
      const { blockHash, blockNumber, from, to, input, value } = formatTransaction(Object(result))
      return {
        blockHash: lower(blockHash),
        blockNumber,
        from: lower(from),
        to: lower(to),
        value,
        input: lower(input),
      }
    },
  },
  {
    name: 'a history of fees',
    form: feeHistoryForm,
    fits: ({ result }) => has(result, 'oldestBlock', 'gasUsedRatio'),
    read: ({ result }) => ({ ...parseFeeHistory(result) }),
    async library({ result }) {
      const client = createPublicClient({ transport: custom({ request: async () => result }) })
      const { baseFeePerGas, reward = [] } = await client.getFeeHistory({
        blockCount: 1,
        rewardPercentiles: [],
      })
      return {
        baseFeesWei: baseFeePerGas.slice(0, -1),
        nextBaseFeeWei: baseFeePerGas.at(-1),
        rewardsWei: reward.map(([first]) => first),
      }
    },
  },
  {
    name: 'logs',
    fits: ({ result }) => Array.isArray(result) && result.every((one) => has(one, 'topics', 'data')),
    read: ({ result }) => ({
      logs: listOf(result).map((log) => logFacts(parseLog(parseRecord(log, 'log'), 'log'))),
    }),
    library: ({ result }) => ({ logs: listOf(result).map(viemLog) }),
  },
  {
    name: 'a trace of calls',
    form: traceForm,
    fits: ({ result }) => has(result, 'type', 'from', 'gas'),
    read: ({ result }) => ({ ...traceReading('0x').parse([ok(result)]) }),
  },
  {
    name: 'bytes',
    fits: ({ result }) =>
      typeof result === 'string' && /^0x([0-9a-f]{2})*$/i.test(result) && result.length > 18,
    read: ({ result }) => ({ bytes: parseBytes(result, 'eth_call') }),
    library: ({ result }) => ({
      bytes: `0x${Buffer.from(hexToBytes(Object(result).valueOf())).toString('hex')}`,
    }),
  },
  {
    name: 'no bytes',
    fits: ({ result }) => result === '0x',
    read: ({ result }) => ({ bytes: parseBytes(result, 'eth_getCode') }),
  },
  {
    name: 'a quantity',
    fits: ({ result }) => typeof result === 'string' && result.startsWith('0x'),
    read: ({ result }) => ({ quantity: parseQuantity(result, 'eth_blockNumber') }),
    library: ({ result }) => ({ quantity: hexToBigInt(Object(result).valueOf()) }),
  },
]

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function readReceipt(result: unknown): Facts {
  const receipt = parseReceipt(ok(result), String(lower(Object(result)['transactionHash'])))
  if (receipt === undefined) throw new Refusal('there is none')
  if (receipt === 'unreadable') throw new Refusal('it does not say whether the transaction succeeded')
  const { transactionId, blockHash, blockNumber, succeeded, logs } = receipt
  return { transactionId, blockHash, blockNumber, succeeded, logs: logs.map(logFacts) }
}

function viemReceipt(result: unknown): Facts {
  const { transactionHash, blockHash, blockNumber, status, logs } = formatTransactionReceipt(Object(result))
  const ordered = [...listOf(logs)].sort((one, other) => Object(one).logIndex - Object(other).logIndex)
  return {
    transactionId: lower(transactionHash),
    blockHash: lower(blockHash),
    blockNumber,
    succeeded: status === 'success',
    logs: ordered.map(logOfViem),
  }
}

const logFacts = ({ address, topics, data, logIndex }: EvmLog) => [address, topics, data, logIndex]
const viemLog = (log: unknown) => logOfViem(formatLog(Object(log)))

function logOfViem(log: unknown): readonly unknown[] {
  const { address, topics, data, logIndex } = Object(log)
  return [lower(address), topics.map(lower), lower(data), BigInt(logIndex)]
}
