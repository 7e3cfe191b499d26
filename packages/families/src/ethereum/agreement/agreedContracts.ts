import type { RpcAnswer } from '@causeway/rpc'
import { MalformedAnswerError, tally, type Verdict, type Vote } from '@causeway/rpc'
import { type ContractAnswer, decodeAggregate3 } from '../contracts/multicall.ts'
import { agreedAnswer, type PollingClient, tooFewKnow } from './agreedReads.ts'

/** What a contract is taken to have said when too few endpoints say the same: nothing. */
const disputed: ContractAnswer = { success: false, returnData: '0x' }

/** What is counted, and what becomes of a member that endpoints which said nothing could still decide. */
export type SaidOfContracts = {
  readonly verdict: Verdict<RpcAnswer> | undefined
  readonly votes: readonly Vote<RpcAnswer>[]
  /**
   * `wait`: nothing is known yet, since an honest endpoint may be a block behind. `refuse`: it has had the time, and
   * the other members are worth more than this one.
   */
  readonly undecided: 'wait' | 'refuse'
}

/**
 * What contracts returned in one multicall, by agreement. Where endpoints contradict each other about the
 * whole, every member is counted by itself, so that a disputed one takes nothing from the others.
 * @throws UpstreamUnavailableError, UpstreamDisagreementError, MalformedAnswerError
 */
export function agreedContracts(
  { chainId, electorate }: PollingClient,
  said: SaidOfContracts,
  count: number,
): readonly ContractAnswer[] {
  const { verdict, votes, undecided } = said
  if (verdict?.status !== 'disagreed') {
    const answer = agreedAnswer(chainId, verdict)
    return decodeAggregate3(answer.ok ? answer.result : undefined, count)
  }
  const decoded = votes.map(({ alias, voice, value }) => ({ alias, voice, value: decode(value, count) }))
  return Array.from({ length: count }, (_, index) => {
    const told = decoded.flatMap(({ value, ...voter }) =>
      value?.[index] === undefined ? [] : [{ ...voter, value: value[index] }],
    )
    const member = tally(told, electorate, textOf)
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
