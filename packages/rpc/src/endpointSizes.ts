import type { EndpointFailure } from './endpointFailure.ts'
import type { RpcAnswer, RpcCall, Sizes } from './jsonRpc.ts'

const growth = { firstWaitMs: 60_000, longestWaitMs: 3_600_000 }
/** After an endpoint refused even the smallest request, its refusals are not taken for limits for so long. */
const giveUpMs = 60_000

/** A limit of an endpoint, learnt from refusals. After a while twice as much is tried; each failure doubles the wait. */
class LearnedSize {
  /** The limit; infinite until a refusal teaches one. */
  #max = Number.POSITIVE_INFINITY
  /** The last wait before a try to grow. */
  #waitMs = growth.firstWaitMs
  /** Time from which twice the limit may be asked. */
  #growAtMs = 0

  get max(): number {
    return this.#max
  }

  allowed(nowMs: number): number {
    return nowMs < this.#growAtMs ? this.#max : 2 * this.#max
  }

  /**
   * The next size to try. A size above the known limit was only a try to grow, so the limit itself is next; else the
   * size that the refusal's message names, or half of the refused one.
   */
  narrow(refused: number, hint: number | undefined): number {
    if (refused > this.#max) return this.#max
    return hint !== undefined && hint >= 1 && hint < refused ? hint : Math.max(1, Math.floor(refused / 2))
  }

  /** Takes a new limit. If it is no lower, only the try to grow has failed, and the next one is later. */
  learn(max: number, nowMs: number): void {
    const grewInVain = max >= this.#max
    // Another question has failed to grow already, and made the next try later.
    if (grewInVain && nowMs < this.#growAtMs) return
    this.#waitMs = grewInVain ? Math.min(2 * this.#waitMs, growth.longestWaitMs) : growth.firstWaitMs
    this.#max = Math.min(max, this.#max)
    this.#growAtMs = nowMs + this.#waitMs
  }

  /** Raises the limit again, because something else had caused the refusal. */
  restore(max: number): void {
    this.#max = Math.max(max, this.#max)
  }

  /** A request of this size was answered: the limit is at least as high. */
  answered(width: number, nowMs: number): void {
    if (width <= this.#max) return
    this.#max = width
    this.#waitMs = growth.firstWaitMs
    this.#growAtMs = nowMs + growth.firstWaitMs
  }
}

/** Calls per request and blocks per `eth_getLogs` that an endpoint takes, learnt from its refusals. @source F-80 */
export class EndpointSizes {
  readonly #calls = new LearnedSize()
  readonly #logBlocks = new LearnedSize()
  #givenUpUntilMs = 0
  #limitedInARow = 0

  /** The limits that were learnt. */
  get known(): Sizes {
    return { calls: this.#calls.max, logBlocks: this.#logBlocks.max }
  }

  /** Sizes that a question may begin with: at times larger than the limits, to see if these have grown. */
  allowed(nowMs: number): Sizes {
    return { calls: this.#calls.allowed(nowMs), logBlocks: this.#logBlocks.allowed(nowMs) }
  }

  /** True if the size of these calls may be the cause of a refusal. */
  mayBeTooWide(calls: readonly RpcCall[], nowMs: number): boolean {
    return nowMs >= this.#givenUpUntilMs && !isSmallest(calls)
  }

  /**
   * Lowers the members of `tried` after a refusal, the number of calls first. The limits stay until `learn`
   * is called.
   * @param start sizes at the beginning of the question
   */
  narrow(
    tried: Sizes,
    { calls, said: message, start }: { calls: readonly RpcCall[]; said: string; start: Sizes },
  ) {
    if (calls.length > 1) {
      tried.calls = this.#calls.narrow(calls.length, callsHint(message))
      return
    }
    // A single call was refused, so its range was too wide, and the number of calls was not the reason.
    if (tried.calls < start.calls) this.#calls.restore(start.calls)
    tried.calls = start.calls
    tried.logBlocks = this.#logBlocks.narrow(widestRange(calls), rangeHint(message))
  }

  /** Keeps the narrowed sizes once a request of that size is answered. */
  learn(tried: Sizes, start: Sizes, nowMs: number): void {
    if (tried.calls < start.calls) this.#calls.learn(tried.calls, nowMs)
    if (tried.logBlocks < start.logBlocks) this.#logBlocks.learn(tried.logBlocks, nowMs)
  }

  answered(calls: readonly RpcCall[], nowMs: number): void {
    this.#limitedInARow = 0
    this.#calls.answered(calls.length, nowMs)
    this.#logBlocks.answered(widestRange(calls), nowMs)
  }

  /** After two rate limits in a row the batch is halved, since some endpoints count each call of a batch. */
  limited(calls: readonly RpcCall[], nowMs: number): void {
    this.#limitedInARow += 1
    if (calls.length === 1 || this.#limitedInARow < 2) return
    this.#calls.learn(this.#calls.narrow(calls.length, undefined), nowMs)
    this.#limitedInARow = 0
  }

  /** Stops taking refusals for limits for a while. */
  giveUp(nowMs: number): void {
    this.#givenUpUntilMs = nowMs + giveUpMs
  }
}

/** True for a refusal of a whole request that may be due to its size. */
export function isRefusedWhole({ reason, status, said: message }: EndpointFailure): boolean {
  // Some endpoints answer 500 to a request that is too large, and all do so if they are broken: the words decide.
  if (reason === 'http_status') return status === 500 && sizeWords.test(message)
  // A `bad_answer` has a text only if the endpoint answered a batch by one object, or by too few answers.
  return reason === 'refused' || reason === 'not_json' || (reason === 'bad_answer' && message !== '')
}

/** True for such a refusal, and for an answer that is too long. */
export const mayBeForSize = (failure: EndpointFailure) =>
  failure.reason === 'oversize' || isRefusedWhole(failure)

const sizeWords = /range|limit|too (many|large|wide|big|long)|exceed|maximum|up to|batch|timed? ?out/i

/** True if an `eth_getLogs` was refused for its range, by codes and words of node providers. */
export function isRangeRefused(call: RpcCall, answer: RpcAnswer | undefined): boolean {
  if (answer?.ok !== false || rangeWidth(call) <= 1) return false
  const { code, message } = answer
  return code === -32_005 || (code <= -32_600 && code >= -32_602) || sizeWords.test(message)
}

/** Number of blocks that an error message offers, e.g. `[0x1, 0x64]`, `100 blocks` or `range is limited to 100`. */
function rangeHint(message: string): number | undefined {
  const [, from, to] = /\[\s*(0x[0-9a-f]{1,15})\s*,\s*(0x[0-9a-f]{1,15})\s*\]/i.exec(message) ?? []
  if (from !== undefined && to !== undefined) return Number(to) - Number(from) + 1
  const [, blocks] = /(\d[\d,]{0,9})[ -]*(?:blocks?\b|range\b)/i.exec(message) ?? []
  const [, limit] = /range\D{0,40}?(\d[\d,]{0,9})/i.exec(message) ?? []
  return numberIn(blocks ?? limit)
}

/** Number of calls that an error message allows, e.g. `maximum batch size is 20`. */
function callsHint(message: string): number | undefined {
  const [, limit] = /(?:max\w*|limit\w*|up to|more than|exceeds?)\D{0,30}?(\d[\d,]{0,9})/i.exec(message) ?? []
  return numberIn(limit)
}

const numberIn = (text: string | undefined) =>
  text === undefined ? undefined : Number(text.replaceAll(',', ''))

const widestRange = (calls: readonly RpcCall[]) =>
  calls.reduce((widest, call) => Math.max(widest, rangeWidth(call)), 0)

type LogRange = { readonly filter: object; readonly from: number; readonly to: number }

/** Range of heights of an `eth_getLogs`; `undefined` for other calls, and without two numbers. */
export function logRange({ method, params: [filter] }: RpcCall): LogRange | undefined {
  if (method !== 'eth_getLogs' || typeof filter !== 'object' || filter === null) return undefined
  if (!('fromBlock' in filter) || !('toBlock' in filter)) return undefined
  const [from, to] = [Number(filter.fromBlock), Number(filter.toBlock)]
  return Number.isSafeInteger(from) && Number.isSafeInteger(to) && from <= to
    ? { filter, from, to }
    : undefined
}

/** Number of blocks in the range of an `eth_getLogs`; 0 for other calls. */
function rangeWidth(call: RpcCall): number {
  const range = logRange(call)
  return range === undefined ? 0 : range.to - range.from + 1
}

/** The call, split into calls of at most `logBlocks` blocks if its log range is wider. */
export function partsOf(call: RpcCall, logBlocks: number): readonly RpcCall[] {
  const range = logRange(call)
  if (range === undefined || range.to - range.from < logBlocks) return [call]
  const { filter, from, to } = range
  return Array.from({ length: Math.ceil((to - from + 1) / logBlocks) }, (_, index) => {
    const start = from + index * logBlocks
    const end = Math.min(start + logBlocks - 1, to)
    const part = { ...filter, fromBlock: `0x${start.toString(16)}`, toBlock: `0x${end.toString(16)}` }
    return { ...call, params: [part] }
  })
}

/** Two halves of a request's calls, or of the range of its only call; undefined if it cannot be split. */
export function halvesOf(calls: readonly RpcCall[]): readonly (readonly RpcCall[])[] | undefined {
  const [call] = calls
  if (call === undefined || isSmallest(calls)) return undefined
  const middle = Math.ceil(calls.length / 2)
  if (calls.length > 1) return [calls.slice(0, middle), calls.slice(middle)]
  return partsOf(call, Math.ceil(rangeWidth(call) / 2)).map((half) => [half])
}

/** True for a request that cannot be split: one call, of at most one block of logs. */
export const isSmallest = (calls: readonly RpcCall[]) => calls.length === 1 && widestRange(calls) <= 1

/** Joins the answers to the parts of one call: all logs, or the first error. */
export function joined(answers: readonly RpcAnswer[]): RpcAnswer | undefined {
  const [first, ...others] = answers
  if (others.length === 0) return first
  const refused = answers.find((answer) => !answer.ok || !Array.isArray(answer.result))
  return refused ?? { ok: true, result: answers.flatMap((answer) => (answer.ok ? answer.result : [])) }
}
