import { UpstreamUnavailableError } from '@causeway/core'
import type { JsonRpcClient, RpcAnswer, RpcCall, RpcOptions } from '@causeway/rpc'
import { countVoices, disagreement, type Electorate, tally, type Verdict, type Vote } from '@causeway/rpc'
import { comparableInBatch } from './comparableAnswer.ts'

/** The endpoints of one chain as agreement needs them: `poll` asks each by itself and collects their votes. */
export type PollingClient = Pick<JsonRpcClient, 'chainId' | 'electorate' | 'poll'>

/** Agreement of endpoints on one read, for metrics; made after every endpoint has answered. Counts are of hosts. */
export type AgreementReport = {
  /** Hosts that gave the agreed answer; 0 without agreement. */
  readonly agreed: number
  readonly required: number
  readonly configured: number
  /** Aliases of endpoints that said something else about the same block. */
  readonly dissenting: readonly string[]
}

export type AgreedReadOptions = RpcOptions & {
  readonly onReport?: ((report: AgreementReport) => void) | undefined
}

/** Outcome of `agreeOnEach`. */
export type EachAgreed = {
  /** By call. */
  readonly verdicts: readonly Verdict<RpcAnswer>[]
  /** By call, the votes of all endpoints that had answered by then. */
  readonly votes: readonly (readonly Vote<RpcAnswer>[])[]
}

/**
 * Asks all endpoints for data that cannot change, such as the state at a block named by hash, and counts the votes on
 * each call by itself: an endpoint's wrong answer to one call does not discard its other answers. Logs between heights
 * are compared together with the blocks at both ends, see `comparableInBatch`. Ends when no outstanding vote can change
 * any verdict.
 * @throws UpstreamUnavailableError when the caller gives up
 */
export function agreeOnEach(
  client: PollingClient,
  calls: readonly RpcCall[],
  options: AgreedReadOptions = {},
): Promise<EachAgreed> {
  const { onReport, ...limits } = options
  const tallyEach = createCallTally(calls, client.electorate)
  return client.poll(calls, {
    ...limits,
    decide(votes, isLast) {
      const each = tallyEach(votes)
      return isLast || each.verdicts.every(({ status }) => status !== 'open') ? each : undefined
    },
    ...(onReport !== undefined && {
      onHeard: (votes) => onReport(reportOf(tallyEach(votes), client.electorate)),
    }),
  })
}

/** One endpoint's answers to all calls. */
type BatchVote = Vote<readonly RpcAnswer[]>

/** Counts the votes on each call. `poll` only appends votes to its list, so each is parsed and compared once. */
function createCallTally(
  calls: readonly RpcCall[],
  electorate: Electorate,
): (batchVotes: readonly BatchVote[]) => EachAgreed {
  const comparisonKeys = new WeakMap<RpcAnswer, string>()
  /** By endpoint heard so far, its votes by call. */
  const heard: (readonly Vote<RpcAnswer>[])[] = []
  return (batchVotes) => {
    for (const batchVote of batchVotes.slice(heard.length))
      heard.push(votesByCall(calls, batchVote, comparisonKeys))
    const votes = calls.map((_, index) => heard.flatMap((votesOfEndpoint) => votesOfEndpoint[index] ?? []))
    // Every answer that is a vote has a key.
    const verdicts = votes.map((votesOnCall) =>
      tally(votesOnCall, electorate, (answer) => comparisonKeys.get(answer) ?? ''),
    )
    return { verdicts, votes }
  }
}

/** One endpoint's vote on each call: silence where its answer is no vote, see `comparableAnswer`. */
function votesByCall(
  calls: readonly RpcCall[],
  { alias, voice, value: answers }: BatchVote,
  comparisonKeys: WeakMap<RpcAnswer, string>,
): readonly Vote<RpcAnswer>[] {
  return calls.map((_, index) => {
    const answer = answers?.[index]
    const key = answers && comparableInBatch(calls, answers, index)
    if (answer === undefined || key === undefined) return { alias, voice, value: undefined }
    comparisonKeys.set(answer, key)
    return { alias, voice, value: answer }
  })
}

/** The answer that endpoints agree on. @throws UpstreamDisagreementError, UpstreamUnavailableError if there is none */
export function answerOfVerdict(chainId: string, verdict: Verdict<RpcAnswer> | undefined): RpcAnswer {
  if (verdict?.status === 'agreed') return verdict.value
  if (verdict?.status === 'disagreed') throw disagreement(chainId, verdict.groups)
  throw tooFewKnow(chainId)
}

export function tooFewKnow(chainId: string): UpstreamUnavailableError {
  return new UpstreamUnavailableError(`Chain ${chainId} cannot be read at the moment.`, {
    code: 'RPC_HTTP_ERROR',
    data: { chainId },
    cause: new Error('too few endpoints know what was asked'),
  })
}

/**
 * One report for all calls: hosts of the call with the least agreement (0 once a call has none), and
 * endpoints that dissented on any call that is agreed.
 */
function reportOf({ verdicts, votes }: EachAgreed, { voters, threshold }: Electorate): AgreementReport {
  const dissenting = new Set<string>()
  let agreed = countVoices(voters)
  verdicts.forEach((verdict, index) => {
    if (verdict.status !== 'agreed') agreed = 0
    else {
      agreed = Math.min(agreed, verdict.voices.size)
      for (const { alias, value } of votes[index] ?? []) {
        if (value !== undefined && !verdict.aliases.includes(alias)) dissenting.add(alias)
      }
    }
  })
  return { agreed, required: threshold, configured: countVoices(voters), dissenting: [...dissenting] }
}
