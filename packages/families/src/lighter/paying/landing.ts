import { bytesToHex, hexToBytes, maxBigint, utf8Bytes } from '@causeway/core'
import type { RpcAnswer, RpcCall } from '@causeway/rpc'
import { type Electorate, MalformedAnswerError, reachedBy } from '@causeway/rpc'
import { z } from 'zod'
import type { Landing, SentTransaction } from '../../shared/payingChain.ts'
import { readByVoice, type Votes } from '../../shared/paymentVotes.ts'
import { parseNextNonce, parseOutcome, parseSeconds, statusCall, transactionCall } from '../quoting/calls.ts'

/** The stored form of a signed transfer: its JSON text in hex. */
export const encodeRaw = (content: object): SentTransaction['raw'] =>
  bytesToHex(utf8Bytes(JSON.stringify(content)))

export const decodeRaw = (raw: SentTransaction['raw']): string => new TextDecoder().decode(hexToBytes(raw))

/** One endpoint's answers to `landingCalls`; `executed` has one member per transaction. */
type LandingAnswer = {
  /** Next nonce of the wallet's key. */
  readonly nextNonce: bigint
  readonly timeMs: bigint
  readonly executed: readonly boolean[]
}

export const landingCalls = (
  nonceCall: RpcCall,
  transactions: readonly SentTransaction[],
): readonly RpcCall[] => [nonceCall, statusCall, ...transactions.map(({ hash }) => transactionCall(hash))]

/**
 * Outcome of transfers of one payment. Each endpoint is asked for the next nonce first, so that a transfer which it
 * then does not show was not executed before that nonce. A transfer whose nonce is spent by another, or whose time is
 * over, can no longer be executed. If all are so, the height is beyond every `lastValidHeight` at once.
 */
export function decideLanding(
  votes: Votes,
  transactions: readonly SentTransaction[],
  { threshold }: Electorate,
): Landing {
  const landingAnswers = readByVoice(
    votes,
    ([nonce, status, ...answers]): LandingAnswer => ({
      nextNonce: parseNextNonce(nonce),
      timeMs: parseSeconds(status) * 1_000n,
      executed: transactions.map((transaction, index) => isExecuted(answers[index], transaction)),
    }),
  )
  for (const [index, { hash }] of transactions.entries()) {
    const supporting = landingAnswers.filter(({ executed }) => executed[index] === true)
    if (supporting.length >= threshold) return { kind: 'landed', hash, succeeded: true, isFinal: true }
  }
  const showingNone = landingAnswers.filter(({ executed }) => !executed.includes(true))
  if (showingNone.length < threshold) return { kind: 'unknown' }
  const reached = (memberOf: (answer: LandingAnswer) => bigint) =>
    reachedBy(threshold, showingNone.map(memberOf))
  const nextNonce = reached((answer) => answer.nextNonce)
  const timeMs = reached((answer) => answer.timeMs)
  const mayStillLand = transactions.some(
    ({ raw, lastValidHeight }) => nonceOf(raw) >= nextNonce && lastValidHeight >= timeMs,
  )
  const lastHeight = transactions.map(({ lastValidHeight }) => lastValidHeight).reduce(maxBigint, 0n)
  return { kind: 'none', finalHeight: mayStillLand ? timeMs : maxBigint(timeMs, lastHeight + 1n) }
}

/** Compares the memo too: an id does not cover it, so a transfer with the same id may be another payment. */
function isExecuted(answer: RpcAnswer | undefined, { hash, raw }: SentTransaction): boolean {
  const transactionOutcome = parseOutcome(answer, hash)
  return (
    transactionOutcome?.outcome === 'executed' &&
    memoOf(transactionOutcome.content) === memoOf(decodeRaw(raw))
  )
}

/** The members of a transfer's content that are needed here. */
const contentSchema = z.looseObject({
  Memo: z.array(z.number().int()),
  Nonce: z.number().int().min(0),
})

/** @throws MalformedAnswerError, for a text that is no JSON too */
function contentOf(text: string): z.infer<typeof contentSchema> {
  try {
    const { data } = contentSchema.safeParse(JSON.parse(text))
    if (data !== undefined) return data
  } catch {}
  throw new MalformedAnswerError('tx info')
}

const memoOf = (text: string): string => contentOf(text).Memo.join()
const nonceOf = (raw: SentTransaction['raw']): bigint => BigInt(contentOf(decodeRaw(raw)).Nonce)
