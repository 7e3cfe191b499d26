import { type AheadReader, DomainError, startDeadline } from '@causeway/core'
import type { WatchLog } from '../halt/watchedChain.ts'
import type { AheadMetrics } from '../service/oracleMetrics.ts'
import { type AheadQueueOptions, createAheadQueue } from './aheadQueue.ts'

export type AheadChain = {
  readonly id: string
  readonly reader: AheadReader
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
   * Attests the deposits of a transaction as if somebody asked. @returns `empty` where it holds none
   * @throws DomainError for what may work later
   */
  readonly attest: (
    chainId: string,
    transactionId: string,
    signal: AbortSignal,
  ) => Promise<'attested' | 'empty'>
  /**
   * Has peers sign what was attested; absent where there are none. @returns false where too few of them signed yet
   * @throws DomainError for what may work later
   */
  readonly gather?:
    | ((chainId: string, transactionId: string, signal: AbortSignal) => Promise<boolean>)
    | undefined
  /** Range that a start looks back, and longest wait of an entry, in minutes. */
  readonly minutes: number
  /** Maximum number of waiting entries, per kind of work. */
  readonly waitingMax: number
  /** Pause between two looks at one chain. */
  readonly intervalMs: number
  readonly metrics: AheadMetrics
  readonly log: WatchLog
  /** Monotonic milliseconds. */
  readonly now: () => number
}

export interface AttestAhead {
  /** Looks at every chain once, and attests what waits. Waits for no peer and no payment. Never rejects. */
  look(): Promise<void>
  /** Resolves once peers have signed what waits for them, and payments are read, or both have failed for now. */
  settle(): Promise<void>
  /** Forgets prepared answers: the last minutes of every chain are looked through again. */
  startOver(): void
  /** Looks again and again. */
  start(): void
  close(): Promise<void>
}

/** Maximum number of scans per turn, so that a chain that was away for long does not delay the others. */
const scansMax = 5
const readTimeoutMs = 7_000

/**
 * Attests deposits before anyone asks: looks through the final blocks of each chain once, whatever is asked, and has
 * every deposit in them attested as a caller would. So nothing is signed that would not be signed on request, and
 * whatever drops a kept answer drops these. Payments are only remembered: what they are worth depends on the order
 * that is asked for. A start looks so many minutes back, and a chain that was away is looked through from where the
 * last look ended. Each kind of work has a queue of its own: payments that a stranger makes without end hold no
 * deposit up, and a silent peer holds no attestation up. What could not be prepared is made when somebody asks.
 */
export function createAttestAhead(options: AheadOptions): AttestAhead {
  const { intervalMs, metrics } = options
  /** The block at which the last look at a chain ended; none before the first. */
  let places = new Map<string, bigint>()
  const closing = new AbortController()
  const { signal } = closing
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  const queues = createQueues(options, signal)
  const { deposits, signatures, payments } = queues
  metrics.watchAhead(() => deposits.length + (signatures?.length ?? 0) + payments.length)

  async function lookOnce(): Promise<void> {
    // A look that is under way when all is forgotten must not say where the next one begins.
    await scanAll({ ...options, places, queues, signal })
    await deposits.run()
    // The next look waits for neither: a silent peer or a flood of payments would hold deposits up.
    void settle()
  }

  async function settle(): Promise<void> {
    await Promise.all([signatures?.run(), payments.run()])
  }

  function look(): Promise<void> {
    looking ??= lookOnce().finally(() => {
      looking = undefined
    })
    return looking
  }

  function schedule(): void {
    if (signal.aborted) return
    timer = setTimeout(() => void look().then(schedule), intervalMs).unref()
  }

  return {
    look,
    settle,
    startOver() {
      places = new Map()
    },
    start: schedule,
    async close() {
      closing.abort()
      clearTimeout(timer)
      await looking
      await settle()
    },
  }
}

type Look = AheadOptions & {
  readonly places: Map<string, bigint>
  readonly queues: ReturnType<typeof createQueues>
  readonly signal: AbortSignal
}

async function scanAll(look: Look): Promise<void> {
  const { chains, signal, log } = look
  await Promise.all(
    chains.map(async (chain) => {
      try {
        await scan(chain, look)
      } catch (error) {
        // Silence is told by the chain's own check.
        if (error instanceof DomainError || signal.aborted) return
        log.error({ event: 'ahead_failed', chain: chain.id, err: error }, 'final blocks not looked through')
      }
    }),
  )
}

/** Looks on through the final blocks of a chain from where the last look ended, and queues what is in them. */
async function scan(
  { id, reader, isReady, finalBlock, keepFollowed }: AheadChain,
  { minutes, places, queues, signal }: Look,
): Promise<void> {
  if (!isReady()) return
  keepFollowed()
  for (let turn = 0; turn < scansMax; turn += 1) {
    const after = places.get(id)
    // The chain is followed anyway: its endpoints are asked once per block, and not while it stands.
    if (after !== undefined && after >= (finalBlock() ?? 0n)) return
    const start = after === undefined ? { minutes } : { after }
    const deadline = startDeadline(signal, readTimeoutMs)
    const scanned = await reader.scan(start, deadline).finally(deadline.release)
    places.set(id, scanned.through)
    for (const transactionId of scanned.deposits) queues.deposits.add(id, transactionId)
    for (const transactionId of scanned.payments) queues.payments.add(id, transactionId)
    if (scanned.isComplete) return
  }
}

/** A queue of each kind of work; none of signatures where there are no peers. */
function createQueues(options: AheadOptions, signal: AbortSignal) {
  const { chains, attest, gather } = options
  const queueOf = (work: AheadQueueOptions['work']) => createAheadQueue({ ...options, signal, work })
  const readers = new Map(chains.map(({ id, reader }) => [id, reader]))
  const payments = queueOf(async (chainId, transactionId) => {
    const deadline = startDeadline(signal, readTimeoutMs)
    await readers.get(chainId)?.rememberPayment(transactionId, deadline).finally(deadline.release)
    return 'remembered'
  })
  const signatures =
    gather &&
    queueOf(async (chainId, transactionId) =>
      (await gather(chainId, transactionId, signal)) ? 'prepared' : 'later',
    )
  const deposits = queueOf(async (chainId, transactionId) => {
    if ((await attest(chainId, transactionId, signal)) === 'empty') return 'empty'
    if (signatures === undefined) return 'prepared'
    signatures.add(chainId, transactionId)
    return 'passed'
  })
  return { deposits, signatures, payments }
}
