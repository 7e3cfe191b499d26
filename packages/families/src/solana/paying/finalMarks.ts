import type { Hex } from '@causeway/core'
import type { Electorate } from '@causeway/rpc'
import { MalformedAnswerError } from '@causeway/rpc'
import type { FinalMark, Landing, PayingHead, PaymentState } from '../../shared/payingChain.ts'
import {
  agreeOnLanding,
  agreeOnMark,
  agreeOnPayingHead,
  agreeOnRun,
  findAgreed,
  type RunAnswer,
  readByVoice,
  type Votes,
} from '../../shared/paymentVotes.ts'
import { clockAccount, parseAccounts, readClock } from '../reading/answers.ts'
import { accountsCall, finalHeightCall, statusesCall } from '../reading/requests.ts'
import { paymentMarkerAddress, readPaymentMark } from '../rules/paying/paymentMarker.ts'
import { parseHeight, parseSimulation, parseStatuses } from './payingAnswers.ts'

/** Calls about a fill wallet's payments. Each `…Calls` belongs to the `decide…` below it, which reads the answers. */

/** Asks for the marker and the clock in one call, so that both are of one state: the time is that of the mark. */
export const markCalls = (wallet: string, id: Hex) => [
  accountsCall([paymentMarkerAddress(wallet, id), clockAccount]),
]

/** State of a payment id, and the time at which it was read. */
export function decideMark(votes: Votes, electorate: Electorate): FinalMark | undefined {
  const marks = readByVoice(votes, ([answer]) => {
    const [marker, clock] = parseAccounts(answer, 2)
    return { state: markIn(marker), timeSeconds: readClock(clock) }
  })
  return agreeOnMark(marks, electorate)
}

/** Asks for the marker alone, where no time is needed. */
export const stateCalls = (wallet: string, id: Hex) => [accountsCall([paymentMarkerAddress(wallet, id)])]

/** State of a payment id alone, at the newest final slot. */
export function decideState(votes: Votes, electorate: Electorate): PaymentState | undefined {
  const states = readByVoice(votes, ([answer]) => markIn(parseAccounts(answer, 1)[0]))
  return findAgreed(states, electorate)
}

function markIn(account: Parameters<typeof readPaymentMark>[0]): PaymentState {
  const state = readPaymentMark(account)
  if (state === undefined) throw new MalformedAnswerError('getMultipleAccounts')
  return state
}

export const headCalls = () => [finalHeightCall(), accountsCall([clockAccount])]

export function decideHead(votes: Votes, electorate: Electorate): PayingHead | undefined {
  const heads = readByVoice(votes, ([height, clock]) => ({
    height: parseHeight(height),
    timeSeconds: readClock(parseAccounts(clock, 1)[0]),
  }))
  return agreeOnPayingHead(heads, electorate)
}

/** Compute units that a transaction takes in a simulation, decided once all endpoints have answered or are late. */
export function decideRun(votes: Votes, electorate: Electorate, isLast: boolean): RunAnswer | undefined {
  return isLast
    ? agreeOnRun(
        readByVoice(votes, ([answer]) => parseSimulation(answer)),
        electorate,
      )
    : undefined
}

/** Asks for the height first, so that a transaction which is missing afterwards had not landed at that height. */
export const landingCalls = (hashes: readonly string[]) => [finalHeightCall(), statusesCall(hashes)]

export function decideLanding(votes: Votes, hashes: readonly string[], electorate: Electorate): Landing {
  const landings = readByVoice(votes, ([height, statuses]) => ({
    height: parseHeight(height),
    statuses: parseStatuses(statuses, hashes.length),
  }))
  return agreeOnLanding(landings, hashes, electorate)
}
