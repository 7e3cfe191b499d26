import type { ChainQuestion, EndpointView, Sighting } from '@causeway/rpc'
import { MalformedAnswerError } from '@causeway/rpc'
import { isKnownStatus, parseBlock } from './answers.ts'
import { seeTransaction } from './readTransaction.ts'
import { blockCall, statusCall, transactionCall } from './requests.ts'
import type { SolanaTransaction } from './transaction.ts'

/** A transaction that its cluster has taken for good. */
export type FinalTransaction = SolanaTransaction & {
  readonly blockHash: string
  readonly blockTimestampSeconds: bigint
}

export type TransactionReading = {
  readonly transactionId: string
  readonly depository: string
}

type OwnView = Awaited<ReturnType<typeof seeTransaction>>

/** A block is final a fraction of a second after it was made, and the least that callers can be told is a second. */
const finalityWaitSeconds = 1

/**
 * The two rounds of one endpoint: the transaction, if it is final, then the block that holds it; or, when there
 * is none, whether it is on its way. Nothing is pinned: what is final at one endpoint is final for good. @source rule F-4
 */
export function transactionQuestion(
  reading: TransactionReading,
): Omit<ChainQuestion<OwnView, undefined, FinalTransaction>, 'signal'> {
  return {
    transactionId: reading.transactionId,
    first: (view, signal) => readOwnView(view, reading, signal),
    pin: () => undefined,
    second: (view, own, _pin, signal) => judge(view, reading, own, signal),
  }
}

async function readOwnView(
  view: EndpointView,
  reading: TransactionReading,
  signal: AbortSignal,
): Promise<OwnView> {
  const [answer] = await view.ask([transactionCall(reading.transactionId)], signal)
  return seeTransaction(answer, reading)
}

async function judge(
  view: EndpointView,
  { transactionId }: TransactionReading,
  own: OwnView,
  signal: AbortSignal,
): Promise<Sighting<FinalTransaction>> {
  if (own === 'missing') return judgeMissing(view, transactionId, signal)
  if (typeof own === 'string') return { kind: 'refused', reason: own }
  const [answer] = await view.ask([blockCall(own.slot)], signal)
  const { hash: blockHash, timeSeconds } = parseBlock(answer)
  const blockTimestampSeconds = timeSeconds ?? own.blockTimeSeconds
  // A fact without a time cannot be held against a deadline.
  if (blockTimestampSeconds === undefined) throw new MalformedAnswerError('getBlock')
  const { blockTimeSeconds = blockTimestampSeconds } = own
  if (blockTimeSeconds !== blockTimestampSeconds) throw new MalformedAnswerError('getBlock')
  if (!own.succeeded) return { kind: 'refused', reason: 'reverted' }
  return { kind: 'final', facts: { ...own, blockTimeSeconds, blockHash, blockTimestampSeconds } }
}

async function judgeMissing(
  view: EndpointView,
  transactionId: string,
  signal: AbortSignal,
): Promise<Sighting<FinalTransaction>> {
  const [answer] = await view.ask([statusCall(transactionId)], signal)
  if (!isKnownStatus(answer)) return { kind: 'refused', reason: 'missing' }
  // On its way, final between the two rounds, or kept without its content: the next reading tells.
  return { kind: 'not_final', waitSeconds: finalityWaitSeconds }
}
