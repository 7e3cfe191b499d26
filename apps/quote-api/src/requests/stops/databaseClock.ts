/** This process's clocks, both in Unix milliseconds. */
type HostClocks = {
  /** The host's time, which may be wrong and be set. */
  readonly host: () => number
  /** Begins with the host's time and moves on by itself, whatever the host's clock is set to. */
  readonly steady: () => number
}

const ownClocks: HostClocks = {
  host: () => Date.now(),
  steady: () => performance.timeOrigin + performance.now(),
}

/**
 * The database's time, which all processes beside it share. Between measurements it moves by a clock that is never set, so
 * that a step of the host's clock makes nothing old or due. Until the first measurement it is the host's time.
 * @source rules O-63 and O-66
 */
export class DatabaseClock {
  readonly #clocks: HostClocks
  #steadyOffsetMs = 0
  #hostOffsetMs = 0

  constructor(clocks: HostClocks = ownClocks) {
    this.#clocks = clocks
  }

  /** Unix milliseconds. */
  now(): number {
    return this.#clocks.steady() - this.#steadyOffsetMs
  }

  /** Milliseconds by which the host's clock was surely ahead of the database's when last measured; behind if negative. */
  hostOffsetMs(): number {
    return this.#hostOffsetMs
  }

  /** Measures by an answer of the database that tells its time, in Unix milliseconds. @throws errors of `read` */
  async measure<Answer extends { readonly clockMs: number }>(read: () => Promise<Answer>): Promise<Answer> {
    const { host, steady } = this.#clocks
    const sent = { host: host(), steady: steady() }
    const answer = await read()
    this.#hostOffsetMs = sureOffsetMs(sent.host, answer.clockMs, host())
    this.#steadyOffsetMs = sureOffsetMs(sent.steady, answer.clockMs, steady())
    return answer
  }
}

/**
 * Milliseconds by which a clock is surely ahead of the database's, or behind it if negative. The database's time lies
 * between question and answer, so an offset within that interval counts as zero. Pure.
 */
function sureOffsetMs(sentMs: number, clockMs: number, answeredMs: number): number {
  return Math.max(sentMs - clockMs, 0) + Math.min(answeredMs - clockMs, 0)
}
