import type { Hex } from '@causeway/core'
import type { ChainQuestion, Sighting } from '@causeway/rpc'
import { comparisonText, MalformedAnswerError } from '@causeway/rpc'
import type { EvmLog } from '../../ethereum/reading/answers.ts'
import { type FinalHeight, headsOf, isTooYoung, secondsToFinality } from '../../ethereum/reading/finality.ts'
import type { AccountCode } from '../../ethereum/reading/payments/paidTransaction.ts'
import {
  accountCode,
  type ExecutionReading,
  type FinalExecution,
  type RecordsPayments,
} from '../../ethereum/reading/readFinalTransaction.ts'
import {
  parseBlockInfos,
  parseHeader,
  parseInfo,
  parseRuntimeCode,
  parseTransaction,
  type TronHeader,
  type TronInfo,
} from './answers.ts'
import { askNode, type TronView } from './askNode.ts'
import { pinSolidHeight, type TronHeads } from './finality.ts'
import type { TronTransaction } from './rawTransaction.ts'
import {
  blockInfosRequest,
  contractInfoRequest,
  headRequest,
  infoRequest,
  solidHeaderRequest,
  solidHeadRequest,
  transactionRequest,
  unsolidInfoRequest,
} from './requests.ts'

/** `logIndex` of its logs: position in the block if `Wanted.positions` asked for it, else in the transaction. */
export type FinalTransaction = FinalExecution<TronTransaction>

/** Data that is read beside the info, decided by its logs. */
export type Wanted = {
  /** True if the transaction's own content is read. */
  readonly transaction: 'always' | ((logs: readonly EvmLog[]) => boolean)
  /** True if the logs' positions in the block are read. */
  readonly positions: (logs: readonly EvmLog[]) => boolean
  /** Accounts whose code decides what is proven; `transaction` is undefined unless it is always read. */
  readonly codeOf: (logs: readonly EvmLog[], transaction: TronTransaction | undefined) => readonly Hex[]
}

type TransactionReading = ExecutionReading<Wanted>

/** First answer of one endpoint. */
type OwnView = {
  readonly heads: TronHeads
  readonly info: TronInfo | undefined
  readonly transaction: TronTransaction | undefined
}

/**
 * Asks each endpoint in two rounds. First: its heads and the transaction's info. `pin` derives the final height from
 * the heads. Second: the headers at that height and of the transaction's block, and what else is `wanted`.
 * All but the newest head is read from solidified blocks, so nothing can change between the rounds.
 * `confirms` tells if an endpoint that lacks the transaction has its block.
 */
export function transactionQuestion(
  reading: TransactionReading,
): Omit<ChainQuestion<OwnView, FinalHeight, FinalTransaction, TronView>, 'signal'> {
  const { transactionId, rule, threshold } = reading
  return {
    transactionId,
    first: (view, signal) => readOwnView(view, reading, signal),
    pin: (views) => pinSolidHeight(rule, threshold, views.map(headsOf)),
    second: (view, own, pin, signal) => judge(view, { ...reading, own, pin }, signal),
    confirms: async (view, { blockNumber, blockHash }, signal) =>
      parseHeader(await askNode(view, solidHeaderRequest(blockNumber), signal), blockNumber)?.hash ===
      blockHash,
  }
}

async function readOwnView(
  view: TronView,
  { transactionId, wanted }: TransactionReading,
  signal: AbortSignal,
): Promise<OwnView> {
  const wantsTransaction = wanted.transaction === 'always'
  const [info, heads, transaction] = await Promise.all([
    askNode(view, infoRequest(transactionId), signal),
    readHeads(view, signal),
    wantsTransaction ? askNode(view, transactionRequest(transactionId), signal) : undefined,
  ])
  return {
    heads,
    info: parseInfo(info, transactionId),
    transaction: wantsTransaction ? parseTransaction(transaction, transactionId) : undefined,
  }
}

export async function readHeads(view: TronView, signal: AbortSignal): Promise<TronHeads> {
  const [latest, solid] = await Promise.all([
    askNode(view, headRequest, signal),
    askNode(view, solidHeadRequest, signal),
  ])
  return { latest: requireHeader(latest), solid: requireHeader(solid) }
}

/** A header that must be there. @throws MalformedAnswerError */
export function requireHeader(body: unknown, expected?: bigint): TronHeader {
  const header = parseHeader(body, expected)
  if (header === undefined) throw new MalformedAnswerError('getblock')
  return header
}

type Judging = TransactionReading & { readonly own: OwnView; readonly pin: FinalHeight }

async function judge(
  view: TronView,
  judging: Judging,
  signal: AbortSignal,
): Promise<Sighting<FinalTransaction>> {
  const { own, pin, rule, logsMax } = judging
  const { info } = own
  if (info === undefined) return judgeUnsolid(view, judging, signal)
  if (!info.succeeded) return { kind: 'refused', reason: 'reverted' }
  if (info.logs.length > logsMax) return { kind: 'refused', reason: 'too_large' }
  const { blockNumber: number, timestampSeconds } = info
  if (number > pin.height || isTooYoung(rule, pin, timestampSeconds)) {
    return { kind: 'not_final', waitSeconds: secondsToFinality(rule, pin, { number, timestampSeconds }) }
  }
  const { header, ...details } = await readDetails(view, { ...judging, info }, signal)
  const block = { blockHash: header.hash, blockNumber: number, blockTimestampSeconds: timestampSeconds }
  return { kind: 'final', facts: { ...block, ...details } }
}

/** For a transaction in no solidified block: it may be in a newer one. */
async function judgeUnsolid(
  view: TronView,
  { transactionId, rule, pin }: Judging,
  signal: AbortSignal,
): Promise<Sighting<FinalTransaction>> {
  const info = parseInfo(await askNode(view, unsolidInfoRequest(transactionId), signal), transactionId)
  if (info === undefined) return { kind: 'refused', reason: 'missing' }
  const { blockNumber: number, timestampSeconds } = info
  return { kind: 'not_final', waitSeconds: secondsToFinality(rule, pin, { number, timestampSeconds }) }
}

/** Facts of a final transaction beside its info, and the header of its block. */
type Details = Pick<FinalTransaction, 'transaction' | 'logs' | 'finalBlock' | 'code'> & {
  readonly header: TronHeader
}

/** Reads the second round's headers and what is wanted. Positions and content must match the info. */
async function readDetails(
  view: TronView,
  judging: Judging & { readonly info: TronInfo },
  signal: AbortSignal,
): Promise<Details> {
  const { own, info, wanted, pin, configured, transactionId, recordsPayments } = judging
  const { blockNumber, logs } = info
  const wantsTransaction = wanted.transaction !== 'always' && wanted.transaction(logs)
  const wantsPositions = wanted.positions(logs)
  const [headerBody, pinnedBody, infosBody, transactionBody, code] = await Promise.all([
    askNode(view, solidHeaderRequest(blockNumber), signal),
    // With one endpoint nothing is compared, so this header is not read.
    configured > 1 ? askNode(view, solidHeaderRequest(pin.height), signal) : undefined,
    wantsPositions ? askNode(view, blockInfosRequest(blockNumber), signal) : undefined,
    wantsTransaction ? askNode(view, transactionRequest(transactionId), signal) : undefined,
    readCodes(view, { accounts: wanted.codeOf(logs, own.transaction), recordsPayments }, signal),
  ])
  const header = requireHeader(headerBody, blockNumber)
  if (header.timestampSeconds !== info.timestampSeconds) throw new MalformedAnswerError('getblock')
  const pinned = configured > 1 ? requireHeader(pinnedBody, pin.height) : undefined
  const transaction = wantsTransaction ? parseTransaction(transactionBody, transactionId) : own.transaction
  const needsTransaction = wantsTransaction || wanted.transaction === 'always'
  if (needsTransaction && transaction === undefined) throw new MalformedAnswerError('gettransactionbyid')
  return {
    header,
    finalBlock: pinned && { number: pinned.number, hash: pinned.hash },
    transaction,
    logs: wantsPositions ? positionsIn(infosBody, info, transactionId) : logs,
    code,
  }
}

/**
 * Code of accounts as of now; it was the same at the transaction, because contracts of this family are never removed.
 */
async function readCodes(
  view: TronView,
  question: { readonly accounts: readonly Hex[]; readonly recordsPayments: RecordsPayments },
  signal: AbortSignal,
): Promise<ReadonlyMap<Hex, AccountCode>> {
  const codes = question.accounts.map(async (account): Promise<readonly [Hex, AccountCode]> => {
    const code = parseRuntimeCode(await askNode(view, contractInfoRequest(account), signal))
    return [account, accountCode(code, question.recordsPayments)]
  })
  return new Map(await Promise.all(codes))
}

/** The logs with their positions in the block; both readings of the info must show the same logs. */
function positionsIn(body: unknown, info: TronInfo, transactionId: string): readonly EvmLog[] {
  const { blockNumber } = info
  const inBlock = parseBlockInfos(body, { transactionId, blockNumber })
  if (comparisonText(inBlock.info.logs) !== comparisonText(info.logs)) {
    throw new MalformedAnswerError('gettransactioninfobyblocknum')
  }
  return info.logs.map((log) => ({ ...log, logIndex: log.logIndex + inBlock.logsBefore }))
}
