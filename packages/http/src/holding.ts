import { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { Exchange, HeldRequests, Slots } from './exchange.ts'
import type { Readiness } from './readiness.ts'

/** The timeout of an idle connection is the wait plus this. */
const silenceMarginMs = 5_000

/**
 * Requests whose handlers wait for news (long polling); handlers call it by `holdRequest`. A waiting request occupies no
 * slot, so waiting requests never keep others out, and the time limits of its handler and of an idle connection stop.
 */
export class Holding implements HeldRequests {
  readonly #slots: Slots
  readonly #readiness: Readiness
  readonly #heldMax: number
  /** One callback for each wait, which ends it; oldest first. */
  readonly #ends = new Set<() => void>()

  constructor(slots: Slots, readiness: Readiness, { heldMax }: { readonly heldMax: number }) {
    this.#slots = slots
    this.#readiness = readiness
    this.#heldMax = heldMax
    readiness.onDraining(() => {
      for (const end of this.#ends) end()
    })
  }

  get heldCount(): number {
    return this.#ends.size
  }

  /** See `holdRequest`. Beyond `heldMax` the oldest wait ends. */
  async hold(
    exchange: Exchange,
    waitMs: number,
    wait: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    if (this.#readiness.isDraining() || exchange.isEnded) return
    const { cancellation, raw } = exchange.request
    const waitEnd = new AbortController()
    const end = () => {
      this.#ends.delete(end)
      waitEnd.abort()
    }
    const [endOldest] = this.#ends
    if (this.#ends.size >= this.#heldMax) endOldest?.()
    this.#ends.add(end)
    const timer = setTimeout(end, waitMs)
    cancellation.addEventListener('abort', end, { once: true })
    extendIdleTimeout(raw.socket, waitMs + silenceMarginMs)
    this.#slots.hold(exchange)
    try {
      await wait(waitEnd.signal)
    } finally {
      clearTimeout(timer)
      cancellation.removeEventListener('abort', end)
      this.#ends.delete(end)
      this.#slots.resume(exchange)
      if (this.#readiness.isDraining()) exchange.reply.header('connection', 'close')
    }
  }
}

/** Node restores its own timeout when the answer ends. A request that a test injects has no socket. */
function extendIdleTimeout(socket: unknown, idleMs: number): void {
  if (socket instanceof Socket) socket.setTimeout(Math.max(socket.timeout ?? 0, idleMs))
}

/**
 * Lets a handler wait for news, at most `waitMs`. `wait` gets a signal and must resolve when it aborts. The signal aborts
 * when the time is over, the caller leaves, the service stops, or too many requests wait and this one is the oldest.
 * @throws what `wait` throws
 */
export function holdRequest(
  { exchange }: FastifyRequest,
  waitMs: number,
  wait: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (exchange === null) throw new Error('nothing is held on a listener that counts no requests')
  return exchange.holding.hold(exchange, waitMs, wait)
}
