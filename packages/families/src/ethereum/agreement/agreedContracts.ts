import type { RpcAnswer } from '@causeway/rpc'
import { tally, unlessUnreadable, type Verdict, type Vote } from '@causeway/rpc'
import { type ContractAnswer, decodeAggregate3 } from '../contracts/multicall.ts'
import { answerOfVerdict, type PollingClient, tooFewKnow } from './agreedReads.ts'

/** Answer assumed for a contract when too few endpoints agree: a failed call. */
const disputed: ContractAnswer = { success: false, returnData: '0x' }

/** Votes on one `aggregate3` call. Its members are the contract calls that it bundles. */
export type ContractTally = {
  /** Verdict on the whole answer; absent: as if too few endpoints had answered. */
  readonly verdict: Verdict<RpcAnswer> | undefined
  readonly votes: readonly Vote<RpcAnswer>[]
  /**
   * Treatment of a member that silent endpoints could still decide. `wait`: the whole read fails, to be tried again,
   * since an honest endpoint may be a block behind. `refuse`: late endpoints have had their time, so the member counts
   * as a failed call and the others are used.
   */
  readonly undecided: 'wait' | 'refuse'
}

/**
 * Answers of the contracts called in one multicall, by agreement of endpoints. If endpoints disagree about the whole,
 * each member is counted by itself, so that a disputed one does not affect the others.
 * @throws UpstreamUnavailableError, UpstreamDisagreementError, MalformedAnswerError
 */
export function agreedContracts(
  { chainId, electorate }: PollingClient,
  contractTally: ContractTally,
  callCount: number,
): readonly ContractAnswer[] {
  const { verdict, votes, undecided } = contractTally
  if (verdict?.status !== 'disagreed') {
    const answer = answerOfVerdict(chainId, verdict)
    // If the endpoints agree that the whole call failed, `undefined` makes the decoder throw.
    return decodeAggregate3(answer.ok ? answer.result : undefined, callCount)
  }
  const decoded = votes.map(({ alias, voice, value }) => ({ alias, voice, value: decode(value, callCount) }))
  return Array.from({ length: callCount }, (_, index) => {
    // An endpoint without a readable answer is left out: it counts as one that may still decide.
    const memberVotes = decoded.flatMap(({ value, ...voter }) =>
      value?.[index] === undefined ? [] : [{ ...voter, value: value[index] }],
    )
    const memberVerdict = tally(memberVotes, electorate, textOf)
    if (memberVerdict.status === 'agreed') return memberVerdict.value
    if (memberVerdict.status === 'open' && undecided === 'wait') throw tooFewKnow(chainId)
    return disputed
  })
}

const textOf = ({ success, returnData }: ContractAnswer): string => `${success} ${returnData}`

function decode(answer: RpcAnswer | undefined, count: number): readonly ContractAnswer[] | undefined {
  return answer?.ok === true ? unlessUnreadable(() => decodeAggregate3(answer.result, count)) : undefined
}
