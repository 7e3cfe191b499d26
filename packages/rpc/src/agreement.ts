import { UpstreamDisagreementError } from '@causeway/core'
import { comparisonText } from './comparisonText.ts'
import { type Endpoint, noteOutvoted } from './endpoint.ts'
import type { Agreement, PollOptions, RpcAnswer, RpcCall } from './jsonRpc.ts'
import { MalformedAnswerError } from './malformedAnswer.ts'
import { NodeError } from './nodeError.ts'
import type { Turn } from './requestPace.ts'
import { countVoices, tally, type Vote } from './tally.ts'
import { toUpstreamError } from './upstreamError.ts'

/** Arguments of `poll`: options of the client's `poll`, with its endpoints and a deadline. */
export type PollArgs<Outcome> = Omit<PollOptions<Outcome>, 'timeoutMs' | 'signal' | 'line'> & {
  readonly chainId: string
  readonly endpoints: readonly Endpoint[]
  readonly threshold: number
  readonly calls: readonly RpcCall[]
} & Turn

/**
 * Asks all endpoints at once and resolves with the first outcome that `decide` finds in their votes. It is
 * asked after each vote, and once more `patienceMs` after enough voices have answered. Without an outcome the
 * poll goes on, and fails when all have voted. Calls still in flight at an outcome are aborted, unless
 * `onHeard` wants all votes.
 * @throws UpstreamUnavailableError; an error of `decide`
 */
export function poll<Outcome>(args: PollArgs<Outcome>): Promise<Outcome> {
  const { chainId, endpoints, calls, threshold, deadlineMs, signal, line, decide, patienceMs, onHeard } = args
  return new Promise((resolve, reject) => {
    const controller = new AbortController()
    const cancel = () => controller.abort()
    signal?.addEventListener('abort', cancel, { once: true })
    if (signal?.aborted) cancel()
    const votes: Vote<readonly RpcAnswer[]>[] = []
    const failures: unknown[] = []
    let timer: NodeJS.Timeout | undefined
    let isSettled = false

    const settle = (finish: () => void) => {
      isSettled = true
      clearTimeout(timer)
      signal?.removeEventListener('abort', cancel)
      finish()
      // Aborting takes longer than reading an answer, so it is skipped if no call is in flight.
      if (onHeard === undefined && votes.length < endpoints.length) controller.abort()
    }
    const tryToSettle = (isLast: boolean) => {
      if (isSettled) return
      try {
        const outcome = decide(votes, isLast)
        if (outcome !== undefined) return settle(() => resolve(outcome))
        // Without an outcome, even late votes are still waited for.
        if (votes.length < endpoints.length) return
        settle(() => reject(toUpstreamError(chainId, failures, shortestPauseMs(endpoints))))
      } catch (error) {
        settle(() => reject(error))
      }
    }
    const countVote = (vote: Vote<readonly RpcAnswer[]>) => {
      votes.push(vote)
      const isLast = votes.length === endpoints.length
      tryToSettle(isLast)
      if (isLast) onHeard?.(votes)
      if (isSettled || patienceMs === undefined || timer !== undefined) return
      if (countVoices(votes.filter(({ value }) => value !== undefined)) >= threshold)
        // Enough have answered: after `patienceMs` the votes so far are decided on as if all were in.
        timer = setTimeout(() => tryToSettle(true), patienceMs)
    }
    for (const endpoint of endpoints) {
      const { alias, voice } = endpoint
      // A paused endpoint fails at once and counts as silent: its voice still counts for the threshold.
      endpoint.send(calls, { deadlineMs, signal: controller.signal, line }).then(
        (value) => countVote({ alias, voice, value }),
        (failure: unknown) => {
          failures.push(failure)
          countVote({ alias, voice, value: undefined })
        },
      )
    }
  })
}

/**
 * The answers that enough endpoints give alike, as soon as they have given them.
 * @param project the part of the answers that must be equal; default everything, see `comparable`. Answers for which it
 * throws a MalformedAnswerError are alike, and so are those for which it throws a NodeError of one code.
 * @throws UpstreamDisagreementError, UpstreamUnavailableError
 * @source rule F-66
 */
export function seekAgreement(
  args: Omit<PollArgs<Agreement>, 'decide'> & {
    readonly project?: ((answers: readonly RpcAnswer[]) => unknown) | undefined
  },
): Promise<Agreement> {
  const { project = comparable, ...polling } = args
  const electorate = { voters: args.endpoints, threshold: args.threshold }
  return poll<Agreement>({
    decide(votes) {
      const verdict = tally(votes, electorate, (answers) => textOf(() => project(answers)))
      if (verdict.status === 'disagreed') throw disagreement(args.chainId, verdict.groups)
      if (verdict.status !== 'agreed') return undefined
      noteOutvoted(args.endpoints, dissentersOf(votes, verdict.aliases))
      return { answers: verdict.value, agreeingEndpoints: verdict.aliases }
    },
    ...polling,
  })
}

/** Text of what was read; of an answer that cannot be read, one that no read value has. */
function textOf(read: () => unknown): string {
  try {
    return comparisonText(read())
  } catch (error) {
    if (error instanceof NodeError) return `refused ${error.code}`
    if (error instanceof MalformedAnswerError) return 'unreadable'
    throw error
  }
}

/** Endpoints whose answer differs from the agreed one. */
function dissentersOf(votes: readonly Vote<unknown>[], agreeing: readonly string[]): readonly string[] {
  return votes.flatMap(({ alias, value }) => (value === undefined || agreeing.includes(alias) ? [] : [alias]))
}

/** Equal answers have equal results, or errors of equal code and data: nodes word messages differently. */
function comparable(answers: readonly RpcAnswer[]): unknown {
  return answers.map((answer) =>
    answer.ok ? { result: answer.result } : { error: answer.code, data: answer.data ?? null },
  )
}

/** Milliseconds until the first of the endpoints may be asked again. */
export function shortestPauseMs(endpoints: readonly Endpoint[]): number {
  return Math.min(...endpoints.map((endpoint) => endpoint.pauseMs()))
}

export function disagreement(chainId: string, groups: number): UpstreamDisagreementError {
  return new UpstreamDisagreementError(`The endpoints of chain ${chainId} contradict each other.`, {
    data: { chainId, differentAnswers: groups },
  })
}
