import type { Hex } from '@causeway/core'
import type { ChainQuestion, Sighting } from '@causeway/rpc'
import { comparisonText, MalformedAnswerError } from '@causeway/rpc'
import type { EvmLog } from '../../ethereum/reading/answers.ts'
import { type FinalPin, headsOf, isTooYoung, secondsToFinality } from '../../ethereum/reading/finality.ts'
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

/** Logs are under their position in the block where `Wanted.positions` asked for it, else in the transaction. */
export type FinalTransaction = FinalExecution<TronTransaction>

/** Readings beside the info, decided by its logs. */
export type Wanted = {
  readonly transaction: 'always' | ((logs: readonly EvmLog[]) => boolean)
  readonly positions: (logs: readonly EvmLog[]) => boolean
  /** Accounts whose code decides what the transaction proves. */
  readonly codeOf: (logs: readonly EvmLog[], transaction: TronTransaction | undefined) => readonly Hex[]
}

type TransactionReading = ExecutionReading<Wanted>

type OwnView = {
  readonly heads: TronHeads
  readonly info: TronInfo | undefined
  readonly transaction: TronTransaction | undefined
}

/**
 * The two rounds of one endpoint. First: its heads and the info of the transaction. Then, at the height that
 * all agreed on: the header there and that of the transaction's block; all infos of the block where the
 * position of logs counts; calldata where it decides. All but the newest head is read from solidified blocks,
 * so nothing can change between the rounds.
 */
export function transactionQuestion(
  reading: TransactionReading,
): Omit<ChainQuestion<OwnView, FinalPin, FinalTransaction, TronView>, 'signal'> {
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

type Judging = TransactionReading & { readonly own: OwnView; readonly pin: FinalPin }

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
  const { header, ...rest } = await readRest(view, { ...judging, info }, signal)
  const block = { blockHash: header.hash, blockNumber: number, blockTimestampSeconds: timestampSeconds }
  return { kind: 'final', facts: { ...block, ...rest } }
}

/** No solidified block holds the transaction: another one may. */
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

type Rest = Pick<FinalTransaction, 'transaction' | 'logs' | 'finalBlock' | 'code'> & {
  readonly header: TronHeader
}

async function readRest(
  view: TronView,
  {
    own,
    info,
    wanted,
    pin,
    configured,
    transactionId,
    recordsPayments,
  }: Judging & { readonly info: TronInfo },
  signal: AbortSignal,
): Promise<Rest> {
  const { blockNumber, logs } = info
  const wantsTransaction = wanted.transaction !== 'always' && wanted.transaction(logs)
  const wantsPositions = wanted.positions(logs)
  const [headerBody, pinnedBody, infosBody, transactionBody, code] = await Promise.all([
    askNode(view, solidHeaderRequest(blockNumber), signal),
    configured > 1 ? askNode(view, solidHeaderRequest(pin.height), signal) : undefined,
    wantsPositions ? askNode(view, blockInfosRequest(blockNumber), signal) : undefined,
    wantsTransaction ? askNode(view, transactionRequest(transactionId), signal) : undefined,
    readCodes(view, { accounts: wanted.codeOf(logs, own.transaction), recordsPayments }, signal),
  ])
  const header = requireHeader(headerBody, blockNumber)
  if (header.timestampSeconds !== info.timestampSeconds) throw new MalformedAnswerError('getblock')
  const pinned = configured > 1 ? requireHeader(pinnedBody, pin.height) : undefined
  const transaction = wantsTransaction ? parseTransaction(transactionBody, transactionId) : own.transaction
  const isWanted = wantsTransaction || wanted.transaction === 'always'
  if (isWanted && transaction === undefined) throw new MalformedAnswerError('gettransactionbyid')
  return {
    header,
    finalBlock: pinned && { number: pinned.number, hash: pinned.hash },
    transaction,
    logs: wantsPositions ? positionsIn(infosBody, info, transactionId) : logs,
    code,
  }
}

/** As the node knows them now: a contract of this family stays one. */
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

/** The logs under their positions in the block; both readings of the info must show the same ones. */
function positionsIn(body: unknown, info: TronInfo, transactionId: string): readonly EvmLog[] {
  const { blockNumber } = info
  const inBlock = parseBlockInfos(body, { transactionId, blockNumber })
  if (comparisonText(inBlock.info.logs) !== comparisonText(info.logs)) {
    throw new MalformedAnswerError('gettransactioninfobyblocknum')
  }
  return info.logs.map((log) => ({ ...log, logIndex: log.logIndex + inBlock.logsBefore }))
}
