import type { RpcAnswer } from '../../rpc/jsonRpc.ts'
import { MalformedAnswerError } from '../../rpc/malformedAnswer.ts'
import { tally, type Verdict, type Vote } from '../../rpc/tally.ts'
import { type ContractAnswer, decodeAggregate3 } from '../contracts/multicall.ts'
import { agreedAnswer, type PollingClient } from './agreedReads.ts'

/** What a contract is taken to have said when too few endpoints say the same: nothing. */
const disputed: ContractAnswer = { success: false, returnData: '0x' }

/**
 * What contracts returned in one multicall, by agreement. Where endpoints contradict each other about the
 * whole, every member is counted by itself, so that a disputed one takes nothing from the others.
 * @param said verdict and votes on the multicall
 * @throws UpstreamUnavailableError, UpstreamDisagreementError, MalformedAnswerError
 */
export function agreedContracts(
  { chainId, electorate }: PollingClient,
  said: { readonly verdict: Verdict<RpcAnswer> | undefined; readonly votes: readonly Vote<RpcAnswer>[] },
  count: number,
): readonly ContractAnswer[] {
  const { verdict, votes } = said
  if (verdict?.status !== 'disagreed') {
    const answer = agreedAnswer(chainId, verdict)
    return decodeAggregate3(answer.ok ? answer.result : undefined, count)
  }
  const decoded = votes.map(({ alias, voice, value }) => ({ alias, voice, value: decode(value, count) }))
  return Array.from({ length: count }, (_, index) => {
    const member = tally(
      decoded.map(({ value, ...voter }) => ({ ...voter, value: value?.[index] })),
      electorate,
      ({ success, returnData }) => `${success} ${returnData}`,
    )
    return member.status === 'agreed' ? member.value : disputed
  })
}

function decode(answer: RpcAnswer | undefined, count: number): readonly ContractAnswer[] | undefined {
  if (answer?.ok !== true) return undefined
  try {
    return decodeAggregate3(answer.result, count)
  } catch (error) {
    if (error instanceof MalformedAnswerError) return undefined
    throw error
  }
}
