import type { Secret } from '@causeway/core'
import type { Tracing } from '@causeway/http'
import { type WorkItem, workSchema } from './workItems.ts'

/** Where work comes from. */
export interface WorkSource {
  /** Open items, oldest first. */
  open(): Promise<readonly WorkItem[]>
  /**
   * Tells the transaction before it is sent; safe to repeat. `closed`: it must never be sent.
   * @param said.replaces the one that was told before, of the same nonce
   * @param said.validUntil Unix seconds; it has no effect in a later block
   */
  report(
    id: string,
    txHash: string,
    said: { readonly replaces?: string | undefined; readonly validUntil?: number | undefined },
  ): Promise<'accepted' | 'closed'>
  /** Nothing was sent, or what was sent can have no effect any more. */
  failed(id: string, reason: string): Promise<void>
}

const requestTimeoutMs = 5_000
const pageSize = 50
/** The item is unknown or no longer open. */
const closedStatuses = [404, 409]

/** The interface that quote-api has for solvers. */
export function createWorkClient(quoteApiUrl: string, apiKey: Secret, tracing?: Tracing): WorkSource {
  const { host } = new URL(quoteApiUrl)
  const send = (path: string, body?: object): Promise<Response> => {
    const ask = () => exchange(path, body)
    return tracing === undefined
      ? ask()
      : tracing.during('quote-api', { 'server.address': host }, ask, 'client')
  }
  function exchange(path: string, body?: object): Promise<Response> {
    return fetch(`${quoteApiUrl}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'x-api-key': apiKey.reveal(),
        ...tracing?.headers(),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(requestTimeoutMs),
    })
  }
  async function tell(path: string, body: object): Promise<'accepted' | 'closed'> {
    const response = await send(path, body)
    await response.arrayBuffer()
    if (response.ok) return 'accepted'
    if (closedStatuses.includes(response.status)) return 'closed'
    throw new Error(`${path} answered ${response.status}`)
  }
  return {
    async open() {
      const response = await send(`/solver/work?limit=${pageSize}`)
      if (!response.ok) {
        await response.arrayBuffer()
        throw new Error(`/solver/work answered ${response.status}`)
      }
      return workSchema.parse(await response.json()).items
    },
    report: (id, txHash, said) => tell(`/solver/work/${id}/report`, { txHash, ...said }),
    async failed(id, reason) {
      await tell(`/solver/work/${id}/failed`, { reason })
    },
  }
}
