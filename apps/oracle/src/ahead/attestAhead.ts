import { DomainError, type FactsReader, startDeadline } from '@causeway/core'
import type { WatchLog } from '../halt/watchedChain.ts'
import type { AheadMetrics } from '../service/oracleMetrics.ts'

export type AheadChain = {
  readonly id: string
  readonly scan: NonNullable<FactsReader['scanFinalBlocks']>
  /** False while nothing may be signed for the chain. */
  readonly isReady: () => boolean
  /** The newest final block that is known; `undefined` before the first. */
  readonly finalBlock: () => bigint | undefined
  /** Says that answers are kept of the chain, so that its blocks are followed. */
  readonly keepFollowed: () => void
}

export type AheadOptions = {
  readonly chains: readonly AheadChain[]
  /**
   * Attests the deposits of a transaction as if somebody asked. @returns `empty` where it holds none, `later` where
   * too few peers signed yet. @throws DomainError for what may work later
   */
  readonly prepare: (
    chainId: string,
    transactionId: string,
    signal: AbortSignal,
  ) => Promise<'prepared' | 'empty' | 'later'>
  /** How far back a start looks, and how long something waits at most. */
  readonly minutes: number
  readonly waitingMax: number
  /** Pause between two looks at one chain. */
  readonly intervalMs: number
  readonly metrics: AheadMetrics
  readonly log: WatchLog
  /** Monotonic milliseconds. */
  readonly now: () => number
}

export interface AttestAhead {
  /** Looks at every chain once, and prepares what waits. Never rejects. */
  look(): Promise<void>
  /** What was prepared is forgotten: the last minutes of every chain are looked through again. */
  startOver(): void
  /** Looks again and again. */
  start(): void
  close(): Promise<void>
}

type Waiting = {
  readonly chainId: string
  readonly transactionId: string
  readonly sinceMs: number
  tries: number
}

/** At once, so that callers have the rest of the places. */
const workersMax = 4
const triesMax = 3
/** Of one turn: a chain that was away for long takes its turns like the others. */
const scansMax = 5
const lookTimeoutMs = 7_000

/**
 * Attests deposits before anyone asks: looks through the final blocks of each chain once, whatever is asked, and has
 * every deposit in them attested as a caller would. So nothing is signed that would not be signed on request, and
 * whatever drops a kept answer drops these. A start looks so many minutes back, and a chain that was away is looked
 * through from where the last look ended. What waits is bounded in number and age, and what could not be prepared is
 * made when somebody asks.
 */
export function createAttestAhead(options: AheadOptions): AttestAhead {
  const { chains, prepare, minutes, waitingMax, intervalMs, metrics, log, now } = options
  /** The block at which the last look at a chain ended; none before the first. */
  let places = new Map<string, bigint>()
  const closing = new AbortController()
  let waiting: Waiting[] = []
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  metrics.watchAhead(() => waiting.length)

  async function scan({ id, scan: find, isReady, finalBlock, keepFollowed }: AheadChain): Promise<void> {
    if (!isReady()) return
    keepFollowed()
    // A look that is under way when all is forgotten must not say where the next one begins.
    const reached = places
    for (let turn = 0; turn < scansMax; turn += 1) {
      const after = reached.get(id)
      // The chain is followed anyway: its endpoints are asked once per block, and not while it stands.
      if (after !== undefined && after >= (finalBlock() ?? 0n)) return
      const start = after === undefined ? { minutes } : { after }
      const deadline = startDeadline(closing.signal, lookTimeoutMs)
      const { through, isComplete, transactionIds } = await find(start, deadline).finally(deadline.release)
      reached.set(id, through)
      for (const transactionId of transactionIds) enqueue(id, transactionId)
      if (isComplete) return
    }
  }

  function enqueue(chainId: string, transactionId: string): void {
    if (waiting.length >= waitingMax) metrics.countAhead(chainId, 'dropped')
    else waiting.push({ chainId, transactionId, sinceMs: now(), tries: 0 })
  }

  async function scanAll(): Promise<void> {
    await Promise.all(
      chains.map(async (chain) => {
        try {
          await scan(chain)
        } catch (error) {
          // Silence is told by the chain's own check.
          if (error instanceof DomainError || closing.signal.aborted) return
          log.error({ event: 'ahead_failed', chain: chain.id, err: error }, 'final blocks not looked through')
        }
      }),
    )
  }

  async function prepareOne(item: Waiting): Promise<void> {
    const { chainId, transactionId, sinceMs } = item
    if (now() - sinceMs > minutes * 60_000) return metrics.countAhead(chainId, 'dropped')
    item.tries += 1
    try {
      const outcome = await prepare(chainId, transactionId, closing.signal)
      if (outcome === 'later') putOff(item)
      else metrics.countAhead(chainId, outcome)
    } catch (error) {
      if (closing.signal.aborted) return
      if (error instanceof DomainError) return putOff(item)
      log.error({ event: 'ahead_failed', chain: chainId, transactionId, err: error }, 'not attested ahead')
      metrics.countAhead(chainId, 'failed')
    }
  }

  function putOff(item: Waiting): void {
    if (item.tries < triesMax) waiting.push(item)
    else metrics.countAhead(item.chainId, 'failed')
  }

  /** What fails now waits for the next look. */
  async function prepareAll(): Promise<void> {
    const taken = waiting
    waiting = []
    const work = taken.values()
    const worker = async () => {
      for (const item of work) {
        if (closing.signal.aborted) return
        await prepareOne(item)
      }
    }
    await Promise.all(Array.from({ length: workersMax }, worker))
  }

  function look(): Promise<void> {
    looking ??= scanAll()
      .then(prepareAll)
      .finally(() => {
        looking = undefined
      })
    return looking
  }

  function schedule(): void {
    if (closing.signal.aborted) return
    timer = setTimeout(() => void look().then(schedule), intervalMs).unref()
  }

  return {
    look,
    startOver() {
      places = new Map()
    },
    start: schedule,
    async close() {
      closing.abort()
      clearTimeout(timer)
      await looking
    },
  }
}
