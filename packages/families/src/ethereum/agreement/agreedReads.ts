import { UpstreamUnavailableError } from '@causeway/core'
import type { JsonRpcClient, RpcAnswer, RpcCall, RpcOptions } from '@causeway/rpc'
import { countVoices, disagreement, type Electorate, tally, type Verdict, type Vote } from '@causeway/rpc'
import { comparableInBatch } from './comparableAnswer.ts'

/** Client for agreement: the endpoints of one chain, each asked by itself. */
export type PollingClient = Pick<JsonRpcClient, 'chainId' | 'electorate' | 'poll'>

/** Result of the agreement on one value, after every endpoint has answered. Hosts, not URLs. */
export type AgreementReport = {
  readonly agreed: number
  readonly required: number
  readonly configured: number
  /** Aliases of endpoints that said something else about the same block. */
  readonly dissenting: readonly string[]
}

export type AgreedReadOptions = RpcOptions & {
  readonly onReport?: ((report: AgreementReport) => void) | undefined
}

export type EachAgreed = {
  /** By call, none of them open. */
  readonly verdicts: readonly Verdict<RpcAnswer>[]
  /** Votes of the endpoints heard until then, by call. */
  readonly votes: readonly (readonly Vote<RpcAnswer>[])[]
}

/**
 * Asks all endpoints for things that are fixed, such as the state at a block named by hash, and counts
 * each answer by itself: what one endpoint says wrong takes nothing from the rest of what it says. Logs between
 * heights count with the blocks at both ends, as `comparableInBatch` says. Ends
 * when no vote still out can change any verdict.
 * @throws UpstreamUnavailableError when the caller gives up
 */
export function agreeOnEach(
  client: PollingClient,
  calls: readonly RpcCall[],
  options: AgreedReadOptions = {},
): Promise<EachAgreed> {
  const { onReport, ...limits } = options
  const keyed = new WeakMap<RpcAnswer, string>()
  const votesOn = (votes: readonly Vote<readonly RpcAnswer[]>[], index: number): Vote<RpcAnswer>[] => {
    return votes.map(({ alias, voice, value }) => {
      const answer = value?.[index]
      const key = value && comparableInBatch(calls, value, index)
      if (answer === undefined || key === undefined) return { alias, voice, value: undefined }
      keyed.set(answer, key)
      return { alias, voice, value: answer }
    })
  }
  const heard: (readonly Vote<RpcAnswer>[])[] = []
  const count = (votes: readonly Vote<readonly RpcAnswer[]>[]): EachAgreed => {
    // Each vote is projected once, when it comes.
    for (let next = heard.length; next < votes.length; next += 1) {
      heard.push(calls.map((_, index) => votesOn(votes.slice(next, next + 1), index)[0]).filter(isVote))
    }
    const each = calls.map((_, index) => heard.map((vote) => vote[index]).filter(isVote))
    const verdicts = each.map((votes) => tally(votes, client.electorate, (answer) => keyed.get(answer) ?? ''))
    return { verdicts, votes: each }
  }
  return client.poll(calls, {
    ...limits,
    decide(votes, isLast) {
      const each = count(votes)
      return isLast || each.verdicts.every(({ status }) => status !== 'open') ? each : undefined
    },
    ...(onReport !== undefined && {
      onHeard: (votes) => onReport(reportOf(count(votes), client.electorate)),
    }),
  })
}

/** @throws UpstreamDisagreementError, UpstreamUnavailableError */
export function agreedAnswer(chainId: string, verdict: Verdict<RpcAnswer> | undefined): RpcAnswer {
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

/** The least agreed of the calls, and who said something else than what was agreed on any of them. */
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

function isVote<Value>(vote: Vote<Value> | undefined): vote is Vote<Value> {
  return vote !== undefined
}
