import { DomainError, type Evidence, type FinalBlock, type FinalBlocks } from '@causeway/core'
import { AttestationError } from '../attestations/errors.ts'
import { type Contradiction, FinalHistory, type Verdict } from './finalHistory.ts'
import type { HaltStore } from './haltStore.ts'

/** A chain, or the hub, that must be known to be the configured one before anything is signed for it. */
export type WatchedChain = {
  readonly id: string
  /**
   * Also asked again at every look where there are no blocks to compare.
   * @returns problems that name settings; @throws DomainError when nothing can be known now
   */
  verify(signal: AbortSignal): Promise<readonly string[]>
  /** `undefined` where the family has no blocks, and for the hub. */
  finalBlocks(): FinalBlocks | undefined
}

/**
 * - `unchecked`: not compared with its configuration since the start, or since a halt was lifted
 * - `silent`: too few endpoints answered the last look; a request is tried all the same
 * - `unsure`: the chain did not reach a block that was final; endpoints may lag, so a second look decides
 * - `halted`: a final block changed, and nothing is signed until the operator says so
 */
export type WatchStatus = 'unchecked' | 'ready' | 'silent' | 'unsure' | 'halted'

/** True while readings of a chain may be signed. */
export function isUsable(status: WatchStatus | undefined): boolean {
  return status === 'ready' || status === 'silent'
}

export type WatchLog = {
  error(fields: object, message: string): void
  warn(fields: object, message: string): void
  info(fields: object, message: string): void
}

/** Says for which chains may be signed. */
export interface ChainWatch {
  /** @throws AttestationError `CHAIN_HALTED` or `CHAIN_NOT_CHECKED` */
  refuseUnlessReady(chainId: string): void
  /** Compares blocks that an attestation rests on with those seen before. @throws AttestationError */
  observe(evidence: readonly Evidence[]): void
  statusOf(chainId: string): WatchStatus | undefined
  /** Looks at every chain once. Never rejects: what fails is logged and tried again next time. */
  check(): Promise<void>
  /** Resolves when halts are on disk. */
  close(): Promise<void>
}

export type ChainWatchOptions = {
  readonly chains: readonly WatchedChain[]
  /** Absent without `STATE_DIR`: a halt then lasts as long as the process. */
  readonly store: HaltStore | undefined
  readonly checkTimeoutMs: number
  /** Told before a chain that was halted is followed again: what was kept of it may be wrong. */
  readonly onLift: (chainId: string) => void
  readonly log: WatchLog
}

const retryAfterHaltSeconds = 60

/**
 * Watches the final blocks of every chain. Nothing is signed for a chain before it was checked, nor
 * after one of its final blocks changed. @source design.md 7.6
 * @throws ConfigurationError when the store cannot be read
 */
export async function createChainWatch(options: ChainWatchOptions): Promise<ChainWatch> {
  const { store, checkTimeoutMs, onLift, log } = options
  const kept = (await store?.load()) ?? new Map<string, Contradiction | undefined>()
  for (const chainId of kept.keys()) {
    log.error({ event: 'halt_kept', chain: chainId }, 'chain is halted since an earlier run')
  }
  const entries = new Map(
    options.chains.map((chain) => {
      const isKept = kept.has(chain.id)
      return [chain.id, new WatchedEntry(chain, { store, onLift, log, isKept })] as const
    }),
  )
  return {
    refuseUnlessReady(chainId) {
      const status = entries.get(chainId)?.status
      if (status === 'halted') throw haltedError(chainId)
      if (!isUsable(status)) throw notCheckedError(chainId)
    },
    observe(evidence) {
      for (const { chainId, blockNumber, blockHash } of evidence) {
        const entry = entries.get(chainId)
        if (blockNumber !== undefined && blockHash !== undefined) {
          entry?.note({ number: blockNumber, hash: blockHash })
        }
        if (entry?.status === 'halted') throw haltedError(chainId)
      }
    },
    statusOf: (chainId) => entries.get(chainId)?.status,
    async check() {
      const signal = AbortSignal.timeout(checkTimeoutMs)
      await Promise.all([...entries.values()].map((entry) => entry.look(signal)))
    },
    async close() {
      await Promise.all([...entries.values()].map((entry) => entry.settled()))
    },
  }
}

type EntryOptions = Pick<ChainWatchOptions, 'store' | 'onLift' | 'log'> & { readonly isKept: boolean }

/** One chain's state. */
class WatchedEntry {
  readonly #chain: WatchedChain
  readonly #options: EntryOptions
  #status: WatchStatus
  /** True when the halt is on disk: then its removal there lifts it. */
  #isKept: boolean
  #history = new FinalHistory()
  #saving: Promise<void> = Promise.resolve()

  constructor(chain: WatchedChain, options: EntryOptions) {
    this.#chain = chain
    this.#options = options
    this.#isKept = options.isKept
    this.#status = options.isKept ? 'halted' : 'unchecked'
  }

  get status(): WatchStatus {
    return this.#status
  }

  note(block: FinalBlock): void {
    if (this.#status !== 'halted') this.#judge(this.#history.note(block))
  }

  settled(): Promise<void> {
    return this.#saving
  }

  async look(signal: AbortSignal): Promise<void> {
    const { log } = this.#options
    const { id } = this.#chain
    try {
      if (this.#status === 'halted') await this.#liftIfCleared()
      if (this.#status === 'unchecked') await this.#verify(signal)
      else if (this.#status !== 'halted') await this.#compare(signal)
    } catch (error) {
      if (this.#status === 'ready') this.#status = 'silent'
      const isExpected = error instanceof DomainError || signal.aborted
      if (isExpected) log.warn({ event: 'chain_check_failed', chain: id, err: error }, 'chain not checked')
      else log.error({ event: 'chain_check_failed', chain: id, err: error }, 'chain not checked')
    }
    await this.#saving
  }

  async #liftIfCleared(): Promise<void> {
    const { store, onLift, log } = this.#options
    const { id } = this.#chain
    if (store === undefined || !this.#isKept || (await store.has(id))) return
    log.warn({ event: 'halt_lifted', chain: id }, 'the operator cleared the halt')
    this.#isKept = false
    this.#history = new FinalHistory()
    this.#status = 'unchecked'
    onLift(id)
  }

  async #verify(signal: AbortSignal): Promise<void> {
    const { log } = this.#options
    const { id } = this.#chain
    if (!(await this.#fitsConfiguration(signal))) return
    const blocks = this.#chain.finalBlocks()
    if (blocks !== undefined) this.#history.note(await blocks.readNewest({ signal }))
    this.#status = 'ready'
    log.info({ event: 'chain_ready', chain: id }, 'chain is ready')
  }

  async #fitsConfiguration(signal: AbortSignal): Promise<boolean> {
    const problems = await this.#chain.verify(signal)
    if (problems.length === 0) return true
    const fields = { event: 'chain_misconfigured', chain: this.#chain.id, problems }
    this.#options.log.error(fields, 'chain contradicts its configuration')
    return false
  }

  /** One endpoint that says something else later takes no chain away: the quorum judges each reading. */
  async #compare(signal: AbortSignal): Promise<void> {
    const blocks = this.#chain.finalBlocks()
    if (blocks !== undefined) this.#judge(await this.#history.compare(blocks, { signal }))
    else if (await this.#fitsConfiguration(signal)) this.#status = 'ready'
  }

  #judge(verdict: Verdict): void {
    // A block that an attestation brought while this one was read may have halted the chain.
    if (this.#status === 'halted') return
    if (verdict.kind === 'unchanged') this.#status = 'ready'
    else if (verdict.kind === 'changed' || this.#status === 'unsure') this.#halt(verdict.contradiction)
    else {
      this.#status = 'unsure'
      const { log } = this.#options
      log.warn({ event: 'chain_behind', chain: this.#chain.id }, 'the chain ends below a final block')
    }
  }

  #halt(contradiction: Contradiction): void {
    this.#status = 'halted'
    const { store, log } = this.#options
    const { knownHash, foundHash } = contradiction
    const blockNumber = contradiction.blockNumber.toString()
    const fields = { event: 'chain_halted', chain: this.#chain.id, blockNumber, knownHash, foundHash }
    log.error(fields, 'a final block changed')
    this.#saving = this.#save(store, contradiction)
  }

  async #save(store: HaltStore | undefined, contradiction: Contradiction): Promise<void> {
    if (store === undefined) return
    const { id } = this.#chain
    try {
      await store.save(id, contradiction)
      this.#isKept = true
    } catch (error) {
      this.#options.log.error(
        { event: 'halt_not_kept', chain: id, err: error },
        'a restart would lift the halt',
      )
    }
  }
}

function haltedError(chainId: string): AttestationError {
  return new AttestationError('CHAIN_HALTED', `Chain ${chainId} is halted: a final block changed.`, {
    data: { chainId },
    retryAfterSeconds: retryAfterHaltSeconds,
  })
}

function notCheckedError(chainId: string): AttestationError {
  return new AttestationError('CHAIN_NOT_CHECKED', `Chain ${chainId} is not checked yet.`, {
    data: { chainId },
    retryAfterSeconds: 1,
  })
}
