import { startDeadline } from '@causeway/core'
import type { ReadinessCheck } from '@causeway/http'
import type { Logger } from 'pino'
import type { ServiceStops } from '../hub/serviceStops.ts'
import type { AllocatorRound } from '../rounds/allocatorRound.ts'
import type { StateFiles } from '../state/stateFiles.ts'

/** Rounds that go on until they are stopped, and what operators see of them. */
export type Rounds = {
  start(): void
  /** Ends the round under way; what it sent is mined, and what it did not the next start signs and stores. */
  stop(): Promise<void>
  isStopped(): boolean
  gasBalanceWei(): bigint | undefined
  readonly checks: readonly ReadinessCheck[]
}

/** Of one round, with the blocks that it waits for. */
const roundTimeoutMs = 120_000
/** A reading that hangs is not waited for. */
const lastRoundMs = 15_000
/** A round may fail now and then; for longer than this the allocator is not ready. */
const lateMs = 30_000
const gasEveryMs = 30_000

export function startRounds(options: {
  readonly round: AllocatorRound
  readonly state: Pick<StateFiles, 'readStop'>
  readonly stops: ServiceStops
  /** Chains of the depositories. */
  readonly chains: readonly string[]
  readonly logger: Logger
  readonly pollIntervalMs: number
  readonly readGas: () => Promise<bigint | undefined>
  readonly countFailed: () => void
}): Rounds {
  const { round, state, stops, chains, logger, pollIntervalMs, readGas, countFailed } = options
  const stopping = new AbortController()
  let ended = Promise.resolve()
  let isFailing = false
  let stopReason: string | undefined
  let lastGoodMs: number | undefined
  let gas: { readonly at: number; readonly wei: bigint | undefined } | undefined

  async function readSwitch(): Promise<void> {
    const stop = await state.readStop()
    if (stop?.reason === stopReason) return
    stopReason = stop?.reason
    if (stop === undefined) logger.warn({ event: 'resumed' }, 'payloads are signed again')
    else logger.warn({ event: 'stopped', reason: stop.reason, since: stop.since }, 'nothing is signed')
  }

  /** After failed rounds too: that nothing is left to pay with may be why they fail. */
  async function lookAtGas(): Promise<void> {
    if (gas !== undefined && performance.now() - gas.at <= gasEveryMs) return
    // What cannot be read is not told, and ends no round.
    gas = { at: performance.now(), wei: await readGas().catch(() => undefined) }
  }

  async function once(): Promise<void> {
    const deadline = startDeadline(stopping.signal, roundTimeoutMs)
    try {
      await readSwitch()
      // Whether anything is to be signed or not: who stops a chain learns whom the stop reached.
      if (chains[0] !== undefined) await stops.stopOf(chains[0])
      await round.run(deadline.signal)
      await readSwitch()
      lastGoodMs = performance.now()
      if (isFailing) logger.info({ event: 'round_works' }, 'rounds work again')
      isFailing = false
    } catch (error) {
      if (stopping.signal.aborted) return
      countFailed()
      if (!isFailing)
        logger.warn({ event: 'round_failed', err: error }, 'a round failed; the next one goes on')
      isFailing = true
    } finally {
      deadline.release()
    }
    await lookAtGas()
  }

  async function repeat(): Promise<void> {
    while (!stopping.signal.aborted) {
      await once()
      await pause(pollIntervalMs, stopping.signal)
    }
  }

  return {
    start() {
      ended = repeat()
    },
    async stop() {
      stopping.abort()
      const patience = new AbortController()
      await Promise.race([ended, pause(lastRoundMs, patience.signal)])
      patience.abort()
    },
    isStopped: () => stopReason !== undefined,
    gasBalanceWei: () => gas?.wei,
    checks: [
      {
        name: 'hub',
        async check() {
          if (lastGoodMs === undefined || performance.now() - lastGoodMs > lateMs) {
            throw new Error('no round has worked lately')
          }
        },
      },
      {
        name: 'switch',
        async check() {
          if (stopReason !== undefined) throw new Error(`stopped: ${stopReason}`)
        },
      },
      {
        name: 'stops',
        isShownOnly: true,
        async check() {
          const { stopped } = stops.known()
          if (stopped.length > 0) throw new Error(`nothing is signed for ${stopped.join(', ')}`)
        },
      },
    ],
  }
}

/** Resolves after a time, or at once when told to stop. */
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
