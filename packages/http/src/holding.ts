import { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { Exchange, HeldRequests, Slots } from './exchange.ts'
import type { Readiness } from './readiness.ts'

/** Silence that a connection may have beyond the wait itself. */
const silenceMarginMs = 5_000

/**
 * Requests that wait for news. They take no place of those that are worked on, so that no number of them keeps
 * another request out, and neither their handler's time limit nor the one of a silent connection runs meanwhile.
 */
export class Holding implements HeldRequests {
  readonly #slots: Slots
  readonly #readiness: Readiness
  readonly #heldMax: number
  /** Callbacks that each end one wait, oldest first. */
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

  /** Waits as `holdRequest` says. Beyond `heldMax` the oldest wait ends, to make room. */
  async hold(
    exchange: Exchange,
    waitMs: number,
    wait: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    if (this.#readiness.isDraining() || exchange.isEnded) return
    const { cancellation, raw } = exchange.request
    const over = new AbortController()
    const end = () => {
      this.#ends.delete(end)
      over.abort()
    }
    const [endOldest] = this.#ends
    if (this.#ends.size >= this.#heldMax) endOldest?.()
    this.#ends.add(end)
    const timer = setTimeout(end, waitMs)
    cancellation.addEventListener('abort', end, { once: true })
    outlast(raw.socket, waitMs + silenceMarginMs)
    this.#slots.hold(exchange)
    try {
      await wait(over.signal)
    } finally {
      clearTimeout(timer)
      cancellation.removeEventListener('abort', end)
      this.#ends.delete(end)
      this.#slots.resume(exchange)
      if (this.#readiness.isDraining()) exchange.reply.header('connection', 'close')
    }
  }
}

/** Node sets its own limits again with the end of the answer. An injected request has no socket. */
function outlast(socket: unknown, silenceMs: number): void {
  if (socket instanceof Socket) socket.setTimeout(Math.max(socket.timeout ?? 0, silenceMs))
}

/**
 * Waits within a request. `wait` gets a signal that aborts when the time is over, the caller has left, the service stops,
 * or so many others wait that this one, which has waited the longest, makes room; it resolves then or before.
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
