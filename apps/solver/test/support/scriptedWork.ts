import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { z } from 'zod'

export type ScriptedItem = { readonly id: string; readonly kind: string; readonly payload: object }

/** The solver's interface of quote-api, played by a test: items are open until they are reported or failed. */
export type ScriptedWork = {
  readonly url: string
  readonly apiKey: string
  add(item: ScriptedItem): void
  /** Lists an item again that was reported or given up. */
  reopen(id: string): void
  /** So many of the next reports come too late: the item is closed by then. */
  refuseReports(count: number): void
  /** Hashes by item, every report of them. */
  readonly reports: ReadonlyMap<string, readonly string[]>
  readonly failures: ReadonlyMap<string, readonly string[]>
  /** Reason that an item is not begun, which leaves it open. */
  readonly waits: ReadonlyMap<string, readonly string[]>
  /** So many of the next reports count and end without an answer. */
  dropReports(count: number): void
  /** Questions for work that came so far, but for those that are held. */
  listings(): number
  /** Chains that the last question named as stopped. */
  stopped(): string | null
  /** Unattested payments that the last question told of. */
  unattested(): string | null
}

const reportSchema = z.object({
  txHash: z.string().optional(),
  replaces: z.string().optional(),
  reason: z.string().optional(),
})

/** @param options.holds as this release does; by default it knows of no `waitMs`, as releases before */
export async function startScriptedWork({ holds = false } = {}): Promise<ScriptedWork> {
  const apiKey = 'solver-key-of-a-test'
  const items = new Map<string, ScriptedItem>()
  const closed = new Set<string>()
  const reports = new Map<string, string[]>()
  const failures = new Map<string, string[]>()
  const waits = new Map<string, string[]>()
  const reopenings = new Map<string, number>()
  const held = createHeld(() => {
    const open = [...items.values()].filter(({ id }) => !closed.has(id))
    return { items: open, marks: open.map(({ id }) => `${id}_${reopenings.get(id) ?? 0}`) }
  })
  let listings = 0
  let stopped: string | null = null
  let unattested: string | null = null
  let drops = 0
  let refusals = 0
  const server = createServer(async (request, response) => {
    const answer = (status: number, body: object) => {
      response.statusCode = status
      response.end(JSON.stringify(body))
    }
    if (request.headers['x-api-key'] !== apiKey) return answer(401, { message: 'Wrong key.' })
    if (request.method === 'GET') {
      const { searchParams } = new URL(request.url ?? '', 'http://work')
      stopped = searchParams.get('stopped')
      unattested = searchParams.get('unattested')
      const waitMs = holds ? searchParams.get('waitMs') : null
      if (waitMs !== null)
        return held.hold({ waitMs: Number(waitMs), known: searchParams.get('known') ?? '' }, response)
      listings += 1
      return answer(200, { items: held.open() })
    }
    const [, , , id = '', verb] = (request.url ?? '').split('/')
    const { txHash, replaces, reason } = reportSchema.parse(JSON.parse(await textOf(request)))
    if (!items.has(id)) return answer(404, { message: 'Unknown.' })
    if (verb === 'waits' && reason !== undefined) {
      keep(waits, id, reason)
      return answer(200, { message: 'Success' })
    }
    if (verb === 'report' && refusals > 0) {
      refusals -= 1
      closed.add(id)
    }
    const known = reports.get(id)?.at(-1)
    const isRepeated = verb === 'report' && known !== undefined && (known === txHash || known === replaces)
    if (closed.has(id) && !isRepeated) return answer(409, { message: 'Not open.' })
    closed.add(id)
    if (verb === 'report' && txHash !== undefined && known !== txHash) keep(reports, id, txHash)
    if (verb === 'failed' && reason !== undefined) keep(failures, id, reason)
    if (drops > 0) {
      drops -= 1
      return request.socket.destroy()
    }
    return answer(200, { message: 'Success' })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  // CAST: a server that listens on a port has an address of this shape.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    apiKey,
    add(item) {
      items.set(item.id, item)
      held.changed()
    },
    reopen(id) {
      closed.delete(id)
      reopenings.set(id, (reopenings.get(id) ?? 0) + 1)
      held.changed()
    },
    listings: () => listings,
    stopped: () => stopped,
    unattested: () => unattested,
    refuseReports(count) {
      refusals = count
    },
    reports,
    failures,
    waits,
    dropReports(count) {
      drops = count
    },
  }
}

type Open = { readonly items: readonly ScriptedItem[]; readonly marks: readonly string[] }

/** Questions that wait until something is open that they do not know. */
function createHeld(list: () => Open) {
  const waiting = new Set<() => boolean>()
  return {
    open: () => list().items,
    changed() {
      for (const tryAgain of [...waiting]) if (tryAgain()) waiting.delete(tryAgain)
    },
    hold({ waitMs, known }: { waitMs: number; known: string }, response: ServerResponse) {
      const marks = new Set(known.split('__'))
      const answer = () => {
        const open = list()
        response.end(JSON.stringify({ items: open.items, known: open.marks.join('__') }))
      }
      const tryNow = () => {
        if (list().marks.every((mark) => marks.has(mark))) return false
        clearTimeout(timer)
        answer()
        return true
      }
      const timer = setTimeout(() => {
        waiting.delete(tryNow)
        answer()
      }, waitMs)
      if (!tryNow()) waiting.add(tryNow)
    },
  }
}

function keep(lists: Map<string, string[]>, id: string, text: string): void {
  lists.set(id, [...(lists.get(id) ?? []), text])
}

async function textOf(request: AsyncIterable<unknown>): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}
