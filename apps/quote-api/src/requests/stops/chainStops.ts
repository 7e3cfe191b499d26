import { setTimeout as sleep } from 'node:timers/promises'
import { type CurrencyKey, DomainError, type Hex, type SqlDatabase } from '@causeway/core'
import { clockLimitMs } from '@causeway/core/config'
import { toBytes } from '../orders/orderColumns.ts'
import type { BrokenAssumption } from './assumptions.ts'
import type { DatabaseClock } from './databaseClock.ts'
import { type Difference, differencesOf, floorsOf, type OwnTerms } from './solverTerms.ts'
import { readStopNews } from './stopNews.ts'
import { clockRefusal, refusalBy } from './stopRefusals.ts'
import type { ChainStop } from './stopStore.ts'

/**
 * The chain stops that this process obeys, at most a second old: those of the database, and its own for differences with
 * solvers and changed networks. Quotes and executions ask it before they begin anything.
 */
export interface ChainStops {
  /** Stops in force. */
  list(): readonly ChainStop[]
  /** Differences between the terms of this service and those of solvers. */
  differences(): readonly Difference[]
  /** Amounts that solvers keep in their wallets, in smallest units; the same object until a value changes. */
  floors(): ReadonlyMap<CurrencyKey, bigint>
  /**
   * Refuses to begin anything on a stopped chain.
   * @param paidOn chain on which a solver would pay; undefined if the user executes alone
   * @throws QuoteError CHAIN_STOPPED, SERVICE_UNAVAILABLE while the clock of this process is off
   */
  refuse(origin: number, paidOn: number | undefined): void
  /** @throws ClockOffError while this process and the database disagree about the time */
  requireClock(): void
  /** Unix milliseconds by the database's clock. */
  now(): number
  /**
   * As `refuse`, for a request's order; not for an unknown one.
   * @throws QuoteError CHAIN_STOPPED, SERVICE_UNAVAILABLE
   */
  refuseRequest(requestId: Hex): Promise<void>
  /** Reads stops, terms and clock now. Before the first call no chain counts as stopped. */
  refresh(): Promise<void>
  /** Reads them every half second until closed. While that fails, those that were read last hold. */
  start(): void
  close(): Promise<void>
}

const refreshMs = 500

type ChainStopsOptions = {
  readonly database: Pick<SqlDatabase, 'query'>
  readonly own: OwnTerms
  /** Assumptions of configuration files that networks break at present. */
  readonly broken: () => readonly BrokenAssumption[]
  /** Called with the stops in force after each change. */
  readonly onChange: (stops: readonly ChainStop[]) => void
  readonly onFailure: (error: unknown) => void
  readonly clock: DatabaseClock
}

export const createChainStops = (options: ChainStopsOptions): ChainStops => new RefreshedStops(options)

class RefreshedStops implements ChainStops {
  readonly #options: ChainStopsOptions
  readonly #closing = new AbortController()
  #stops: readonly ChainStop[] = []
  #differences: readonly Difference[] = []
  #floors: ReadonlyMap<CurrencyKey, bigint> = new Map()
  #refreshLoop: Promise<void> = Promise.resolve()

  constructor(options: ChainStopsOptions) {
    this.#options = options
  }

  list(): readonly ChainStop[] {
    return this.#stops
  }

  differences(): readonly Difference[] {
    return this.#differences
  }

  floors(): ReadonlyMap<CurrencyKey, bigint> {
    return this.#floors
  }

  refuse(origin: number, paidOn: number | undefined): void {
    if (this.#isClockOff()) throw clockRefusal()
    for (const stop of this.#stops) {
      const refusal = refusalBy(stop, origin, paidOn)
      if (refusal !== undefined) throw refusal
    }
  }

  requireClock(): void {
    if (this.#isClockOff()) throw new ClockOffError(this.#options.clock.hostOffsetMs())
  }

  now(): number {
    return this.#options.clock.now()
  }

  async refuseRequest(requestId: Hex): Promise<void> {
    if (this.#isClockOff()) throw clockRefusal()
    if (this.#stops.length === 0) return
    const [row] = await this.#options.database.query<{
      origin_chain_id: bigint
      destination_chain_id: bigint
    }>('select origin_chain_id, destination_chain_id from orders where request_id = $1', [toBytes(requestId)])
    if (row !== undefined) this.refuse(Number(row.origin_chain_id), Number(row.destination_chain_id))
  }

  async refresh(): Promise<void> {
    const { database, own, broken, onChange, clock } = this.#options
    const before = this.#stops
    const { stops: stored, terms: solverTerms } = await clock.measure(() => readStopNews(database))
    this.#differences = differencesOf(own, solverTerms)
    const floors = floorsOf(solverTerms)
    // An object stays while none of its values changes, so that callers can compare it.
    if (hasChanged(floors, this.#floors)) this.#floors = floors
    const moment = { before, now: new Date(clock.now()) }
    const termStops = ownStopsOf('terms', this.#differences, moment)
    this.#stops = [...stored, ...termStops, ...ownStopsOf('network', broken(), moment)]
    if (namesOf(this.#stops) !== namesOf(before)) onChange(this.#stops)
  }

  start(): void {
    this.#refreshLoop = this.#refreshUntilClosed()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#refreshLoop
  }

  #isClockOff(): boolean {
    return Math.abs(this.#options.clock.hostOffsetMs()) > clockLimitMs
  }

  async #refreshUntilClosed(): Promise<void> {
    const { signal } = this.#closing
    let isFailing = false
    while (!signal.aborted) {
      await sleep(refreshMs, undefined, { signal }).catch(() => {})
      try {
        await this.refresh()
        isFailing = false
      } catch (error) {
        if (!isFailing && !signal.aborted) this.#options.onFailure(error)
        isFailing = true
      }
    }
  }
}

const hasChanged = (
  one: ReadonlyMap<CurrencyKey, bigint>,
  other: ReadonlyMap<CurrencyKey, bigint>,
): boolean => one.size !== other.size || [...one].some(([key, amount]) => other.get(key) !== amount)

/** Text that differs if a stop begins or ends. */
const namesOf = (stops: readonly ChainStop[]): string =>
  stops
    .map(({ chainId, toldBy }) => `${chainId} ${toldBy}`)
    .sort()
    .join()

/**
 * Stops that this process derives by itself, one per chain.
 * @param before stops before this refresh, from which a stop that goes on takes its beginning
 */
function ownStopsOf(
  toldBy: 'terms' | 'network',
  reasons: readonly Pick<Difference, 'chainId' | 'text' | 'isStopping'>[],
  { before, now }: { readonly before: readonly ChainStop[]; readonly now: Date },
): readonly ChainStop[] {
  const stopping = reasons.filter(({ isStopping }) => isStopping)
  return [...new Set(stopping.map(({ chainId }) => chainId))].map((chainId) => {
    const since = before.find((stop) => stop.toldBy === toldBy && stop.chainId === chainId)?.since ?? now
    const texts = stopping.filter((reason) => reason.chainId === chainId).map(({ text }) => text)
    return { chainId, toldBy, reason: texts.join('; '), actor: 'quote-api', since }
  })
}

/** Makes this process unready, because another one may have the right time. */
class ClockOffError extends DomainError {
  readonly code = 'CLOCK_OFF'
  readonly kind = 'upstream_unavailable'

  constructor(offsetMs: number) {
    const seconds = Math.round(Math.abs(offsetMs) / 1_000)
    super(`The clock of this machine is ${seconds} s ${offsetMs > 0 ? 'ahead of' : 'behind'} the database's.`)
  }
}
