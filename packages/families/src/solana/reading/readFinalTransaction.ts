import type { ChainQuestion, EndpointView, Sighting } from '@causeway/rpc'
import { MalformedAnswerError } from '@causeway/rpc'
import { isKnownStatus, parseBlock } from './answers.ts'
import { seeTransaction } from './readTransaction.ts'
import { blockCall, statusesCall, transactionCall } from './requests.ts'
import type { SolanaTransaction } from './transaction.ts'

/** A transaction in a final block. */
export type FinalTransaction = SolanaTransaction & {
  readonly blockHash: string
  readonly blockTimestampSeconds: bigint
}

export type TransactionReading = {
  readonly transactionId: string
  readonly depository: string
}

/** First answer of one endpoint. */
type FirstAnswer = Awaited<ReturnType<typeof seeTransaction>>

/** Seconds that callers are told to wait: a block is final within a fraction of one. */
const finalityWaitSeconds = 1

/**
 * Asks each endpoint in two rounds. First: the transaction, if it is final. Second: its block, or, without a
 * transaction, whether the node has seen it. No height is pinned, because what is final at one endpoint is final for
 * good. @source rule F-4
 */
export function transactionQuestion(
  reading: TransactionReading,
): Omit<ChainQuestion<FirstAnswer, undefined, FinalTransaction>, 'signal'> {
  return {
    transactionId: reading.transactionId,
    first: (view, signal) => readFirstAnswer(view, reading, signal),
    pin: () => undefined,
    second: (view, own, _pin, signal) => judge(view, reading, own, signal),
  }
}

async function readFirstAnswer(
  view: EndpointView,
  reading: TransactionReading,
  signal: AbortSignal,
): Promise<FirstAnswer> {
  const [answer] = await view.ask([transactionCall(reading.transactionId)], signal)
  return seeTransaction(answer, reading)
}

async function judge(
  view: EndpointView,
  { transactionId }: TransactionReading,
  own: FirstAnswer,
  signal: AbortSignal,
): Promise<Sighting<FinalTransaction>> {
  if (own === 'missing') return judgeMissing(view, transactionId, signal)
  if (typeof own === 'string') return { kind: 'refused', reason: own }
  const [answer] = await view.ask([blockCall(own.slot)], signal)
  const { hash: blockHash, timeSeconds } = parseBlock(answer)
  const blockTimestampSeconds = timeSeconds ?? own.blockTimeSeconds
  // A fact needs a time, to be compared with deadlines.
  if (blockTimestampSeconds === undefined) throw new MalformedAnswerError('getBlock')
  const { blockTimeSeconds = blockTimestampSeconds } = own
  // Block and transaction must name the same time, if both name one.
  if (blockTimeSeconds !== blockTimestampSeconds) throw new MalformedAnswerError('getBlock')
  if (!own.succeeded) return { kind: 'refused', reason: 'reverted' }
  return { kind: 'final', facts: { ...own, blockTimeSeconds, blockHash, blockTimestampSeconds } }
}

async function judgeMissing(
  view: EndpointView,
  transactionId: string,
  signal: AbortSignal,
): Promise<Sighting<FinalTransaction>> {
  const [answer] = await view.ask([statusesCall([transactionId])], signal)
  if (!isKnownStatus(answer)) return { kind: 'refused', reason: 'missing' }
  // It is not final yet, final since the first round, or stored without content: the next reading tells.
  return { kind: 'not_final', waitSeconds: finalityWaitSeconds }
}
