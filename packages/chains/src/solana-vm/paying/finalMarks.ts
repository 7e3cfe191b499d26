import { type Hex, paymentMarkerAddress, readPaymentMark } from '@causeway/core'
import type { FinalMark, Landing, PayingHead, PaymentState } from '../../family/payingChain.ts'
import type { RpcAnswer } from '../../rpc/jsonRpc.ts'
import { MalformedAnswerError, unlessUnreadable } from '../../rpc/malformedAnswer.ts'
import { type Electorate, reachedBy, type Vote, valuesByVoice } from '../../rpc/tally.ts'
import { clockAccount, parseAccounts, readClock } from '../answers.ts'
import { accountsCall, finalAccountsCall, finalHeightCall, statusesCall } from '../requests.ts'
import { parseHeight, parseStatuses } from './payingAnswers.ts'

/**
 * What endpoints say of a fill wallet's payments, and what follows from it. They stand at different slots, so no slot
 * is compared: what enough of them say counts, at the latest moment that enough of them have reached with it.
 */

type Votes = readonly Vote<readonly RpcAnswer[]>[]

export const markCalls = (wallet: string, id: Hex) => [
  finalAccountsCall([paymentMarkerAddress(wallet, id), clockAccount]),
]

/** One account and the clock come of one state, so that the moment is that of the mark. */
export function decideMark(votes: Votes, electorate: Electorate): FinalMark | undefined {
  const said = saidByVoice(votes, ([answer]) => {
    const [marker, clock] = parseAccounts(answer, 2)
    const state = readPaymentMark(marker)
    if (state === undefined) throw new MalformedAnswerError('getMultipleAccounts')
    return { state, timeSeconds: readClock(clock) }
  })
  const states: readonly PaymentState[] = ['open', 'paid', 'closed']
  for (const state of states) {
    const times = said.flatMap((one) => (one.state === state ? [one.timeSeconds] : []))
    const reached = reachedBy(electorate.threshold, times)
    if (reached >= 0n) return { state, timestampSeconds: Number(reached) }
  }
  return undefined
}

export const headCalls = () => [finalHeightCall(), accountsCall([clockAccount])]

export function decideHead(votes: Votes, electorate: Electorate): PayingHead | undefined {
  const said = saidByVoice(votes, ([height, clock]) => ({
    height: parseHeight(height),
    timeSeconds: readClock(parseAccounts(clock, 1)[0]),
  }))
  const reached = (of: (one: (typeof said)[number]) => bigint) =>
    reachedBy(electorate.threshold, said.map(of))
  if (said.length < electorate.threshold) return undefined
  return {
    finalHeight: reached(({ height }) => height),
    timeSeconds: Number(reached(({ timeSeconds }) => timeSeconds)),
  }
}

/** The height first: what has not landed when it is told has not landed at that height. */
export const landingCalls = (hashes: readonly string[]) => [finalHeightCall(), statusesCall(hashes)]

export function decideLanding(votes: Votes, hashes: readonly string[], electorate: Electorate): Landing {
  const said = saidByVoice(votes, ([height, statuses]) => ({
    height: parseHeight(height),
    statuses: parseStatuses(statuses, hashes.length),
  }))
  const { threshold } = electorate
  const agree = (of: (one: (typeof said)[number]) => boolean) => said.filter(of).length >= threshold
  for (const [index, hash] of hashes.entries()) {
    for (const succeeded of [true, false]) {
      const isFinal = agree(({ statuses }) => {
        const status = statuses[index]
        return status?.isFinal === true && status.succeeded === succeeded
      })
      if (isFinal) return { kind: 'landed', hash, succeeded, isFinal }
      if (agree(({ statuses }) => statuses[index]?.succeeded === succeeded))
        return { kind: 'landed', hash, succeeded, isFinal }
    }
  }
  const heights = said.flatMap(({ height, statuses }) =>
    statuses.every((status) => status === undefined) ? [height] : [],
  )
  const finalHeight = reachedBy(threshold, heights)
  return finalHeight < 0n ? { kind: 'unknown' } : { kind: 'none', finalHeight }
}

/** What each voice says; an answer that cannot be read is none. */
function saidByVoice<Value>(
  votes: Votes,
  read: (answers: readonly (RpcAnswer | undefined)[]) => Value,
): readonly Value[] {
  return valuesByVoice(
    votes.map(({ value, ...voter }) => ({
      ...voter,
      value: value && unlessUnreadable(() => read(value)),
    })),
  )
}
