import { DomainError, type MaybePromise } from '@causeway/core'
import { answerJson, Counter, Histogram, type HttpMetrics } from '@causeway/http'
import { quoteErrorKinds } from '../pricing/errors.ts'
import { RequestWaits, type WaitPart } from '../pricing/requestWaits.ts'
import { quotingErrors } from './routeErrors.ts'

type TimedReply = Parameters<typeof answerJson>[0] & {
  headers(values: Readonly<Record<string, string>>): unknown
}

/**
 * Sends the JSON text that `answer` makes, with the times that it waited, and counts the outcome. The route's
 * handler returns nothing either, so that Fastify waits for this answer.
 */
export type AnswerTimed = (reply: TimedReply, answer: (waits: RequestWaits) => MaybePromise<string>) => void

/** Routes that quote, as metrics name them. */
type QuotingRoute = 'price' | 'quote' | 'quote_v2'

/** A part of an answer's time. `own` is the time in no wait: the work of this process. */
type Part = WaitPart | 'own' | 'total'

const nowMs = () => performance.now()

const partBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

/** Refusal codes that become a metric label; any other code counts as `other`, so that no caller creates series. */
const knownReasons: ReadonlySet<string> = new Set([
  ...Object.keys(quoteErrorKinds),
  ...Object.values(quotingErrors).flat(),
])

/**
 * Creates the answers of quoting routes: JSON text, with a `Server-Timing` header that tells the time per wait, also on
 * a refusal. Pages of any origin may read the header, as they may read the answer. The same times and the outcome of
 * each quote are metrics.
 */
export function createTimedAnswers({
  registry,
}: Pick<HttpMetrics, 'registry'>): (route: QuotingRoute) => AnswerTimed {
  const registers = [registry]
  const quotes = new Counter({
    name: 'quotes_total',
    help: 'Requests to be quoted by outcome: quoted, refused for a reason, or failed by a bug',
    labelNames: ['route', 'outcome', 'reason'] as const,
    registers,
  })
  const parts = new Histogram({
    name: 'quote_part_duration_seconds',
    help: 'Time of one quote in each part: waiting for chains, liquidity, the signer, the store; own work; in total',
    labelNames: ['route', 'part'] as const,
    buckets: partBuckets,
    registers,
  })
  return (route) => {
    // Every series begins at 0: one that first appears at 1 shows no increase in Prometheus.
    for (const outcome of ['quoted', 'failed']) quotes.inc({ route, outcome, reason: '' }, 0)
    const observeParts = partObserver(parts, route)
    // Resolving labels costs more than counting.
    const quoted = quotes.labels({ route, outcome: 'quoted', reason: '' })
    const count = (outcome: string, reason: string) => quotes.inc({ route, outcome, reason })
    const countError = (error: unknown) => {
      if (!(error instanceof DomainError)) return count('failed', '')
      count('refused', knownReasons.has(error.code) ? error.code : 'other')
    }
    const timeAnswer = (...[reply, answer]: Parameters<AnswerTimed>): MaybePromise<string> => {
      const waits = new RequestWaits({ nowMs })
      const end = () => {
        // Frees the timer that bounds the questions to chains.
        waits.release()
        const spent = waits.spent()
        observeParts(spent)
        // A late answer finds a 503 in its place.
        if (!reply.sent) reply.headers({ 'server-timing': serverTiming(spent), 'timing-allow-origin': '*' })
      }
      const succeed = (text: string) => {
        quoted.inc()
        end()
        return text
      }
      const fail = (error: unknown) => {
        countError(error)
        end()
        throw error
      }
      try {
        const text = answer(waits)
        return typeof text === 'string' ? succeed(text) : text.then(succeed, fail)
      } catch (error) {
        return fail(error)
      }
    }
    return (reply, answer) => answerJson(reply, timeAnswer(reply, answer))
  }
}

type Spent = ReturnType<RequestWaits['spent']>

/** Observes the parts of a route's answers. Resolving labels costs more than observing, so each series is resolved once. */
function partObserver(parts: Histogram<'route' | 'part'>, route: QuotingRoute): (spent: Spent) => void {
  const series = new Map<Part, { observe(seconds: number): void }>()
  const observe = (part: Part, milliseconds: number) => {
    let child = series.get(part)
    if (child === undefined) {
      child = parts.labels({ route, part })
      series.set(part, child)
    }
    child.observe(milliseconds / 1_000)
  }
  return ({ parts: waits, totalMs }) => {
    let ownMs = totalMs
    for (const { part, milliseconds } of waits) {
      observe(part, milliseconds)
      ownMs -= milliseconds
    }
    // Concurrent waits count in full in each of their kinds, so their sum can exceed the total.
    observe('own', Math.max(ownMs, 0))
    observe('total', totalMs)
  }
}

/** `Server-Timing` of the answer: milliseconds of each part and of all. @source W3C Server Timing */
function serverTiming({ parts, totalMs }: Spent): string {
  const partTimings = parts.map(({ part, milliseconds }) => `${part};dur=${milliseconds.toFixed(2)}`)
  return [...partTimings, `total;dur=${totalMs.toFixed(2)}`].join(', ')
}
