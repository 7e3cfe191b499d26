import { minBigint } from '@causeway/core'
import {
  comparisonText,
  countVoices,
  type JsonRpcClient,
  MalformedAnswerError,
  NodeError,
  type RpcAnswer,
  reachedBy,
  tally,
  type Vote,
} from '@causeway/rpc'
import type { NewestPass, OnMalformed, PassRange, SettlingPass } from '../../shared/settlingChain.ts'
import { blockReading } from './chainReadings.ts'
import { type DepositPlaces, depositPassReading } from './depositReadings.ts'

type BatchVotes = readonly Vote<readonly RpcAnswer[]>[]

/**
 * Asks every endpoint for its newest block and a scan up to it, in one request. The head is the highest block that enough
 * endpoints have reached. The scan is undefined unless enough of them show the same one, which ends at that head.
 * @throws UpstreamUnavailableError if too few endpoints name a newest block
 */
export function askNewestPass(
  client: Pick<JsonRpcClient, 'electorate' | 'poll'>,
  places: DepositPlaces,
  range: Pick<PassRange, 'from' | 'known'>,
  options: { readonly threshold: number; readonly signal: AbortSignal; readonly onMalformed: OnMalformed },
): Promise<NewestPass> {
  const { threshold, signal, onMalformed } = options
  const { voters } = client.electorate
  const reading = depositPassReading(places, { ...range, to: 'latest' })
  // If fewer than half of the endpoints are enough, another group of them may have reached a higher block.
  const mayDecideEarly = 2 * threshold > countVoices(voters)
  const agreedPass = (votes: BatchVotes) => {
    const passes = votes.map(({ value, ...voter }) => ({
      ...voter,
      value: value && unlessUseless(() => reading.parse(value)),
    }))
    const verdict = tally(passes, { voters, threshold }, comparisonText)
    if (verdict.status !== 'agreed') return undefined
    // An endpoint that shows the same block and another list is heard by an ordinary scan.
    const dissents = ({ alias, value }: Vote<SettlingPass>) =>
      value?.last?.hash === verdict.value.last?.hash && !verdict.aliases.includes(alias)
    return passes.some(dissents) ? undefined : verdict.value
  }
  return client.poll<NewestPass>(reading.calls, {
    signal,
    decide(votes, isLast) {
      if (!isLast && !mayDecideEarly) return undefined
      const pass = agreedPass(votes)
      if (pass?.last !== undefined && mayDecideEarly) return { head: pass.last.number, pass }
      if (!isLast) return undefined
      const head = reachedHead(votes, threshold)
      if (head === undefined) return undefined
      return { head, pass: pass?.last?.number === head ? pass : undefined }
    },
    onHeard(votes) {
      for (const { alias, value } of votes) {
        try {
          if (value !== undefined) readHead(value)
        } catch (error) {
          if (error instanceof MalformedAnswerError) onMalformed(alias)
          else if (!(error instanceof NodeError)) throw error
        }
      }
    },
  })
}

/** The highest block that at least `threshold` hosts say they have reached; several URLs of one host count as one. */
function reachedHead(votes: BatchVotes, threshold: number): bigint | undefined {
  const heights = new Map<string, bigint>()
  for (const { voice, value } of votes) {
    const height = value && unlessUseless(() => readHead(value))
    if (height !== undefined) heights.set(voice, minBigint(heights.get(voice) ?? height, height))
  }
  const head = reachedBy(threshold, [...heights.values()])
  return head < 0n ? undefined : head
}

/** Height of the newest block, which is the second thing that `depositPassReading` asks for. */
function readHead([, answer]: readonly RpcAnswer[]): bigint | undefined {
  return blockReading('latest').parse([answer])?.number
}

/** A malformed answer, or a node's own error, counts as no answer. */
function unlessUseless<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof MalformedAnswerError || error instanceof NodeError) return undefined
    throw error
  }
}
