import type { EndpointFailure } from './endpointFailure.ts'
import type { RpcAnswer, RpcCall, Sizes } from './jsonRpc.ts'

const growth = { firstWaitMs: 60_000, longestWaitMs: 3_600_000 }
/** Time for which an endpoint that refused even the smallest request is not asked in parts. */
const giveUpMs = 60_000

/** One limit as refusals taught it. Twice as much is tried after a while, and later each time that fails. */
class LearnedSize {
  #max = Number.POSITIVE_INFINITY
  #waitMs = growth.firstWaitMs
  #growAtMs = 0

  get max(): number {
    return this.#max
  }

  allowed(nowMs: number): number {
    return nowMs < this.#growAtMs ? this.#max : 2 * this.#max
  }

  /** A refused size above the known limit leaves the limit as it is: only the growth failed. */
  narrow(refused: number, hint: number | undefined): number {
    if (refused > this.#max) return this.#max
    return hint !== undefined && hint >= 1 && hint < refused ? hint : Math.max(1, Math.floor(refused / 2))
  }

  learn(max: number, nowMs: number): void {
    const grewInVain = max >= this.#max
    if (grewInVain && nowMs < this.#growAtMs) return
    this.#waitMs = grewInVain ? Math.min(2 * this.#waitMs, growth.longestWaitMs) : growth.firstWaitMs
    this.#max = Math.min(max, this.#max)
    this.#growAtMs = nowMs + this.#waitMs
  }

  /** Undoes a narrowing where something else caused the refusal. */
  restore(max: number): void {
    this.#max = Math.max(max, this.#max)
  }

  answered(width: number, nowMs: number): void {
    if (width <= this.#max) return
    this.#max = width
    this.#waitMs = growth.firstWaitMs
    this.#growAtMs = nowMs + growth.firstWaitMs
  }
}

/** The sizes that an endpoint takes, as its refusals taught them. @source F-80 */
export class EndpointSizes {
  readonly #calls = new LearnedSize()
  readonly #logBlocks = new LearnedSize()
  #givenUpUntilMs = 0
  #limitedInARow = 0

  get known(): Sizes {
    return { calls: this.#calls.max, logBlocks: this.#logBlocks.max }
  }

  allowed(nowMs: number): Sizes {
    return { calls: this.#calls.allowed(nowMs), logBlocks: this.#logBlocks.allowed(nowMs) }
  }

  /** True where the size of these calls may be the cause of their refusal. */
  mayBeTooWide(calls: readonly RpcCall[], nowMs: number): boolean {
    return nowMs >= this.#givenUpUntilMs && !isSmallest(calls)
  }

  /** Narrows what is tried; batches first. @param start what was tried when the question began */
  narrow(
    tried: Sizes,
    { calls, said: message, start }: { calls: readonly RpcCall[]; said: string; start: Sizes },
  ) {
    if (calls.length > 1) {
      tried.calls = this.#calls.narrow(calls.length, callsHint(message))
      return
    }
    // The range alone was too wide, and not the batch that it came in.
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

  /** Some endpoints count each call of a batch, and never take a batch larger than their limit per second. */
  limited(calls: readonly RpcCall[], nowMs: number): void {
    this.#limitedInARow += 1
    if (calls.length === 1 || this.#limitedInARow < 2) return
    this.#calls.learn(this.#calls.narrow(calls.length, undefined), nowMs)
    this.#limitedInARow = 0
  }

  giveUp(nowMs: number): void {
    this.#givenUpUntilMs = nowMs + giveUpMs
  }
}

/** Refusals of a whole request that may be for its size. */
export function isRefusedWhole({ reason, status, said: message }: EndpointFailure): boolean {
  if (reason === 'http_status') return status === 500 && sizeWords.test(message)
  return reason === 'refused' || reason === 'not_json' || (reason === 'bad_answer' && message !== '')
}

/** Those, and an answer that is too long. */
export const mayBeForSize = (failure: EndpointFailure) =>
  failure.reason === 'oversize' || isRefusedWhole(failure)

const sizeWords = /range|limit|too (many|large|wide|big|long)|exceed|maximum|up to|batch|timed? ?out/i

/** An `eth_getLogs` that was refused for its width. @source the error pages of node providers */
export function isRangeRefused(call: RpcCall, answer: RpcAnswer | undefined): boolean {
  if (answer?.ok !== false || rangeWidth(call) <= 1) return false
  const { code, message } = answer
  return code === -32_005 || (code <= -32_600 && code >= -32_602) || sizeWords.test(message)
}

function rangeHint(message: string): number | undefined {
  const [, from, to] = /\[\s*(0x[0-9a-f]{1,15})\s*,\s*(0x[0-9a-f]{1,15})\s*\]/i.exec(message) ?? []
  if (from !== undefined && to !== undefined) return Number(to) - Number(from) + 1
  const [, blocks] = /(\d[\d,]{0,9})[ -]*(?:blocks?\b|range\b)/i.exec(message) ?? []
  const [, limit] = /range\D{0,40}?(\d[\d,]{0,9})/i.exec(message) ?? []
  return numberIn(blocks ?? limit)
}

function callsHint(message: string): number | undefined {
  const [, limit] = /(?:max\w*|limit\w*|up to|more than|exceeds?)\D{0,30}?(\d[\d,]{0,9})/i.exec(message) ?? []
  return numberIn(limit)
}

const numberIn = (text: string | undefined) =>
  text === undefined ? undefined : Number(text.replaceAll(',', ''))

const widestRange = (calls: readonly RpcCall[]) =>
  calls.reduce((widest, call) => Math.max(widest, rangeWidth(call)), 0)

type LogRange = { readonly filter: object; readonly from: number; readonly to: number }

/** The heights that the call asks logs of; `undefined` where it names no two numbers. */
export function logRange({ method, params: [filter] }: RpcCall): LogRange | undefined {
  if (method !== 'eth_getLogs' || typeof filter !== 'object' || filter === null) return undefined
  if (!('fromBlock' in filter) || !('toBlock' in filter)) return undefined
  const [from, to] = [Number(filter.fromBlock), Number(filter.toBlock)]
  return Number.isSafeInteger(from) && Number.isSafeInteger(to) && from <= to
    ? { filter, from, to }
    : undefined
}

/** Blocks that the call asks logs of, by two numbers; 0 for every other call. */
function rangeWidth(call: RpcCall): number {
  const range = logRange(call)
  return range === undefined ? 0 : range.to - range.from + 1
}

/** The call itself, or the parts of its log range. */
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

/** Two halves of a request, or of its one range; undefined where it has none. */
export function halvesOf(calls: readonly RpcCall[]): readonly (readonly RpcCall[])[] | undefined {
  const [call] = calls
  if (call === undefined || isSmallest(calls)) return undefined
  const middle = Math.ceil(calls.length / 2)
  if (calls.length > 1) return [calls.slice(0, middle), calls.slice(middle)]
  return partsOf(call, Math.ceil(rangeWidth(call) / 2)).map((half) => [half])
}

/** One call, and of one block if it asks for logs. */
export const isSmallest = (calls: readonly RpcCall[]) => calls.length === 1 && widestRange(calls) <= 1

/** One answer of the answers to its parts. */
export function joined(answers: readonly RpcAnswer[]): RpcAnswer | undefined {
  const [first, ...others] = answers
  if (others.length === 0) return first
  const refused = answers.find((answer) => !answer.ok || !Array.isArray(answer.result))
  return refused ?? { ok: true, result: answers.flatMap((answer) => (answer.ok ? answer.result : [])) }
}
