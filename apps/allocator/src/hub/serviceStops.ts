import { z } from 'zod'

/** Stops of chains at quote-api, by operators or oracles: the allocator obeys them beside its own stop. */
export interface ServiceStops {
  /**
   * Reason that no payload is signed for a chain now; undefined if signing is allowed. Never rejects: without an answer
   * the chain counts as stopped.
   */
  stopOf(chain: string): Promise<string | undefined>
  /** The last answer of quote-api; `isRead` is false while it does not answer, and all chains then count as stopped. */
  known(): { readonly isRead: boolean; readonly stopped: readonly string[] }
}

const answerSchema = z.object({ all: z.boolean(), chains: z.array(z.string().max(100)).max(10_000) })

const timeoutMs = 3_000
/** An answer serves so long for several payloads; no payload is signed by an older one. */
const freshMs = 1_000

/** For an allocator without `STOPS_URL`, which obeys its own stop alone. */
export const noServiceStops: ServiceStops = {
  stopOf: async () => undefined,
  known: () => ({ isRead: true, stopped: [] }),
}

/**
 * Reads `GET /stops` of quote-api's operations listener. An answer that is missing, late or unreadable stops all
 * chains: otherwise whoever silences quote-api would lift its stops.
 * @param options.url without a trailing slash
 * @source rule O-44
 */
export function createServiceStops(options: {
  readonly url: string
  readonly chains: readonly string[]
  readonly nowMs: () => number
  readonly onChange: (stopped: readonly string[], reason: string) => void
}): ServiceStops {
  const { url, chains, nowMs, onChange } = options
  const silenceReason = 'quote-api does not say what is stopped (STOPS_URL)'
  /** The last request holds its answer as a promise, so that calls during a request wait for its answer instead of asking again. */
  let lastRequest:
    | { readonly atMs: number; readonly answer: Promise<ReadonlyMap<string, string>> }
    | undefined
  let stopReasons: ReadonlyMap<string, string> = new Map()
  let isRead = false
  const listReasons = () => [...stopReasons.values()].join()

  async function ask(): Promise<ReadonlyMap<string, string>> {
    const reasonsBefore = listReasons()
    try {
      // `reader` lets quote-api tell operators who has read its stops.
      const response = await fetch(`${url}/stops?reader=allocator`, {
        signal: AbortSignal.timeout(timeoutMs),
      })
      if (!response.ok) throw new Error(`/stops answered ${response.status}`)
      const { all, chains: stoppedChains } = answerSchema.parse(await response.json())
      const stopped = chains.filter((chain) => all || stoppedChains.includes(chain))
      stopReasons = new Map(stopped.map((chain) => [chain, 'an operator stopped the chain at quote-api']))
      isRead = true
    } catch {
      // The error is not logged: it may hold the URL.
      stopReasons = new Map(chains.map((chain) => [chain, silenceReason]))
      isRead = false
    }
    if (listReasons() !== reasonsBefore)
      onChange([...stopReasons.keys()], [...stopReasons.values()][0] ?? 'nothing is stopped')
    return stopReasons
  }

  return {
    async stopOf(chain) {
      if (lastRequest === undefined || nowMs() - lastRequest.atMs > freshMs)
        lastRequest = { atMs: nowMs(), answer: ask() }
      return (await lastRequest.answer).get(chain)
    },
    known: () => ({ isRead, stopped: [...stopReasons.keys()] }),
  }
}
