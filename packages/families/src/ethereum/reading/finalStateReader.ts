import { type FinalBlock, type Hex, minBigint, type ReadOptions } from '@causeway/core'
import type { EndpointView, QuorumClient, Sighting } from '@causeway/rpc'
import {
  MalformedAnswerError,
  parseAddress,
  parseBytes,
  parseHash,
  parseList,
  parseQuantity,
  parseRecord,
  resultOf,
  toQuantity,
} from '@causeway/rpc'
import { contractCall, type EvmHeader, headerCall, parseHeader } from './answers.ts'
import type { FinalHeight, FinalityRule } from './finality.ts'
import { headRound, readHeader } from './headRound.ts'

/** One event of a final block. */
export type FinalLog = {
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly blockNumber: bigint
  readonly blockSeconds: bigint
  /** Position in the block. */
  readonly logIndex: bigint
}

/** Events of one contract that are to be read. */
export type LogsQuestion = {
  readonly address: Hex
  /** First topics that are asked for. */
  readonly topics: readonly Hex[]
  /** First block. */
  readonly from: bigint
  /** Most blocks of one reading. */
  readonly rangeMax: bigint
}

/** Events up to a final block; the next reading begins after `until`. */
export type FinalLogs = {
  /** In the order of the chain. */
  readonly logs: readonly FinalLog[]
  /** Last block that was read; `undefined` when `from` is not final yet. */
  readonly until: FinalBlock | undefined
  /**
   * Hash of the block before `from`; `undefined` for block 0, and with `until`. If it differs from the last
   * reading's `until`, a reorg undid that reading.
   */
  readonly parentHash: Hex | undefined
}

export type ContractRead = { readonly to: Hex; readonly data: Hex }

/** Contract calls whose results are read together. */
export type StateQuestion = {
  /** Asked at the final height. */
  readonly final: readonly ContractRead[]
  /** Asked at the newest block that enough endpoints have. */
  readonly newest: readonly ContractRead[]
}

/** Returned bytes, in the order of the question's calls. */
export type AgreedState = {
  readonly final: readonly Hex[]
  readonly newest: readonly Hex[]
  readonly finalBlock: FinalBlock
}

/** Reads events and state of contracts in final blocks, by the quorum of a chain's endpoints. */
export interface FinalStateReader {
  /** @throws UpstreamDisagreementError, UpstreamUnavailableError */
  readLogs(question: LogsQuestion, options: ReadOptions): Promise<FinalLogs>
  /** @throws TransactionNotFinalError while the chain has no final block; as `readLogs` */
  readState(question: StateQuestion, options: ReadOptions): Promise<AgreedState>
}

export function createFinalStateReader(options: {
  readonly quorum: QuorumClient
  /** A rule of mode `tag` or `depth`, as hub files have it: no block's age is compared here. */
  readonly rule: FinalityRule
}): FinalStateReader {
  const { quorum, rule } = options
  const heads = headRound(rule, quorum.threshold)
  return {
    async readLogs(question, { signal }) {
      const { facts } = await quorum.read({
        ...heads,
        signal,
        async second(view, _heads, { height }, ownSignal) {
          const facts = await logsUpTo(view, question, height, ownSignal)
          return { kind: 'final', facts }
        },
      })
      return facts
    },
    async readState(question, { signal }) {
      const { facts } = await quorum.read({
        ...heads,
        signal,
        second: (view, _heads, pin, ownSignal) => readStateAt(view, question, pin, ownSignal),
      })
      return facts
    },
  }
}

/** One endpoint's vote: the returned bytes at both heights of `pin` (final and newest), and the final block. */
async function readStateAt(
  view: EndpointView,
  { final, newest }: StateQuestion,
  pin: FinalHeight,
  signal: AbortSignal,
): Promise<Sighting<AgreedState>> {
  if (pin.height < 0n) return { kind: 'not_final', waitSeconds: 1 }
  const readAt = async (reads: readonly ContractRead[], height: bigint): Promise<readonly Hex[]> => {
    const calls = reads.map(({ to, data }) => contractCall(to, data, height))
    const answers = await view.ask(calls, signal)
    return answers.map((answer) => parseBytes(resultOf(answer, 'eth_call'), 'eth_call'))
  }
  const [atFinal, atNewest] = await Promise.all([readAt(final, pin.height), readAt(newest, pin.headNumber)])
  // The header is read last, so that it shows the chain on which the endpoint was after the other answers.
  const { number, hash } = await readHeader(view, pin.height, signal)
  return { kind: 'final', facts: { final: atFinal, newest: atNewest, finalBlock: { number, hash } } }
}

/** One endpoint's logs up to `finalHeight`. Each log must be in the block that the endpoint shows at its height. */
async function logsUpTo(
  view: EndpointView,
  { address, topics, from, rangeMax }: LogsQuestion,
  finalHeight: bigint,
  signal: AbortSignal,
): Promise<FinalLogs> {
  if (finalHeight < from) return { logs: [], until: undefined, parentHash: undefined }
  const last = minBigint(from + rangeMax - 1n, finalHeight)
  const filter = { address, topics: [topics], fromBlock: toQuantity(from), toBlock: toQuantity(last) }
  const [answer] = await view.ask([{ method: 'eth_getLogs', params: [filter] }], signal)
  const rawLogs = parseList(resultOf(answer, 'eth_getLogs'), 'eth_getLogs').map((log) => parseFinalLog(log))
  if (rawLogs.some((log) => !matchesQuestion(log, { address, topics, from, last }))) {
    throw new MalformedAnswerError('eth_getLogs')
  }
  const heights = new Set([...rawLogs.map(({ blockNumber }) => blockNumber), last])
  if (from > 0n) heights.add(from - 1n) // For `parentHash`.
  const headers = await readHeaders(view, [...heights], signal)
  const logs = rawLogs.map(({ blockHash, address: _asked, ...log }) => {
    const block = headers.get(log.blockNumber)
    if (block?.hash !== blockHash) throw new MalformedAnswerError('eth_getLogs')
    return { ...log, blockSeconds: block.timestampSeconds }
  })
  logs.sort((a, b) => Number(a.blockNumber - b.blockNumber) || Number(a.logIndex - b.logIndex))
  const lastHash = headers.get(last)?.hash
  if (lastHash === undefined) throw new MalformedAnswerError('eth_getBlockByNumber')
  return { logs, until: { number: last, hash: lastHash }, parentHash: headers.get(from - 1n)?.hash }
}

async function readHeaders(
  view: EndpointView,
  heights: readonly bigint[],
  signal: AbortSignal,
): Promise<ReadonlyMap<bigint, EvmHeader>> {
  const answers = await view.ask(heights.map(headerCall), signal)
  return new Map(heights.map((height, index) => [height, parseHeader(answers[index], height)]))
}

type RawLog = Omit<FinalLog, 'blockSeconds'> & { readonly address: Hex; readonly blockHash: Hex }

function parseFinalLog(value: unknown): RawLog {
  const requestName = 'eth_getLogs'
  const log = parseRecord(value, requestName)
  if (log['removed'] === true) throw new MalformedAnswerError(requestName)
  return {
    address: parseAddress(log['address'], requestName),
    topics: parseList(log['topics'], requestName).map((topic) => parseHash(topic, requestName)),
    data: parseBytes(log['data'], requestName),
    blockNumber: parseQuantity(log['blockNumber'], requestName),
    blockHash: parseHash(log['blockHash'], requestName),
    logIndex: parseQuantity(log['logIndex'], requestName),
  }
}

function matchesQuestion(
  log: RawLog,
  question: Pick<LogsQuestion, 'address' | 'topics' | 'from'> & { readonly last: bigint },
): boolean {
  const [topic] = log.topics
  const isInside = log.blockNumber >= question.from && log.blockNumber <= question.last
  return (
    log.address === question.address && topic !== undefined && question.topics.includes(topic) && isInside
  )
}
