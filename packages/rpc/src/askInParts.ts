import { EndpointFailure } from './endpointFailure.ts'
import {
  type EndpointSizes,
  halvesOf,
  isRangeRefused,
  isRefusedWhole,
  joined,
  partsOf,
} from './endpointSizes.ts'
import { logBlocksAtMost } from './headTracking.ts'
import type { JsonRpcClient, RpcAnswer, RpcCall, Sizes } from './jsonRpc.ts'

/** Limits of one question: requests that it may be split into (also parts of one log range), and requests in flight. */
const splitting = { requestsMax: 128, atOnce: 8 }

/** An endpoint as `askInParts` needs it. */
export type PartedEndpoint = {
  readonly alias: string
  readonly sizes: EndpointSizes
  readonly now: () => number
  /**
   * Sends one request. `mayBeTooWide`: a refusal may be due to its size, so it does not count as the endpoint's
   * failure.
   * @throws EndpointFailure
   */
  readonly exchange: (calls: readonly RpcCall[], mayBeTooWide: boolean) => Promise<readonly RpcAnswer[]>
}

/**
 * Most blocks whose logs can be asked in one question of up to four filters, with the sizes that enough endpoints take.
 * @source F-80
 */
export function logBlocksAtOnce({ sizes, electorate }: Pick<JsonRpcClient, 'sizes' | 'electorate'>): bigint {
  const byVoice = new Map<string, number>()
  // If a voice has several endpoints, an answer of the one that takes most is its vote.
  for (const { voice, logBlocks } of sizes()) byVoice.set(voice, Math.max(logBlocks, byVoice.get(voice) ?? 0))
  const blockLimit = [...byVoice.values()].toSorted((a, b) => b - a)[electorate.threshold - 1] ?? 1
  const blocks = blockLimit * (splitting.requestsMax / 4)
  return blocks < Number(logBlocksAtMost) ? BigInt(blocks) : logBlocksAtMost
}

type Answers = readonly RpcAnswer[]

/**
 * Answers in call order. Requests larger than an endpoint is known to take, or that it refuses for their size, are
 * split, and the answers joined. A question may become at most 128 requests, and a log range 128 parts; more is
 * `too_wide`.
 * @throws EndpointFailure
 * @source F-80
 */
export async function askInParts(calls: readonly RpcCall[], endpoint: PartedEndpoint): Promise<Answers> {
  return new PartedQuestion(endpoint).ask(calls, false)
}

/**
 * One question to one endpoint, whose limits are not known in advance. `ask` splits calls into requests of
 * the tried sizes; `#askOnce` sends one of them. If that is refused, it narrows the tried sizes, which all
 * requests of the question share, and calls `ask` again with a trial, which may be refused and narrowed in
 * the same way. Sizes that were taken at last are learnt for later questions. It ends, since each request
 * takes one of `#requestsLeft`.
 */
class PartedQuestion {
  readonly #endpoint: PartedEndpoint
  /** Sizes that were allowed when the question began. */
  readonly #start: Sizes
  /** Sizes that the next request may have; `EndpointSizes.narrow` lowers them in this object. */
  readonly #tried: Sizes
  #requestsLeft = splitting.requestsMax

  constructor(endpoint: PartedEndpoint) {
    this.#endpoint = endpoint
    this.#start = endpoint.sizes.allowed(endpoint.now())
    this.#tried = { ...this.#start }
  }

  /** Asks in parts. With `isTrial` one request goes first, to learn whether the endpoint takes the narrowed size. */
  async ask(calls: readonly RpcCall[], isTrial: boolean): Promise<Answers> {
    const { sizes, now } = this.#endpoint
    const parts = calls.map((call) => partsOf(call, this.#tried.logBlocks))
    const allParts = parts.flat()
    const answers: RpcAnswer[] = []
    if (isTrial) {
      // A narrowed range is tried with one part; a narrowed number of calls with as many as may go together.
      const firstRequest = allParts.slice(
        0,
        this.#tried.logBlocks < this.#start.logBlocks ? 1 : this.#tried.calls,
      )
      const before = { ...this.#tried }
      answers.push(...(await this.#askOnce(firstRequest, true)))
      // The trial was answered, so the endpoint takes the sizes that it had at last.
      sizes.learn(this.#tried, this.#start, now())
      // If the trial itself was refused and narrowed the sizes further, the rest is split again.
      if (isNarrower(this.#tried, before)) {
        answers.push(...(await this.ask(allParts.slice(answers.length), false)))
        return joinEach(parts, answers)
      }
    }
    const remaining = chunked(allParts.slice(answers.length), this.#tried.calls)
    if (remaining.length > this.#requestsLeft || parts.some(({ length }) => length > splitting.requestsMax))
      throw this.#failed('too_wide')
    for (let next = 0; next < remaining.length; next += splitting.atOnce) {
      const inFlight = remaining.slice(next, next + splitting.atOnce)
      answers.push(...(await Promise.all(inFlight.map((chunk) => this.#askOnce(chunk)))).flat())
    }
    return joinEach(parts, answers)
  }

  /**
   * Sends one request. Calls whose range was refused are asked again in narrower parts, the other answers stay.
   * @param isTrial true for the first request after a narrowing: if its parts are refused as well, the failure goes on
   * to the request that was refused first, which knows the node's first answers
   */
  async #askOnce(calls: readonly RpcCall[], isTrial = false): Promise<Answers> {
    const { sizes, now } = this.#endpoint
    if (this.#requestsLeft <= 0) throw this.#failed('too_wide')
    this.#requestsLeft -= 1
    const mayBeTooWide = sizes.mayBeTooWide(calls, now())
    const outcome = await this.#endpoint.exchange(calls, mayBeTooWide).catch(failureOf)
    if (outcome instanceof EndpointFailure) return this.#afterRefusal(calls, outcome, mayBeTooWide)
    const isRefused = (call: RpcCall, index: number) => isRangeRefused(call, outcome[index])
    const refusedCalls = mayBeTooWide ? calls.filter(isRefused) : []
    const [refusedCall] = refusedCalls
    const refusal = refusedCall && outcome[calls.indexOf(refusedCall)]
    if (refusedCall === undefined || refusal?.ok !== false) return this.#takeAnswers(calls, outcome)
    sizes.narrow(this.#tried, { calls: [refusedCall], said: refusal.message, start: this.#start })
    const again = await this.ask(refusedCalls, true).catch(failureOf)
    if (again instanceof EndpointFailure) {
      // Even the narrowest parts were refused, so width was not the reason: the node's first answers stand.
      if (again.reason === 'refused' && !isTrial) return outcome
      throw again
    }
    return calls.flatMap((call, index) => again[refusedCalls.indexOf(call)] ?? outcome[index] ?? [])
  }

  /** Notes the size that was taken. @throws EndpointFailure where even one block of logs was refused */
  #takeAnswers(calls: readonly RpcCall[], answers: Answers): Answers {
    const { sizes, now } = this.#endpoint
    const isNarrowed = this.#tried.logBlocks < this.#start.logBlocks
    const isRefused = ({ method }: RpcCall, index: number) =>
      method === 'eth_getLogs' && answers[index]?.ok === false
    // The range was narrowed, and a call was still refused: so its width was not the reason.
    if (isNarrowed && calls.some(isRefused)) {
      sizes.giveUp(now())
      throw this.#failed('refused')
    }
    sizes.answered(calls, now())
    return answers
  }

  /** Splits a request that was refused as a whole, if its size may be the reason. @throws the failure otherwise */
  async #afterRefusal(
    calls: readonly RpcCall[],
    failure: EndpointFailure,
    mayBeTooWide: boolean,
  ): Promise<Answers> {
    const { sizes, now } = this.#endpoint
    if (failure.reason === 'rate_limited') sizes.limited(calls, now())
    // An answer is too long because of the blocks' contents, which says nothing about the endpoint's limits.
    if (failure.reason === 'oversize') {
      const halves = halvesOf(calls)
      if (halves === undefined) throw failure
      const answers: RpcAnswer[] = []
      for (const half of halves) answers.push(...(await this.#askOnce(half)))
      // The halves of a single call are halves of its range, whose answers are one.
      return calls.length > 1 ? answers : joinEach([halves], answers)
    }
    if (!isRefusedWhole(failure)) throw failure
    if (mayBeTooWide) {
      sizes.narrow(this.#tried, { calls, said: failure.said, start: this.#start })
      return this.ask(calls, true)
    }
    // Even the smallest request was refused, so its size was not the reason.
    if (isNarrower(this.#tried, this.#start)) sizes.giveUp(now())
    throw failure
  }

  #failed(reason: 'too_wide' | 'refused'): EndpointFailure {
    return new EndpointFailure({ alias: this.#endpoint.alias, reason })
  }
}

const isNarrower = (one: Sizes, other: Sizes): boolean =>
  one.calls < other.calls || one.logBlocks < other.logBlocks

function failureOf(error: unknown): EndpointFailure {
  if (error instanceof EndpointFailure) return error
  throw error
}

/** Joins the answers to the parts of each call: `parts` by call, `answers` with one answer for each part. */
function joinEach(parts: readonly (readonly unknown[])[], answers: Answers): Answers {
  let next = 0
  return parts.flatMap(({ length }) => {
    next += length
    return joined(answers.slice(next - length, next)) ?? []
  })
}

function chunked(calls: readonly RpcCall[], size: number): readonly (readonly RpcCall[])[] {
  if (calls.length <= size) return calls.length === 0 ? [] : [calls]
  return Array.from({ length: Math.ceil(calls.length / size) }, (_, index) =>
    calls.slice(index * size, (index + 1) * size),
  )
}
