import type { FinalMark, Landing, PayingHead, PaymentState } from '../../family/payingChain.ts'
import type { RpcAnswer, RpcCall } from '../../rpc/jsonRpc.ts'
import { MalformedAnswerError, unlessUnreadable } from '../../rpc/malformedAnswer.ts'
import { resultOf } from '../../rpc/quantity.ts'
import { type Electorate, reachedBy, type Vote, valuesByVoice } from '../../rpc/tally.ts'
import { parseInfo } from '../answers.ts'
import { callOf, headCall, parseHead, parseRun, parseWord } from '../quoting/nodeCalls.ts'
import { infoRequest, solidHeadRequest, unsolidInfoRequest } from '../requests.ts'

/**
 * What nodes say of a fill wallet's payments, and what follows from it. Transactions expire by the time of blocks, so
 * that of a final block, in milliseconds, stands for its height here. Nodes stand at different blocks and no block is
 * compared: what enough of them say counts, at the latest moment that enough of them have reached with it. The newest
 * solidified block is asked for first: what is not there when the rest is told was not there at that block.
 */

type Votes = readonly Vote<readonly RpcAnswer[]>[]

const solidHeadCall = callOf(solidHeadRequest)
const millis = (seconds: bigint): bigint => seconds * 1_000n

export const markCalls = (stateCall: RpcCall): readonly RpcCall[] => [solidHeadCall, stateCall]

const states: readonly PaymentState[] = ['open', 'paid', 'closed']

export function decideMark(votes: Votes, electorate: Electorate): FinalMark | undefined {
  const said = saidByVoice(votes, ([head, word]) => {
    const state = states[Number(parseWord(word))]
    if (state === undefined) throw new MalformedAnswerError('stateOf')
    return { state, timeSeconds: parseHead(head).timestampSeconds }
  })
  for (const state of states) {
    const times = said.flatMap((one) => (one.state === state ? [one.timeSeconds] : []))
    const reached = reachedBy(electorate.threshold, times)
    if (reached >= 0n) return { state, timestampSeconds: Number(reached) }
  }
  return undefined
}

export const headCalls: readonly RpcCall[] = [solidHeadCall, headCall]

export function decideHead(votes: Votes, electorate: Electorate): PayingHead | undefined {
  const said = saidByVoice(votes, ([solid, newest]) => ({
    height: millis(parseHead(solid).timestampSeconds),
    timeSeconds: parseHead(newest).timestampSeconds,
  }))
  if (said.length < electorate.threshold) return undefined
  const reached = (of: (one: (typeof said)[number]) => bigint) =>
    reachedBy(electorate.threshold, said.map(of))
  return {
    finalHeight: reached(({ height }) => height),
    timeSeconds: Number(reached(({ timeSeconds }) => timeSeconds)),
  }
}

type AgreedRun = { readonly succeeds: true; readonly energy: bigint } | { readonly succeeds: false }

/**
 * What a call takes that nobody has sent yet: as much as enough nodes say, so that no node alone has a payment refused,
 * or has it run out of energy. `undefined` where they contradict each other.
 */
export function decideRun(votes: Votes, { threshold }: Electorate): AgreedRun | undefined {
  const runs = saidByVoice(votes, ([answer]) => parseRun(answer))
  const energies = runs.flatMap((run) => (run.succeeds ? [run.energy] : []))
  const energy = reachedBy(threshold, energies)
  if (energy >= 0n) return { succeeds: true, energy }
  return runs.length - energies.length >= threshold ? { succeeds: false } : undefined
}

/** Of each transaction whether a solidified block has it, and whether any block has. */
export const landingCalls = (hashes: readonly string[]): readonly RpcCall[] => [
  solidHeadCall,
  ...hashes.flatMap((hash) => [callOf(infoRequest(hash)), callOf(unsolidInfoRequest(hash))]),
]

type Status = { readonly succeeded: boolean; readonly isFinal: boolean } | undefined

export function decideLanding(votes: Votes, hashes: readonly string[], electorate: Electorate): Landing {
  const said = saidByVoice(votes, ([head, ...infos]) => ({
    height: millis(parseHead(head).timestampSeconds),
    statuses: hashes.map((hash, index) => statusIn(infos.slice(2 * index, 2 * index + 2), hash)),
  }))
  const { threshold } = electorate
  const agree = (of: (status: Status) => boolean, index: number) =>
    said.filter(({ statuses }) => of(statuses[index])).length >= threshold
  for (const [index, hash] of hashes.entries()) {
    for (const succeeded of [true, false]) {
      const is = (status: Status) => status?.succeeded === succeeded
      if (agree((status) => is(status) && status?.isFinal === true, index))
        return { kind: 'landed', hash, succeeded, isFinal: true }
      if (agree(is, index)) return { kind: 'landed', hash, succeeded, isFinal: false }
    }
  }
  const heights = said.flatMap(({ height, statuses }) =>
    statuses.every((status) => status === undefined) ? [height] : [],
  )
  const finalHeight = reachedBy(threshold, heights)
  return finalHeight < 0n ? { kind: 'unknown' } : { kind: 'none', finalHeight }
}

function statusIn([solid, newest]: readonly (RpcAnswer | undefined)[], hash: string): Status {
  const what = 'gettransactioninfobyid'
  const final = parseInfo(resultOf(solid, what), hash)
  if (final !== undefined) return { succeeded: final.succeeded, isFinal: true }
  const info = parseInfo(resultOf(newest, what), hash)
  return info && { succeeded: info.succeeded, isFinal: false }
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
