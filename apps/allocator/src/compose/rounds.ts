import { startDeadline } from '@causeway/core'
import type { ReadinessCheck } from '@causeway/http'
import type { Logger } from 'pino'
import type { ServiceStops } from '../hub/serviceStops.ts'
import type { AllocatorRound } from '../rounds/allocatorRound.ts'
import type { StateFiles } from '../state/stateFiles.ts'

/** Time limit of one round, including its wait for blocks. */
const roundTimeoutMs = 120_000
/** Time that a stop of the process waits for the round under way. */
const lastRoundMs = 15_000
/** Without a successful round for so long the allocator is not ready. */
const lateMs = 30_000
/** Interval between reads of the key's gas balance. */
const gasEveryMs = 30_000

export type RoundsOptions = {
  readonly round: AllocatorRound
  readonly state: Pick<StateFiles, 'readStop'>
  readonly stops: ServiceStops
  /** Chains of the depositories. */
  readonly chains: readonly string[]
  readonly logger: Logger
  readonly pollIntervalMs: number
  readonly readGas: () => Promise<bigint | undefined>
  readonly countFailed: () => void
}

/**
 * Repeats the allocator's round, one at a time, with readiness checks and the gas balance. A stop does not
 * end the repetition: each round then only finds the stop in its state and counts as successful, so that of
 * the checks `switch` fails and `hub` does not. The first round after `resume` signs again.
 */
export class Rounds {
  readonly #options: RoundsOptions
  readonly #stopping = new AbortController()
  #ended = Promise.resolve()
  #isFailing = false
  /** Reason of the operator's stop or of a changed block; undefined while payloads are signed. */
  #stopReason: string | undefined
  /** Time of the last successful round, by `performance.now()`. */
  #lastGoodMs: number | undefined
  #gas: { readonly atMs: number; readonly wei: bigint | undefined } | undefined

  constructor(options: RoundsOptions) {
    this.#options = options
  }

  start(): void {
    this.#ended = this.#repeat()
  }

  /** Ends the round under way. Nothing is lost: signatures that it did not send are made and stored by the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    const waiting = new AbortController()
    await Promise.race([this.#ended, pause(lastRoundMs, waiting.signal)])
    waiting.abort()
  }

  isStopped(): boolean {
    return this.#stopReason !== undefined
  }

  gasBalanceWei(): bigint | undefined {
    return this.#gas?.wei
  }

  readonly checks: readonly ReadinessCheck[] = [
    {
      name: 'hub',
      check: async () => {
        const lastGoodMs = this.#lastGoodMs
        if (lastGoodMs === undefined || performance.now() - lastGoodMs > lateMs) {
          throw new Error('no round has worked lately')
        }
      },
    },
    {
      name: 'switch',
      check: async () => {
        if (this.#stopReason !== undefined) throw new Error(`stopped: ${this.#stopReason}`)
      },
    },
    {
      name: 'stops',
      // Shown without making the allocator unready: it signs for other chains meanwhile.
      isShownOnly: true,
      check: async () => {
        const { stopped } = this.#options.stops.known()
        if (stopped.length > 0) throw new Error(`nothing is signed for ${stopped.join(', ')}`)
      },
    },
  ]

  async #repeat(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await this.#runOnce()
      await pause(this.#options.pollIntervalMs, this.#stopping.signal)
    }
  }

  async #runOnce(): Promise<void> {
    const { round, stops, chains, logger } = this.#options
    const deadline = startDeadline(this.#stopping.signal, roundTimeoutMs)
    try {
      await this.#readSwitch()
      // Asks quote-api for stops even if there is nothing to sign: it shows operators which allocators know of a stop.
      if (chains[0] !== undefined) await stops.stopOf(chains[0])
      await round.run(deadline.signal)
      // Read again, because the round itself stops the allocator if a final block changed.
      await this.#readSwitch()
      this.#lastGoodMs = performance.now()
      if (this.#isFailing) logger.info({ event: 'round_works' }, 'rounds work again')
      this.#isFailing = false
    } catch (error) {
      if (this.#stopping.signal.aborted) return
      this.#noteFailure(error)
    } finally {
      deadline.release()
    }
    await this.#readGas()
  }

  #noteFailure(error: unknown): void {
    const { logger, countFailed } = this.#options
    countFailed()
    if (!this.#isFailing)
      logger.warn({ event: 'round_failed', err: error }, 'a round failed; the next one goes on')
    this.#isFailing = true
  }

  async #readSwitch(): Promise<void> {
    const { state, logger } = this.#options
    const stop = await state.readStop()
    if (stop?.reason === this.#stopReason) return
    this.#stopReason = stop?.reason
    if (stop === undefined) logger.warn({ event: 'resumed' }, 'payloads are signed again')
    else logger.warn({ event: 'stopped', reason: stop.reason, since: stop.since }, 'nothing is signed')
  }

  /** Reads the gas balance, also after a failed round: missing gas may be why it failed. */
  async #readGas(): Promise<void> {
    if (this.#gas !== undefined && performance.now() - this.#gas.atMs <= gasEveryMs) return
    // The balance is for metrics alone, so an unreadable one is left out and fails no round.
    this.#gas = { atMs: performance.now(), wei: await this.#options.readGas().catch(() => undefined) }
  }
}

/** Resolves after `ms`, or as soon as `signal` aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', finish)
      resolve()
    }
    const timer = setTimeout(finish, ms)
    signal.addEventListener('abort', finish)
  })
}
