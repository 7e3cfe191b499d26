import type { Electorate, RpcAnswer, RpcCall } from '@causeway/rpc'
import { MalformedAnswerError, resultOf } from '@causeway/rpc'
import type { FinalMark, Landing, PayingHead, PaymentState } from '../../shared/payingChain.ts'
import {
  agreeOnLanding,
  agreeOnMark,
  agreeOnPayingHead,
  agreeOnRun,
  findAgreed,
  type RunAnswer,
  readByVoice,
  type StatusAnswer,
  type Votes,
} from '../../shared/paymentVotes.ts'
import { callOf, headCall, parseHead, parseRun, parseWord } from '../quoting/nodeCalls.ts'
import { parseInfo } from '../reading/answers.ts'
import { infoRequest, solidHeadRequest, unsolidInfoRequest } from '../reading/requests.ts'

/**
 * Calls about a fill wallet's payments. Each `…Calls` belongs to the `decide…` below it, which reads the answers.
 * Transactions expire by block time, so the time of a final block in milliseconds stands for its height. The newest
 * solidified (irreversible) block is asked for first: state that later answers lack was missing at it.
 */

const solidHeadCall = callOf(solidHeadRequest)
const toMilliseconds = (seconds: bigint): bigint => seconds * 1_000n

/** @param stateCall `stateOf` of the fill contract, at solidified blocks */
export const markCalls = (stateCall: RpcCall): readonly RpcCall[] => [solidHeadCall, stateCall]

/** By the number that the fill contract returns. */
const states: readonly PaymentState[] = ['open', 'paid', 'closed']

function stateIn(answer: RpcAnswer | undefined): PaymentState {
  const state = states[Number(parseWord(answer))]
  if (state === undefined) throw new MalformedAnswerError('stateOf')
  return state
}

export function decideMark(votes: Votes, electorate: Electorate): FinalMark | undefined {
  const marks = readByVoice(votes, ([head, word]) => ({
    state: stateIn(word),
    timeSeconds: parseHead(head).timestampSeconds,
  }))
  return agreeOnMark(marks, electorate)
}

/** State of a payment id alone, at the newest block, which may still be replaced. */
export function decideState(votes: Votes, electorate: Electorate): PaymentState | undefined {
  return findAgreed(
    readByVoice(votes, ([word]) => stateIn(word)),
    electorate,
  )
}

export const headCalls: readonly RpcCall[] = [solidHeadCall, headCall]

export function decideHead(votes: Votes, electorate: Electorate): PayingHead | undefined {
  const heads = readByVoice(votes, ([solid, newest]) => ({
    height: toMilliseconds(parseHead(solid).timestampSeconds),
    timeSeconds: parseHead(newest).timestampSeconds,
  }))
  return agreeOnPayingHead(heads, electorate)
}

/** Energy that a call takes in a simulation. */
export function decideRun(votes: Votes, electorate: Electorate): RunAnswer | undefined {
  const runs = readByVoice(votes, ([answer]): RunAnswer => {
    const run = parseRun(answer)
    return run.succeeds ? run.energy : 'fails'
  })
  return agreeOnRun(runs, electorate)
}

/** Calls for each transaction: is it in a solidified block, and is it in any block. */
export const landingCalls = (hashes: readonly string[]): readonly RpcCall[] => [
  solidHeadCall,
  ...hashes.flatMap((hash) => [callOf(infoRequest(hash)), callOf(unsolidInfoRequest(hash))]),
]

export function decideLanding(votes: Votes, hashes: readonly string[], electorate: Electorate): Landing {
  const landings = readByVoice(votes, ([head, ...infos]) => ({
    height: toMilliseconds(parseHead(head).timestampSeconds),
    statuses: hashes.map((hash, index) => statusIn(infos.slice(2 * index, 2 * index + 2), hash)),
  }))
  return agreeOnLanding(landings, hashes, electorate)
}

function statusIn([solid, newest]: readonly (RpcAnswer | undefined)[], hash: string): StatusAnswer {
  const requestName = 'gettransactioninfobyid'
  const final = parseInfo(resultOf(solid, requestName), hash)
  if (final !== undefined) return { succeeded: final.succeeded, isFinal: true }
  const info = parseInfo(resultOf(newest, requestName), hash)
  return info && { succeeded: info.succeeded, isFinal: false }
}
