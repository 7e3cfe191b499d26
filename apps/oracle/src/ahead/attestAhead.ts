import { type AheadReader, DomainError, startDeadline } from '@causeway/core'
import type { WatchLog } from '../halt/watchedChain.ts'
import type { AheadMetrics } from '../service/oracleMetrics.ts'
import { type AheadQueueOptions, createAheadQueue } from './aheadQueue.ts'

export type AheadChain = {
  readonly id: string
  readonly reader: AheadReader
  /** False while nothing may be signed for the chain. */
  readonly isReady: () => boolean
  /** Number of the newest final block that is known; `undefined` before the first. */
  readonly finalBlock: () => bigint | undefined
  /** Tells the chain's watch that answers of the chain are cached, so that it must go on reading its final blocks. */
  readonly keepFollowed: () => void
}

export type AheadOptions = {
  readonly chains: readonly AheadChain[]
  /**
   * Attests the deposits of a transaction as if a caller asked. @returns `empty` where it holds none
   * @throws DomainError where it may succeed later
   */
  readonly attest: (
    chainId: string,
    transactionId: string,
    signal: AbortSignal,
  ) => Promise<'attested' | 'empty'>
  /**
   * Gathers peers' signatures on an attested transaction; absent where there are no peers. @returns false where too
   * few peers have signed yet. @throws DomainError where it may succeed later
   */
  readonly gather?:
    | ((chainId: string, transactionId: string, signal: AbortSignal) => Promise<boolean>)
    | undefined
  /** Age of the blocks with which the first scan of a chain begins, and the longest wait of an entry. */
  readonly minutes: number
  /** Maximum number of waiting entries, per kind of work. */
  readonly waitingMax: number
  /** Pause between two scans of the chains. */
  readonly intervalMs: number
  readonly metrics: AheadMetrics
  readonly log: WatchLog
  /** Monotonic milliseconds. */
  readonly now: () => number
}

/** See `createAttestAhead`. */
export interface AttestAhead {
  /** Scans new final blocks and attests waiting deposits; waits for no peer and no payment. Never rejects. */
  attestNew(): Promise<void>
  /** Resolves after one try of all waiting peers' signatures and payments. */
  finishWaiting(): Promise<void>
  /** Scans the last minutes of every chain again: call it when cached answers were dropped. */
  startOver(): void
  /** Repeats `attestNew` at the interval until `close`. */
  start(): void
  close(): Promise<void>
}

/** Most scans of one chain per `attestNew`, so that a chain with many unread blocks does not delay the others. */
const scansMax = 5
const readTimeoutMs = 7_000

/**
 * Attests deposits before anyone asks, so that answers are ready. It scans the final blocks of each chain once and
 * attests every deposit in them in the same way as a caller's request: it signs nothing that would not be signed on
 * request, and its answers leave the cache for the same reasons. Payments are only read into the cache, because their
 * attestation depends on the order that a caller asks for. The first scan begins some minutes back, a later
 * one where the last one that succeeded ended. Each kind of work has a queue of its own, so that neither a
 * stranger's endless payments nor a silent peer delays deposits; an attested deposit goes on to the queue of
 * peers' signatures. What could not be prepared is done when somebody asks.
 */
export function createAttestAhead(options: AheadOptions): AttestAhead {
  const { intervalMs, metrics } = options
  /** By chain, the last block that was scanned. */
  let scannedThrough = new Map<string, bigint>()
  const closing = new AbortController()
  const { signal } = closing
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  const queues = createQueues(options, signal)
  const { deposits, signatures, payments } = queues
  metrics.watchAhead(() => deposits.length + (signatures?.length ?? 0) + payments.length)

  async function scanAndAttest(): Promise<void> {
    // `startOver` makes a new map, so that a scan under way then does not move the start of the next one.
    await scanAll({ ...options, scannedThrough, queues, signal })
    await deposits.run()
    // Not awaited: a silent peer or a flood of payments would delay the next scan and its deposits.
    void finishWaiting()
  }

  async function finishWaiting(): Promise<void> {
    await Promise.all([signatures?.run(), payments.run()])
  }

  function attestNew(): Promise<void> {
    running ??= scanAndAttest().finally(() => {
      running = undefined
    })
    return running
  }

  function schedule(): void {
    if (signal.aborted) return
    timer = setTimeout(() => void attestNew().then(schedule), intervalMs).unref()
  }

  return {
    attestNew,
    finishWaiting,
    startOver() {
      scannedThrough = new Map()
    },
    start: schedule,
    async close() {
      closing.abort()
      clearTimeout(timer)
      await running
      // After the abort nothing new begins: this only waits for what is under way.
      await finishWaiting()
    },
  }
}

/** One scan of all chains. */
type Scan = AheadOptions & {
  /** By chain, the last block that was scanned; the scan moves it. */
  readonly scannedThrough: Map<string, bigint>
  readonly queues: ReturnType<typeof createQueues>
  readonly signal: AbortSignal
}

async function scanAll(scan: Scan): Promise<void> {
  const { chains, signal, log } = scan
  await Promise.all(
    chains.map(async (chain) => {
      try {
        await scanChain(chain, scan)
      } catch (error) {
        // The chain's own readiness check reports endpoints that do not answer.
        if (error instanceof DomainError || signal.aborted) return
        log.error({ event: 'ahead_failed', chain: chain.id, err: error }, 'final blocks not looked through')
      }
    }),
  )
}

/** Scans a chain's final blocks from where the last scan ended, and queues the transactions in them. */
async function scanChain(
  { id, reader, isReady, finalBlock, keepFollowed }: AheadChain,
  { minutes, scannedThrough, queues, signal }: Scan,
): Promise<void> {
  if (!isReady()) return
  keepFollowed()
  for (let scans = 0; scans < scansMax; scans += 1) {
    const after = scannedThrough.get(id)
    // The watch reads the newest final block anyway: without a new one the endpoints are not asked again.
    if (after !== undefined && after >= (finalBlock() ?? 0n)) return
    const start = after === undefined ? { minutes } : { after }
    const deadline = startDeadline(signal, readTimeoutMs)
    const { through, deposits, payments, isComplete } = await reader
      .scan(start, deadline)
      .finally(deadline.release)
    scannedThrough.set(id, through)
    for (const transactionId of deposits) queues.deposits.add(id, transactionId)
    for (const transactionId of payments) queues.payments.add(id, transactionId)
    if (isComplete) return
  }
}

/** One queue per kind of work; none for peers' signatures where there are no peers. */
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
    return 'handed_on'
  })
  return { deposits, signatures, payments }
}
