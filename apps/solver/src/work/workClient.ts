import { type Secret, startDeadline } from '@causeway/core'
import type { Tracing } from '@causeway/http'
import { offeredSchema, type WorkItem, workSchema } from './workItems.ts'

/** quote-api's interface for solvers: gives work items, and takes reports on them. */
export interface WorkSource {
  /** Open items, oldest first. */
  open(): Promise<readonly WorkItem[]>
  /**
   * Open items, by a long poll: the service answers once there is an item that `known` does not cover, after `waitMs` at
   * the latest.
   * @param query.known cursor of the answer before; undefined for the first request
   * @returns the cursor of this answer as `known`; undefined if the service cannot hold requests and answered at once
   */
  offered(query: {
    readonly waitMs: number
    readonly known: string | undefined
    readonly signal: AbortSignal
  }): Promise<{ readonly items: readonly WorkItem[]; readonly known?: string | undefined }>
  /**
   * Reports the hash of a transaction before it is sent; safe to repeat. `closed`: it must never be sent.
   * @param details.replaces hash that was reported before, of the same record
   * @param details.validUntil Unix seconds; the transaction has no effect in a later block
   */
  report(
    id: string,
    txHash: string,
    details: { readonly replaces?: string | undefined; readonly validUntil?: number | undefined },
  ): Promise<'accepted' | 'closed'>
  /** Reports that an attempt failed: nothing was sent, or what was sent can have no effect any more. */
  failed(id: string, reason: string): Promise<void>
  /**
   * Reports why an item waits: nothing was sent, no attempt has failed, and the solver looks at it again. Releases of
   * quote-api without this route answer 404.
   */
  waits(id: string, reason: string): Promise<void>
}

const requestTimeoutMs = 5_000
const pageSize = 50
/** Statuses by which the service says that an item is unknown or no longer open. */
const closedStatuses = [404, 409]

type WorkClientOptions = {
  readonly tracing?: Tracing | undefined
  /** Chain ids on which nothing is paid now: quote-api sells nothing there. */
  readonly stopped?: () => readonly number[]
  /** `termsQuery` of this solver: sent with every request for work. */
  readonly terms?: Readonly<Record<string, string>>
  /** Called with every answer: the terms that the service contradicts, in its words. */
  readonly onDifferences?: (differences: readonly string[]) => void
  /** Payments that are not attested, against their caps; chain 0 is all of them together. */
  readonly unattested?: () => readonly {
    readonly chainId: number
    readonly paidMicroUsd: bigint
    readonly maxMicroUsd: bigint
  }[]
}

type Service = {
  readonly quoteApiUrl: string
  readonly apiKey: Secret
  readonly tracing: Tracing | undefined
}

/** Opens no connection; each method makes one request, which ends with its timeout. */
export function createWorkClient(
  quoteApiUrl: string,
  apiKey: Secret,
  options: WorkClientOptions = {},
): WorkSource {
  const { tracing, onDifferences = () => undefined } = options
  const service: Service = { quoteApiUrl, apiKey, tracing }
  return {
    async open() {
      const response = await exchangeTraced(service, `/solver/work?${workQuery(options, {})}`)
      if (!response.ok) {
        // Read to its end, so that the connection can be used again.
        await response.arrayBuffer()
        throw new Error(`/solver/work answered ${response.status}`)
      }
      const { items, differences } = workSchema.parse(await response.json())
      onDifferences(differences)
      return items
    },
    async offered({ waitMs, known, signal }) {
      const query = workQuery(options, { waitMs: String(waitMs), ...(known !== undefined && { known }) })
      const deadline = startDeadline(signal, waitMs + requestTimeoutMs)
      try {
        // A long poll is no part of a trace: its wait is not spent on any item.
        const response = await exchange(service, `/solver/work?${query}`, undefined, deadline.signal)
        if (!response.ok) throw new Error(`/solver/work answered ${response.status}`)
        const answer = offeredSchema.parse(await response.json())
        onDifferences(answer.differences)
        return answer
      } finally {
        // Ends the connection of a refused answer, which was not read to its end.
        deadline.end()
      }
    },
    report: (id, txHash, details) => post(service, `/solver/work/${id}/report`, { txHash, ...details }),
    async failed(id, reason) {
      await post(service, `/solver/work/${id}/failed`, { reason })
    },
    async waits(id, reason) {
      await post(service, `/solver/work/${id}/waits`, { reason })
    },
  }
}

/** @throws Error for any other refusal than that of a closed item */
async function post(service: Service, path: string, body: object): Promise<'accepted' | 'closed'> {
  const response = await exchangeTraced(service, path, body)
  await response.arrayBuffer()
  if (response.ok) return 'accepted'
  if (closedStatuses.includes(response.status)) return 'closed'
  throw new Error(`${path} answered ${response.status}`)
}

function exchangeTraced(service: Service, path: string, body?: object): Promise<Response> {
  const { tracing, quoteApiUrl } = service
  if (tracing === undefined) return exchange(service, path, body)
  const attributes = { 'server.address': new URL(quoteApiUrl).host }
  return tracing.runSpan('quote-api', attributes, () => exchange(service, path, body), 'client')
}

function exchange(
  { quoteApiUrl, apiKey, tracing }: Service,
  path: string,
  body?: object,
  signal = AbortSignal.timeout(requestTimeoutMs),
): Promise<Response> {
  return fetch(`${quoteApiUrl}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'x-api-key': apiKey.reveal(),
      ...tracing?.headers(),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal,
  })
}

/** Query of every request for work: the solver's terms, its stopped chains and its unattested payments. */
function workQuery(
  { terms = {}, stopped = () => [], unattested = () => [] }: WorkClientOptions,
  members: Readonly<Record<string, string>>,
): URLSearchParams {
  const stoppedChains = stopped()
  const exposures = unattested().map(
    ({ chainId, paidMicroUsd, maxMicroUsd }) => `${chainId}:${paidMicroUsd}:${maxMicroUsd}`,
  )
  return new URLSearchParams({
    limit: String(pageSize),
    ...members,
    ...terms,
    ...(stoppedChains.length > 0 && { stopped: stoppedChains.join() }),
    ...(exposures.length > 0 && { unattested: exposures.join() }),
  })
}
