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
  type FinalPin,
  type Heads,
  headsOf,
  isTooYoung,
  pinFinalHeight,
  secondsToFinality,
} from './finality.ts'
import type { AccountCode, PaymentTerms } from './payments/paidTransaction.ts'
import { readRecordedCall } from './payments/recordedCall.ts'
import {
  accountCode,
  type ExecutionReading,
  type FinalTransaction,
  headCalls,
  parseHeads,
  transactionKey,
} from './readFinalTransaction.ts'

type LargeReading = Omit<
  ExecutionReading<Pick<PaymentTerms, 'side' | 'targets' | 'nativeCurrency'>>,
  'logsMax'
>

type OwnView = { readonly heads: Heads; readonly transaction: EvmTransaction | undefined }

/**
 * A payment whose receipt is above the bound, by its transaction and the few logs of its block that a record or a plain
 * transfer rests on. Sender and id are indexed, so nobody else can write such logs, and that there is one shows that the
 * transaction succeeded. The logs of the facts are those alone.
 * @source rule P-49
 */
export function largePaymentQuestion(
  reading: LargeReading,
): Omit<ChainQuestion<OwnView, FinalPin, FinalTransaction>, 'signal'> {
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

type Judging = LargeReading & { readonly own: OwnView; readonly pin: FinalPin }

async function judge(
  view: EndpointView,
  judging: Judging,
  signal: AbortSignal,
): Promise<Sighting<FinalTransaction>> {
  const { own, pin, rule, configured, recordsPayments } = judging
  const { transaction } = own
  if (transaction === undefined) return { kind: 'refused', reason: 'missing' }
  const { blockHash, blockNumber: number } = transaction
  if (number > pin.height) return { kind: 'not_final', waitSeconds: secondsToFinality(rule, pin, { number }) }
  const filters = filtersOf(transaction, judging.wanted)
  const called = transaction.to === judging.wanted.side.chosen ? transaction.to : undefined
  const calls = [
    ...filters.map((filter) => logsCall(blockHash, filter)),
    ...(called === undefined ? [] : [codeCall(called, number), codeCall(called, pin.height)]),
    ...(configured > 1 ? [headerCall(pin.height)] : []),
    // Last: what was read before belongs to the chain that this header is on.
    headerCall(number),
  ]
  const answers = await view.ask(calls, signal)
  const pinned = configured > 1 ? parseHeader(answers.at(-2), pin.height) : undefined
  const header = parseHeader(answers.at(-1), number)
  if (header.hash !== blockHash) throw new MalformedAnswerError('eth_getBlockByNumber')
  const { timestampSeconds } = header
  if (isTooYoung(rule, pin, timestampSeconds))
    return { kind: 'not_final', waitSeconds: secondsToFinality(rule, pin, { number, timestampSeconds }) }
  const transactionId = parsedId(judging.transactionId)
  const logs = filters.flatMap((_, index) => parseLogsOf(answers[index], { transactionId, blockHash }))
  const code = new Map<Hex, AccountCode>()
  if (called !== undefined) {
    const [atBlock, atFinalBlock] = answers.slice(filters.length)
    code.set(called, accountCode(parseCode(atBlock, atFinalBlock), recordsPayments))
  }
  return {
    kind: 'final',
    facts: {
      ...{ transactionId, blockHash, blockNumber: number, blockTimestampSeconds: timestampSeconds },
      ...{ finalBlock: pinned && { number: pinned.number, hash: pinned.hash }, transaction, code },
      logs: inOrder(logs),
    },
  }
}

// CAST: a canonical id of this family is hex of 32 bytes.
const parsedId = (transactionId: string): Hex => transactionId as Hex

type LogFilter = { readonly address: Hex; readonly topics: readonly string[] }

/** The record of the chosen contract for the sender, and what the sender gave payees of each token. */
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

function parseLogsOf(
  answer: RpcAnswer | undefined,
  { transactionId, blockHash }: { readonly transactionId: Hex; readonly blockHash: Hex },
): readonly EvmLog[] {
  const requestName = 'eth_getLogs'
  return parseList(resultOf(answer, requestName), requestName).flatMap((entry) => {
    const log = parseRecord(entry, requestName)
    if (log['blockHash'] !== blockHash || log['removed'] === true) throw new MalformedAnswerError(requestName)
    return log['transactionHash'] === transactionId ? [parseLog(log, requestName)] : []
  })
}

/** Ascending, each once: targets may name one payee twice. */
function inOrder(logs: readonly EvmLog[]): readonly EvmLog[] {
  const byIndex = new Map(logs.map((log) => [log.logIndex, log]))
  return [...byIndex.values()].sort((one, other) => (one.logIndex < other.logIndex ? -1 : 1))
}
