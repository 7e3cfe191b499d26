import type { Hex } from '@causeway/core'
import type { ChainQuestion, EndpointView, RpcAnswer, RpcCall, Sighting } from '@causeway/rpc'
import { MalformedAnswerError, parseList, parseRecord, resultOf } from '@causeway/rpc'
import {
  codeCall,
  type EvmLog,
  type EvmTransaction,
  headerCall,
  parseCode,
  parseHeader,
  parseLog,
  parseMinedTransaction,
  transactionCall,
} from './answers.ts'
import { addressTopic, paidTopic, transferTopic } from './events.ts'
import {
  type FinalHeight,
  type Heads,
  headsOf,
  isTooYoung,
  pinFinalHeight,
  secondsToFinality,
} from './finality.ts'
import { headCalls, parseHeads } from './headRound.ts'
import type { AccountCode, PaymentTerms } from './payments/paidTransaction.ts'
import { readRecordedCall } from './payments/recordedCall.ts'
import {
  accountCode,
  type ExecutionReading,
  type FinalTransaction,
  transactionKey,
} from './readFinalTransaction.ts'

/** Parameters of one reading; `wanted` has the terms of the order, by which the logs of its payment are found. */
type LargeReading = Omit<
  ExecutionReading<Pick<PaymentTerms, 'side' | 'targets' | 'nativeCurrency'>>,
  'logsMax'
>

/** `transaction`: undefined if the endpoint has it in no block. */
type FirstRound = { readonly heads: Heads; readonly transaction: EvmTransaction | undefined }

/**
 * The question for a payment whose receipt is too long. Each endpoint is asked for its heads and the transaction; then
 * for the few logs of the transaction's block that prove a record or a plain transfer of a token. Sender and id are
 * indexed topics, so the filters find only logs of this sender, and a log of the transaction shows that it succeeded.
 * The facts have no other logs, and no payee's code: a plain transfer of native coin has no long receipt.
 * @source rule P-49
 */
export function largePaymentQuestion(
  reading: LargeReading,
): Omit<ChainQuestion<FirstRound, FinalHeight, FinalTransaction>, 'signal'> {
  const { transactionId, rule, threshold } = reading
  return {
    transactionId,
    async first(view, signal) {
      const [answer, ...heads] = await view.ask([transactionCall(transactionId), ...headCalls(rule)], signal)
      return {
        heads: parseHeads(rule, heads),
        transaction: parseMinedTransaction(answer, transactionId),
      }
    },
    pin: (views) => pinFinalHeight(rule, threshold, views.map(headsOf)),
    second: (view, own, pin, signal) => judge(view, { ...reading, own, pin }, signal),
    key: transactionKey,
  }
}

/** `own`: the endpoint's first round; `pin`: the height that was agreed from all first rounds. */
type JudgeInput = LargeReading & { readonly own: FirstRound; readonly pin: FinalHeight }

/** One endpoint's vote, from both rounds. */
async function judge(
  view: EndpointView,
  judging: JudgeInput,
  signal: AbortSignal,
): Promise<Sighting<FinalTransaction>> {
  const { own, pin, rule, recordsPayments } = judging
  const { transaction } = own
  if (transaction === undefined) return { kind: 'refused', reason: 'missing' }
  const { blockHash, blockNumber: number } = transaction
  if (number > pin.height) return { kind: 'not_final', waitSeconds: secondsToFinality(rule, pin, { number }) }

  const { fillContract, finalBlock, timestampSeconds, logAnswers, codeAnswers } = await readSecondRound(
    view,
    { ...judging, transaction },
    signal,
  )
  if (isTooYoung(rule, pin, timestampSeconds))
    return { kind: 'not_final', waitSeconds: secondsToFinality(rule, pin, { number, timestampSeconds }) }
  const transactionId = idAsHex(judging.transactionId)
  const logs = logAnswers.flatMap((answer) => parseLogsOf(answer, { transactionId, blockHash }))
  const code = new Map<Hex, AccountCode>()
  if (fillContract !== undefined) {
    const [atBlock, atFinalBlock] = codeAnswers
    code.set(fillContract, accountCode(parseCode(atBlock, atFinalBlock), recordsPayments))
  }
  return {
    kind: 'final',
    facts: {
      transactionId,
      blockHash,
      blockNumber: number,
      blockTimestampSeconds: timestampSeconds,
      finalBlock,
      transaction,
      code,
      logs: inOrder(logs),
    },
  }
}

type SecondRound = Pick<FinalTransaction, 'finalBlock'> & {
  /** The order's fill contract, if the transaction calls it. */
  readonly fillContract: Hex | undefined
  readonly timestampSeconds: bigint
  /** One answer for each of `filtersOf`, in that order. */
  readonly logAnswers: readonly RpcAnswer[]
  /** Code of `fillContract` at the transaction's block and at the final block; empty without one. */
  readonly codeAnswers: readonly RpcAnswer[]
}

async function readSecondRound(
  view: EndpointView,
  { transaction, pin, configured, wanted }: JudgeInput & { readonly transaction: EvmTransaction },
  signal: AbortSignal,
): Promise<SecondRound> {
  const { blockHash, blockNumber, to } = transaction
  const fillContract = to === wanted.side.chosen ? to : undefined
  const logCalls = filtersOf(transaction, wanted).map((filter) => logsCall(blockHash, filter))
  const codeCalls =
    fillContract === undefined
      ? []
      : [codeCall(fillContract, blockNumber), codeCall(fillContract, pin.height)]
  const answers = await view.ask(
    [
      ...logCalls,
      ...codeCalls,
      // Its hash is part of the vote, so that only endpoints of one branch agree.
      ...(configured > 1 ? [headerCall(pin.height)] : []),
      // The header is read last, so that it shows the chain on which the endpoint was after the other answers.
      headerCall(blockNumber),
    ],
    signal,
  )
  const pinned = configured > 1 ? parseHeader(answers.at(-2), pin.height) : undefined
  const { hash, timestampSeconds } = parseHeader(answers.at(-1), blockNumber)
  if (hash !== blockHash) throw new MalformedAnswerError('eth_getBlockByNumber')
  return {
    fillContract,
    timestampSeconds,
    finalBlock: pinned && { number: pinned.number, hash: pinned.hash },
    logAnswers: answers.slice(0, logCalls.length),
    codeAnswers: answers.slice(logCalls.length, logCalls.length + codeCalls.length),
  }
}

// CAST: a canonical id of this family is hex of 32 bytes.
const idAsHex = (transactionId: string): Hex => transactionId as Hex

type LogFilter = { readonly address: Hex; readonly topics: readonly string[] }

/**
 * Filters for the sender's record in the order's fill contract, if the transaction calls that with readable arguments,
 * and for the sender's transfers of tokens to payees.
 */
function filtersOf(
  { from, to, input }: EvmTransaction,
  { side, targets, nativeCurrency }: LargeReading['wanted'],
): readonly LogFilter[] {
  const call = to !== undefined && to === side.chosen ? readRecordedCall(input) : undefined
  const records =
    to === undefined || call === undefined
      ? []
      : [{ address: to, topics: [paidTopic, addressTopic(from), call.id] }]
  const tokens = targets.filter(({ currency }) => currency !== nativeCurrency)
  return [
    ...records,
    ...tokens.map(({ currency, recipient }) => ({
      // CAST: currencies of this family are addresses, in the spelling of logs.
      address: currency as Hex,
      topics: [transferTopic, addressTopic(from), addressTopic(recipient)],
    })),
  ]
}

const logsCall = (blockHash: Hex, filter: LogFilter): RpcCall => ({
  method: 'eth_getLogs',
  params: [{ blockHash, ...filter }],
})

/** Logs of the transaction among those that one filter found. @throws MalformedAnswerError */
function parseLogsOf(
  answer: RpcAnswer,
  { transactionId, blockHash }: { readonly transactionId: Hex; readonly blockHash: Hex },
): readonly EvmLog[] {
  const requestName = 'eth_getLogs'
  return parseList(resultOf(answer, requestName), requestName).flatMap((entry) => {
    const log = parseRecord(entry, requestName)
    if (log['blockHash'] !== blockHash || log['removed'] === true) throw new MalformedAnswerError(requestName)
    return log['transactionHash'] === transactionId ? [parseLog(log, requestName)] : []
  })
}

/** Logs in ascending order, without duplicates: targets may name one payee twice. */
function inOrder(logs: readonly EvmLog[]): readonly EvmLog[] {
  const byIndex = new Map(logs.map((log) => [log.logIndex, log]))
  return [...byIndex.values()].sort((one, other) => (one.logIndex < other.logIndex ? -1 : 1))
}
