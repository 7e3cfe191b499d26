import { type FinalBlockScan, type Hex, maxBigint, minBigint, type ScanStart } from '@causeway/core'
import { isNativeTransferLog } from '@causeway/core/encodings'
import type { EndpointView, QuorumClient, RpcAnswer, RpcCall, Sighting } from '@causeway/rpc'
import {
  MalformedAnswerError,
  parseAddress,
  parseHash,
  parseList,
  parseQuantity,
  parseRecord,
  resultOf,
  toQuantity,
} from '@causeway/rpc'
import type { ListedPayers } from '../../shared/listedPayers.ts'
import type { EvmHeader } from './answers.ts'
import type { DepositRules } from './deposits.ts'
import { addressTopic, transferTopic } from './events.ts'
import { newestFinal } from './finalBlocks.ts'
import type { FinalHeight, FinalityRule } from './finality.ts'
import { headRound, readHeader } from './headRound.ts'

/** Blocks of one scan: as many as public endpoints accept in a request for logs. */
const blocksMax = 200n
/** Blocks over which the pace is measured. A first scan goes back at least so far, in case the chain paused. */
const paceSampleBlocks = 100n
/** The first scan goes back at most so many blocks, however fast they come. */
const backMax = 20_000n
/** Transactions of one scan and kind. If dust floods a depository, the others are attested only when somebody asks. */
const transactionsMax = 1_000

/** Everything that a scan depends on beside its start. */
type ScanContext = {
  readonly rules: Pick<DepositRules, 'depository'>
  readonly payers: Pick<ListedPayers, 'fillContracts' | 'fillPayers'>
  readonly rule: FinalityRule
  readonly quorum: QuorumClient
}

/**
 * Finds candidates for attestation ahead of requests, in the next final blocks. Deposits: transactions in which the
 * depository wrote an event or received a token. Payments: those in which a fill contract wrote an event or a listed
 * payer sent a token. Each candidate is then read like any other transaction, so a false log can hide or invent only a
 * candidate, never a deposit or a payment. A listed payer's own payment in native coin leaves no event; it is read when
 * somebody asks.
 * @throws what `QuorumClient.read` throws
 */
export async function scanFinalBlocks(
  context: ScanContext,
  start: ScanStart,
  signal: AbortSignal,
): Promise<FinalBlockScan> {
  const { rule, quorum } = context
  const { facts } = await quorum.read({
    ...headRound(rule, quorum.threshold),
    signal,
    second: (view, _heads, pin, ownSignal) => scanAtEndpoint(view, { ...context, start, pin }, ownSignal),
    key: ({ through, isComplete, deposits, payments }) =>
      `${through} ${isComplete} ${deposits.join()} ${payments.join()}`,
  })
  return facts
}

/**
 * One endpoint's vote: the candidates in the next final blocks after the start. The caller begins its next
 * scan behind `through`; if no final block is new, that is where this one began.
 * @param scan `pin`: the height that was agreed from all endpoints' heads in the first round
 */
async function scanAtEndpoint(
  view: EndpointView,
  scan: ScanContext & { readonly start: ScanStart; readonly pin: FinalHeight },
  signal: AbortSignal,
): Promise<Sighting<FinalBlockScan>> {
  const { rules, payers, rule, start, pin } = scan
  const newest = await newestFinal(view, { rule, pin }, signal)
  if (newest === undefined) return { kind: 'not_final', waitSeconds: 1 }
  const after = 'after' in start ? start.after : await blockBefore(view, start.minutes, newest, signal)
  if (after >= newest.number)
    return { kind: 'final', facts: { through: after, isComplete: true, deposits: [], payments: [] } }
  const through = minBigint(after + blocksMax, newest.number)
  const range = { fromBlock: after + 1n, toBlock: through }
  const candidates = await readCandidates(view, { rules, payers, range }, signal)
  return { kind: 'final', facts: { through, isComplete: through === newest.number, ...candidates } }
}

/** Number of the block about so many minutes before `newest`, estimated by the time between recent blocks; -1: none. */
async function blockBefore(
  view: EndpointView,
  minutes: number,
  newest: EvmHeader,
  signal: AbortSignal,
): Promise<bigint> {
  const distance = minBigint(newest.number, paceSampleBlocks)
  if (distance === 0n) return -1n
  const earlier = await readHeader(view, newest.number - distance, signal)
  const passedSeconds = newest.timestampSeconds - earlier.timestampSeconds
  const estimatedBlocks = passedSeconds <= 0n ? backMax : (BigInt(minutes) * 60n * distance) / passedSeconds
  const blocksBack = maxBigint(paceSampleBlocks, minBigint(estimatedBlocks, backMax))
  return blocksBack > newest.number ? -1n : newest.number - blocksBack
}

type Range = { readonly fromBlock: bigint; readonly toBlock: bigint }

async function readCandidates(
  view: EndpointView,
  { rules, payers, range }: Pick<ScanContext, 'rules' | 'payers'> & { readonly range: Range },
  signal: AbortSignal,
): Promise<Pick<FinalBlockScan, 'deposits' | 'payments'>> {
  const { depository } = rules
  const fillContracts = [...payers.fillContracts]
  const tokenPayers = [...fillContracts, ...payers.fillPayers]
  const depositFilters = [
    { address: depository },
    { topics: [transferTopic, null, addressTopic(depository)] },
  ]
  const paymentFilters = [
    ...(fillContracts.length > 0 ? [{ address: fillContracts }] : []),
    ...(tokenPayers.length > 0 ? [{ topics: [transferTopic, tokenPayers.map(addressTopic)] }] : []),
  ]
  const calls = [...depositFilters, ...paymentFilters].map((filter) => logsCall(filter, range))
  const answers = await view.ask(calls, signal)
  const transactionsOf = (logAnswers: readonly RpcAnswer[]) =>
    inOrder(logAnswers.flatMap((answer) => parseCandidates(answer, range)))
  return {
    deposits: transactionsOf(answers.slice(0, depositFilters.length)),
    payments: transactionsOf(answers.slice(depositFilters.length)),
  }
}

/** Ids of the candidates in the order of the chain, each once. */
function inOrder(candidates: readonly Candidate[]): readonly Hex[] {
  const sorted = candidates.toSorted(
    (one, other) => compare(one.block, other.block) || compare(one.index, other.index),
  )
  return [...new Set(sorted.map(({ transactionId }) => transactionId))].slice(0, transactionsMax)
}

function logsCall(filter: object, { fromBlock, toBlock }: Range): RpcCall {
  const blocks = { fromBlock: toQuantity(fromBlock), toBlock: toQuantity(toBlock) }
  return { method: 'eth_getLogs', params: [{ ...filter, ...blocks }] }
}

type Candidate = { readonly transactionId: Hex; readonly block: bigint; readonly index: bigint }

/** Transactions of the logs in an answer. @throws MalformedAnswerError for a log outside the requested blocks */
export function parseCandidates(
  answer: RpcAnswer | undefined,
  { fromBlock, toBlock }: Range,
): readonly Candidate[] {
  const requestName = 'eth_getLogs'
  return parseList(resultOf(answer, requestName), requestName).flatMap((entry) => {
    const log = parseRecord(entry, requestName)
    const block = parseQuantity(log['blockNumber'], requestName)
    if (block < fromBlock || block > toBlock) throw new MalformedAnswerError(requestName)
    // Some chains log transfers of native coin like those of tokens (EIP-7708).
    if (isNativeTransferLog({ address: parseAddress(log['address'], requestName) })) return []
    const transactionId = parseHash(log['transactionHash'], requestName)
    return [{ transactionId, block, index: parseQuantity(log['logIndex'], requestName) }]
  })
}

const compare = (one: bigint, other: bigint): number => (one < other ? -1 : one > other ? 1 : 0)
