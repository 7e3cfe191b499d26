import { bytesToHex, hexToBytes, maxBigint, utf8Bytes } from '@causeway/core'
import type { RpcAnswer, RpcCall } from '@causeway/rpc'
import { type Electorate, MalformedAnswerError, reachedBy } from '@causeway/rpc'
import { z } from 'zod'
import type { Landing, SentTransaction } from '../../shared/payingChain.ts'
import { readByVoice, type Votes } from '../../shared/paymentVotes.ts'
import { parseNextNonce, parseOutcome, parseSeconds, statusCall, transactionCall } from '../quoting/calls.ts'

/** Signed content as it is stored and sent: JSON text in hex. */
export const rawOf = (content: object): SentTransaction['raw'] =>
  bytesToHex(utf8Bytes(JSON.stringify(content)))

export const textOf = (raw: SentTransaction['raw']): string => new TextDecoder().decode(hexToBytes(raw))

/** Answer of one endpoint; `executed` has one member per transaction. */
type LandingAnswer = {
  readonly next: bigint
  readonly timeMs: bigint
  readonly executed: readonly boolean[]
}

export const landingCalls = (
  nonceCall: RpcCall,
  transactions: readonly SentTransaction[],
): readonly RpcCall[] => [nonceCall, statusCall, ...transactions.map(({ hash }) => transactionCall(hash))]

/**
 * The next nonce is asked for first: what is not there when the rest is told was not there while that nonce was the next.
 * A transfer can be executed no more when its nonce is spent, or its time is over.
 */
export function decideLanding(
  votes: Votes,
  transactions: readonly SentTransaction[],
  { threshold }: Electorate,
): Landing {
  const landingAnswers = readByVoice(
    votes,
    ([nonce, status, ...answers]): LandingAnswer => ({
      next: parseNextNonce(nonce),
      timeMs: parseSeconds(status) * 1_000n,
      executed: transactions.map((one, index) => isExecuted(answers[index], one)),
    }),
  )
  for (const [index, { hash }] of transactions.entries()) {
    const by = landingAnswers.filter(({ executed }) => executed[index] === true)
    if (by.length >= threshold) return { kind: 'landed', hash, succeeded: true, isFinal: true }
  }
  const without = landingAnswers.filter(({ executed }) => !executed.includes(true))
  if (without.length < threshold) return { kind: 'unknown' }
  const reached = (of: (one: LandingAnswer) => bigint) => reachedBy(threshold, without.map(of))
  const [next, timeMs] = [reached((one) => one.next), reached((one) => one.timeMs)]
  const lives = transactions.filter(
    ({ raw, lastValidHeight }) => nonceOf(raw) >= next && lastValidHeight >= timeMs,
  )
  const last = transactions.map((one) => one.lastValidHeight).reduce(maxBigint, 0n)
  return { kind: 'none', finalHeight: lives.length > 0 || timeMs > last ? timeMs : last + 1n }
}

/** Ids do not cover the memo, so that what is executed under one may be another payment. */
function isExecuted(answer: RpcAnswer | undefined, { hash, raw }: SentTransaction): boolean {
  const transactionOutcome = parseOutcome(answer, hash)
  return (
    transactionOutcome?.outcome === 'executed' && memoOf(transactionOutcome.content) === memoOf(textOf(raw))
  )
}

const contentSchema = z.looseObject({
  Memo: z.array(z.number().int()),
  Nonce: z.number().int().min(0),
})

/** @throws MalformedAnswerError */
function contentOf(text: string): z.infer<typeof contentSchema> {
  try {
    const { data } = contentSchema.safeParse(JSON.parse(text))
    if (data !== undefined) return data
  } catch {}
  throw new MalformedAnswerError('tx info')
}

const memoOf = (text: string): string => contentOf(text).Memo.join()
const nonceOf = (raw: SentTransaction['raw']): bigint => BigInt(contentOf(textOf(raw)).Nonce)
