import type { ChainClient, RpcAnswer, RpcCall } from '@causeway/rpc'
import { type Electorate, reachedBy, unlessUnreadable, type Vote, valuesByVoice } from '@causeway/rpc'
import type { FinalMark, Landing, PayingHead, PaymentState } from './payingChain.ts'

// Agreement of endpoints about a fill wallet's payments. Endpoints are at different blocks, so blocks are not
// compared: a value counts if enough endpoints report it, as of the latest time or height that enough of
// those have reached. `reachedBy` computes that, and gives a negative number if too few report the value.

/** All answers of each endpoint to the same calls. */
export type Votes = readonly Vote<readonly RpcAnswer[]>[]

/** The endpoints of a chain, as a payer asks them. */
export type PaymentVoters = Pick<ChainClient, 'electorate' | 'poll'>

const readTimeoutMs = 5_000
/** Once enough endpoints have answered, late ones have so many milliseconds left. */
const patienceMs = 250

/**
 * The first outcome that `decide` finds. It is asked after each vote; `isLast` is true once all endpoints
 * have answered or failed, and once when the short extra time for late ones ends.
 * @throws UpstreamUnavailableError if there is no outcome after the last vote
 */
export function askPaymentVotes<Outcome>(
  client: PaymentVoters,
  calls: readonly RpcCall[],
  decide: (votes: Votes, electorate: Electorate, isLast: boolean) => Outcome | undefined,
): Promise<Outcome> {
  const { electorate } = client
  return client.poll<Outcome>(calls, {
    timeoutMs: readTimeoutMs,
    patienceMs,
    decide: (votes, isLast) => decide(votes, electorate, isLast),
  })
}

/** Outcome of sent transactions. While endpoints disagree, it waits for the late ones. */
export function askLanding(
  client: PaymentVoters,
  calls: readonly RpcCall[],
  decide: (votes: Votes, electorate: Electorate) => Landing,
): Promise<Landing> {
  return askPaymentVotes(client, calls, (votes, electorate, isLast) => {
    const landing = decide(votes, electorate)
    return landing.kind === 'unknown' && !isLast ? undefined : landing
  })
}

/** One parsed answer per voice, which endpoints of one host share; an unreadable one counts as none. */
export function readByVoice<Value>(
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

/** One endpoint's simulation of a transaction: its units of execution, or how it failed. */
export type RunAnswer<Failure extends string = 'fails'> = bigint | Failure

/**
 * The highest units that enough voices reach, else the failure that enough report. So no single node can have a good
 * payment refused, or a failing one signed. `undefined` while they contradict each other.
 */
export function agreeOnRun<Failure extends string>(
  runs: readonly RunAnswer<Failure>[],
  { threshold }: Electorate,
): RunAnswer<Failure> | undefined {
  const units = reachedBy(
    threshold,
    runs.flatMap((one) => (typeof one === 'bigint' ? [one] : [])),
  )
  return units >= 0n ? units : findAgreed(runs, { threshold })
}

/** Value that enough voices share. */
export function findAgreed<Value>(
  values: readonly Value[],
  { threshold }: Pick<Electorate, 'threshold'>,
): Value | undefined {
  return values.find((one) => values.filter((other) => other === one).length >= threshold)
}

/** One endpoint's final state of a payment id, and the Unix seconds of the block at which it was read. */
export type MarkAnswer = { readonly state: PaymentState; readonly timeSeconds: bigint }

const states: readonly PaymentState[] = ['open', 'paid', 'closed']

/**
 * The state that enough voices report, at the latest time that enough of those reach; `undefined` if there is none. The
 * order of `states` decides nothing: votes come singly, so one state is the first that enough voices report.
 */
export function agreeOnMark(marks: readonly MarkAnswer[], { threshold }: Electorate): FinalMark | undefined {
  for (const state of states) {
    const times = marks.flatMap((one) => (one.state === state ? [one.timeSeconds] : []))
    const reached = reachedBy(threshold, times)
    if (reached >= 0n) return { state, timestampSeconds: Number(reached) }
  }
  return undefined
}

/** One endpoint's final height, and Unix seconds of its newest block. */
export type HeadAnswer = { readonly height: bigint; readonly timeSeconds: bigint }

/** The final height and time that enough voices reach; `undefined` if too few answered. */
export function agreeOnPayingHead(
  heads: readonly HeadAnswer[],
  { threshold }: Electorate,
): PayingHead | undefined {
  if (heads.length < threshold) return undefined
  const latestReached = (amountOf: (one: HeadAnswer) => bigint) => reachedBy(threshold, heads.map(amountOf))
  return {
    finalHeight: latestReached(({ height }) => height),
    timeSeconds: Number(latestReached(({ timeSeconds }) => timeSeconds)),
  }
}

/** One transaction's outcome at one endpoint; `undefined` if it is in no block. */
export type StatusAnswer = { readonly succeeded: boolean; readonly isFinal: boolean } | undefined

/** One endpoint's final height, read first, and then the outcome of each transaction. */
export type LandingAnswer = { readonly height: bigint; readonly statuses: readonly StatusAnswer[] }

/**
 * The outcome of several signed transactions, in this order:
 * 1. `landed`, if enough voices show one and the same of them in a block with one and the same success; final
 *    if enough of these say so.
 * 2. `none`, if enough voices find none of them in a block. Each read its final height before the outcomes,
 *    so nothing had landed up to the final height that enough of those voices have reached.
 * 3. `unknown` otherwise.
 */
export function agreeOnLanding(
  landings: readonly LandingAnswer[],
  hashes: readonly string[],
  { threshold }: Electorate,
): Landing {
  for (const [index, hash] of hashes.entries()) {
    for (const succeeded of [true, false]) {
      const landed = landings.flatMap(({ statuses }) => {
        const status = statuses[index]
        return status?.succeeded === succeeded ? [status] : []
      })
      const isFinal = landed.filter((status) => status.isFinal).length >= threshold
      if (landed.length >= threshold) return { kind: 'landed', hash, succeeded, isFinal }
    }
  }
  const heights = landings.flatMap(({ height, statuses }) =>
    statuses.every((status) => status === undefined) ? [height] : [],
  )
  const finalHeight = reachedBy(threshold, heights)
  return finalHeight < 0n ? { kind: 'unknown' } : { kind: 'none', finalHeight }
}
