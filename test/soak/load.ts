// Requests of all kinds at even distances, whatever becomes of the answers, each with its latency.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sample } from './figures.ts'

export type LoadKind = {
  readonly kind: string
  readonly perSecond: number
  /** The next request, or `undefined` while there is nothing to ask for. */
  next(): { readonly url: string; readonly body?: object } | undefined
}

export type SteadyMix = {
  readonly samples: readonly Sample[]
  /** Failures by kind and answer, with their number. */
  readonly failures: ReadonlyMap<string, number>
  /** Sends nothing more, and waits for the answers that are under way. */
  stop(): Promise<void>
}

const patienceMs = 10_000

/** @param sinceMs milliseconds since the soak began */
export function startSteadyMix(
  kinds: readonly LoadKind[],
  options: { readonly headers: Readonly<Record<string, string>>; readonly sinceMs: () => number },
): SteadyMix {
  const { headers, sinceMs } = options
  const samples: Sample[] = []
  const failures = new Map<string, number>()
  const underWay = new Set<Promise<void>>()
  let isOver = false

  async function send(kind: string, dueMs: number, { url, body }: { url: string; body?: object }) {
    const outcome = await fetch(url, {
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(patienceMs),
    }).then(
      async (answer) => {
        const text = await answer.text()
        return answer.status === 200 ? 'good' : `${answer.status} ${codeOf(text)}`
      },
      (error: unknown) => (error instanceof Error ? error.name : 'no answer'),
    )
    samples.push({ kind, dueMs, latencyMs: sinceMs() - dueMs, isGood: outcome === 'good' })
    if (outcome !== 'good')
      failures.set(`${kind}: ${outcome}`, (failures.get(`${kind}: ${outcome}`) ?? 0) + 1)
  }

  async function keepSending({ kind, perSecond, next }: LoadKind) {
    const firstMs = sinceMs()
    for (let count = 0; !isOver; count += 1) {
      const dueMs = firstMs + (count * 1_000) / perSecond
      await sleep(Math.max(0, dueMs - sinceMs()))
      const asked = next()
      if (asked === undefined) continue
      const sent = send(kind, dueMs, asked).finally(() => underWay.delete(sent))
      underWay.add(sent)
    }
  }

  const senders = kinds.map(keepSending)
  return {
    samples,
    failures,
    async stop() {
      isOver = true
      await Promise.all(senders)
      await Promise.all(underWay)
    },
  }
}

const codeOf = (text: string): string =>
  /"(?:errorCode|code|error)":"([^"]{1,60})"/.exec(text)?.[1] ?? text.slice(0, 60)
