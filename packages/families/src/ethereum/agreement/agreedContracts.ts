import type { RpcAnswer } from '@causeway/rpc'
import { MalformedAnswerError, tally, type Verdict, type Vote } from '@causeway/rpc'
import { type ContractAnswer, decodeAggregate3 } from '../contracts/multicall.ts'
import { agreedAnswer, type PollingClient, tooFewKnow } from './agreedReads.ts'

/** Answer assumed for a contract when too few endpoints agree: a failed call. */
const disputed: ContractAnswer = { success: false, returnData: '0x' }

/** Tally of one call, and the answer for a member that silent endpoints could still decide. */
export type ContractTally = {
  readonly verdict: Verdict<RpcAnswer> | undefined
  readonly votes: readonly Vote<RpcAnswer>[]
  /**
   * `wait`: nothing is known yet, since an honest endpoint may be a block behind. `refuse`: it has had the time, and
   * the other members are worth more than this one.
   */
  readonly undecided: 'wait' | 'refuse'
}

/**
 * Returns of contracts in one multicall, by agreement. If endpoints disagree about the whole, each member is counted by
 * itself, so that a disputed one does not affect the others.
 * @throws UpstreamUnavailableError, UpstreamDisagreementError, MalformedAnswerError
 */
export function agreedContracts(
  { chainId, electorate }: PollingClient,
  contractTally: ContractTally,
  count: number,
): readonly ContractAnswer[] {
  const { verdict, votes, undecided } = contractTally
  if (verdict?.status !== 'disagreed') {
    const answer = agreedAnswer(chainId, verdict)
    return decodeAggregate3(answer.ok ? answer.result : undefined, count)
  }
  const decoded = votes.map(({ alias, voice, value }) => ({ alias, voice, value: decode(value, count) }))
  return Array.from({ length: count }, (_, index) => {
    const memberVotes = decoded.flatMap(({ value, ...voter }) =>
      value?.[index] === undefined ? [] : [{ ...voter, value: value[index] }],
    )
    const member = tally(memberVotes, electorate, textOf)
    if (member.status === 'agreed') return member.value
    if (member.status === 'open' && undecided === 'wait') throw tooFewKnow(chainId)
    return disputed
  })
}

const textOf = ({ success, returnData }: ContractAnswer): string => `${success} ${returnData}`

function decode(answer: RpcAnswer | undefined, count: number): readonly ContractAnswer[] | undefined {
  if (answer?.ok !== true) return undefined
  try {
    return decodeAggregate3(answer.result, count)
  } catch (error) {
    if (error instanceof MalformedAnswerError) return undefined
    throw error
  }
}
