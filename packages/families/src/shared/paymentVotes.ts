import type { ChainClient, RpcAnswer, RpcCall } from '@causeway/rpc'
import { type Electorate, reachedBy, unlessUnreadable, type Vote, valuesByVoice } from '@causeway/rpc'
import type { FinalMark, Landing, PayingHead, PaymentState } from './payingChain.ts'

/**
 * Conclusions from the endpoints' answers about a fill wallet's payments. Endpoints stand at different blocks, so no
 * block is compared: a value counts if enough of them report it, at the latest moment that enough of those have
 * reached.
 */

export type Votes = readonly Vote<readonly RpcAnswer[]>[]

/** The endpoints of a chain, as a payer asks them. */
export type PaymentVoters = Pick<ChainClient, 'electorate' | 'poll'>

const readTimeoutMs = 5_000
/** Milliseconds that late endpoints have left to answer. */
const patienceMs = 250

/** Outcome that enough endpoints support; late ones get a short extra time. @throws UpstreamUnavailableError */
export function askPaymentVotes<Outcome>(
  client: PaymentVoters,
  calls: readonly RpcCall[],
  decide: (votes: Votes, electorate: Electorate, isLast: boolean) => Outcome | undefined,
): Promise<Outcome> {
  const { electorate } = client
  return client.poll<Outcome>(calls, {
    ...{ timeoutMs: readTimeoutMs, patienceMs },
    decide: (votes, isLast) => decide(votes, electorate, isLast),
  })
}

/** States of transactions; late endpoints are waited for while the others disagree. */
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

/** Statement of each voice; an unreadable answer counts as none. */
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

/** Units of the family that running a transaction took, or how it failed. */
export type RunAnswer<Failure extends string = 'fails'> = bigint | Failure

/**
 * As much as enough voices say, so that no node alone has a payment refused, or signed where it fails. `undefined` while
 * they contradict each other.
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

/** Unix seconds; what a voice says of an id came no earlier than that. */
export type MarkAnswer = { readonly state: PaymentState; readonly timeSeconds: bigint }

const states: readonly PaymentState[] = ['open', 'paid', 'closed']

/** `undefined` while voices contradict each other. */
export function agreeOnMark(marks: readonly MarkAnswer[], { threshold }: Electorate): FinalMark | undefined {
  for (const state of states) {
    const times = marks.flatMap((one) => (one.state === state ? [one.timeSeconds] : []))
    const reached = reachedBy(threshold, times)
    if (reached >= 0n) return { state, timestampSeconds: Number(reached) }
  }
  return undefined
}

/** The height of a final block, and Unix seconds of the newest one. */
export type HeadAnswer = { readonly height: bigint; readonly timeSeconds: bigint }

/** `undefined` while too few have said anything. */
export function agreeOnPayingHead(
  heads: readonly HeadAnswer[],
  { threshold }: Electorate,
): PayingHead | undefined {
  if (heads.length < threshold) return undefined
  const reached = (of: (one: HeadAnswer) => bigint) => reachedBy(threshold, heads.map(of))
  return {
    finalHeight: reached(({ height }) => height),
    timeSeconds: Number(reached(({ timeSeconds }) => timeSeconds)),
  }
}

export type StatusAnswer = { readonly succeeded: boolean; readonly isFinal: boolean } | undefined

/** The height of a final block, asked for first, and what became of each transaction. */
export type LandingAnswer = { readonly height: bigint; readonly statuses: readonly StatusAnswer[] }

/**
 * Landing of transactions. Those in no block, as enough voices report, have not landed at the height that enough of
 * those voices have reached.
 */
export function agreeOnLanding(
  landings: readonly LandingAnswer[],
  hashes: readonly string[],
  { threshold }: Electorate,
): Landing {
  const agree = (index: number, of: (status: StatusAnswer) => boolean) =>
    landings.filter(({ statuses }) => of(statuses[index])).length >= threshold
  for (const [index, hash] of hashes.entries()) {
    for (const succeeded of [true, false]) {
      const is = (status: StatusAnswer) => status?.succeeded === succeeded
      if (agree(index, (status) => is(status) && status?.isFinal === true))
        return { kind: 'landed', hash, succeeded, isFinal: true }
      if (agree(index, is)) return { kind: 'landed', hash, succeeded, isFinal: false }
    }
  }
  const heights = landings.flatMap(({ height, statuses }) =>
    statuses.every((status) => status === undefined) ? [height] : [],
  )
  const finalHeight = reachedBy(threshold, heights)
  return finalHeight < 0n ? { kind: 'unknown' } : { kind: 'none', finalHeight }
}
