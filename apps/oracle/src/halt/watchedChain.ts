import { DomainError, type FinalBlock, type FinalBlocks, whenAborted } from '@causeway/core'
import { leastBetweenReadsMs } from '@causeway/core/config'
import type { FinalChange, FinalVerdict } from '@causeway/families'
import { unreadableChain } from '@causeway/rpc'
import { FinalHistory } from './finalHistory.ts'
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
  /** Another one that facts of the chain rest on as well, by its id: where transfers name no order, the hub does. */
  readonly restsOn?: string | undefined
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

/** Chains of which nothing was used for so long are not followed: endpoints are paid by the call. */
export const followedAfterUseMs = 600_000

/** As `CHAIN_NOT_CHECKED` advises callers. */
const uncheckedPauseMs = 1_000

export type WatchOptions = {
  /** Absent without `STATE_DIR` and without a database: a halt then lasts as long as the process. */
  readonly store: HaltStore | undefined
  /** Called when kept results of a chain may be wrong: it is halted, or followed again after a halt. */
  readonly onForget: (chainId: string) => void
  /** Called when an unfollowed chain is used: results that its reader kept must be read again. */
  readonly onResume: (chainId: string) => void
  /** Kept results of a chain are given for so long after enough endpoints last agreed on its head. */
  readonly headAgeMaxMs: number
  readonly checkTimeoutMs: number
  readonly log: WatchLog
}

type EntryOptions = WatchOptions & {
  readonly isKept: boolean
  readonly now: () => number
}

/** One chain's state. */
export class WatchedEntry {
  readonly #chain: WatchedChain
  readonly #options: EntryOptions
  #status: WatchStatus
  /** True when the halt is in the store: then its removal there lifts it. */
  #isKept: boolean
  /** Halts that this process saw; kept again at each look until they are in the store. */
  #contradiction: FinalChange | undefined
  #history = new FinalHistory()
  #saving: Promise<void> = Promise.resolve()
  #usedAtMs: number
  /** When the last look began that showed the chain unchanged. */
  #provenAtMs: number
  #resumedAtMs: number
  /** Start of the last look in which enough endpoints agreed on the head. */
  #agreedAtMs = Number.NEGATIVE_INFINITY
  /** Before that newer blocks are not linked: several of them have just come at once. */
  #linksDueMs = Number.NEGATIVE_INFINITY
  #agreeing: Promise<void> | undefined
  #following: Promise<void> | undefined
  /** Time of the last try to check an unchecked chain. */
  #triedAtMs = Number.NEGATIVE_INFINITY
  /** A problem is said once. */
  #toldProblems = ''
  /** The newest final block, and when it was first seen. */
  #head: { readonly number: bigint; readonly seenAtMs: number } | undefined

  constructor(chain: WatchedChain, options: EntryOptions) {
    this.#chain = chain
    this.#options = options
    this.#isKept = options.isKept
    this.#status = options.isKept ? 'halted' : 'unchecked'
    this.#usedAtMs = options.now()
    this.#provenAtMs = this.#usedAtMs
    this.#resumedAtMs = this.#usedAtMs
  }

  get status(): WatchStatus {
    return this.#status
  }

  note(block: FinalBlock): void {
    if (this.#status !== 'halted') this.#judge(this.#history.note(block))
  }

  /** The newest final block that was agreed on, and how long ago it was first seen. */
  finalHead(): { readonly number: bigint; readonly ageMs: number } | undefined {
    return this.#head && { number: this.#head.number, ageMs: this.#options.now() - this.#head.seenAtMs }
  }

  settled(): Promise<void> {
    return this.#saving
  }

  /** See `ChainWatch.useKept`. */
  use(): boolean {
    const { now, onResume } = this.#options
    const isResumed = !this.#isFollowed()
    this.#usedAtMs = now()
    if (isResumed) {
      this.#resumedAtMs = this.#usedAtMs
      onResume(this.#chain.id)
    }
    return this.#provenAtMs >= this.#resumedAtMs || this.#chain.finalBlocks() === undefined
  }

  hasHead(): boolean {
    return this.#options.now() - this.#agreedAtMs <= this.#options.headAgeMaxMs
  }

  /** One look for all who wait for it. @throws DomainError as a reading of facts does */
  async readHead(): Promise<void> {
    this.#agreeing ??= this.#readHead(AbortSignal.timeout(this.#options.checkTimeoutMs)).finally(() => {
      this.#agreeing = undefined
    })
    await this.#agreeing
  }

  async #readHead(signal: AbortSignal): Promise<void> {
    const beganAtMs = this.#options.now()
    try {
      const isThere = await Promise.race([this.#isThere(signal), whenAborted(signal)])
      if (isThere) this.#agreedAtMs = beganAtMs
    } catch (error) {
      throw signal.aborted ? unreadableChain(this.#chain.id) : error
    }
  }

  async #isThere(signal: AbortSignal): Promise<boolean> {
    const blocks = this.#chain.finalBlocks()
    if (blocks === undefined) return this.#fitsConfiguration(signal)
    await blocks.readNewest({ signal })
    return true
  }

  keptWindowMs(): number | undefined {
    const isLooked = isUsable(this.#status) && this.#isFollowed() && this.#chain.finalBlocks() !== undefined
    return isLooked ? this.#options.now() - this.#provenAtMs : undefined
  }

  /** One look at a time, however slow its endpoints are. */
  async follow(signal: AbortSignal): Promise<void> {
    this.#following ??= this.#followOnce(signal).finally(() => {
      this.#following = undefined
    })
    await this.#following
  }

  async #followOnce(signal: AbortSignal): Promise<void> {
    if (this.#status === 'unchecked') await this.#catchUp(signal)
    const blocks = this.#chain.finalBlocks()
    if (blocks === undefined || !isUsable(this.#status) || !this.#isFollowed()) return
    const beganAtMs = this.#options.now()
    try {
      const { linkedTo } = this.#history
      const goesOn = beganAtMs >= this.#linksDueMs
      const verdict = await this.#history.follow(blocks, { signal, goesOn })
      if (goesOn && this.#history.linkedTo > linkedTo + 1n) this.#linksDueMs = beganAtMs + leastBetweenReadsMs
      this.#agreedAtMs = beganAtMs
      this.#noteHead()
      // Endpoints that lag look like a chain that ends too early: the slower look decides about that.
      if (verdict.kind === 'changed') this.#judge(verdict)
      else if (verdict.kind === 'unchanged') this.#provenAtMs = beganAtMs
    } catch (error) {
      // Silence proves nothing, and the slower look reports it.
      if (error instanceof DomainError || signal.aborted) return
      this.#options.log.error(
        { event: 'chain_check_failed', chain: this.#chain.id, err: error },
        'not followed',
      )
    }
  }

  /** A chain that was silent at the start is taken up within a second of its first answer. The slower look reports the rest. */
  async #catchUp(signal: AbortSignal): Promise<void> {
    const nowMs = this.#options.now()
    if (nowMs - this.#triedAtMs < uncheckedPauseMs) return
    this.#triedAtMs = nowMs
    try {
      await this.#verify(signal)
    } catch (error) {
      if (!(error instanceof DomainError || signal.aborted)) throw error
    }
  }

  #isFollowed(): boolean {
    return this.#options.now() - this.#usedAtMs < followedAfterUseMs
  }

  async look(signal: AbortSignal): Promise<void> {
    const { log } = this.#options
    const { id } = this.#chain
    try {
      if (this.#status === 'halted') await this.#keepOrLift()
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

  /** Another process saw a final block change. */
  haltAsKept(): void {
    if (this.#status === 'halted') return
    this.#status = 'halted'
    this.#isKept = true
    const { log, onForget } = this.#options
    log.error(
      { event: 'halt_seen', chain: this.#chain.id },
      'another process of this oracle halted the chain',
    )
    onForget(this.#chain.id)
  }

  async #keepOrLift(): Promise<void> {
    const { store, onForget, log } = this.#options
    const { id } = this.#chain
    if (store === undefined) return
    if (!this.#isKept) {
      if (this.#contradiction !== undefined) this.#saving = this.#save(store, this.#contradiction)
      return
    }
    if (await store.has(id)) return
    log.warn({ event: 'halt_lifted', chain: id }, 'the operator cleared the halt')
    this.#isKept = false
    this.#history = new FinalHistory()
    this.#head = undefined
    this.#status = 'unchecked'
    onForget(id)
  }

  async #verify(signal: AbortSignal): Promise<void> {
    const { log } = this.#options
    const { id } = this.#chain
    const beganAtMs = this.#options.now()
    if (!(await this.#fitsConfiguration(signal))) return
    const blocks = this.#chain.finalBlocks()
    if (blocks !== undefined) this.#history.note(await blocks.readNewest({ signal }))
    this.#agreedAtMs = beganAtMs
    this.#noteHead()
    // The other of the two looks may have been faster, and have found more.
    if (this.#status !== 'unchecked') return
    this.#status = 'ready'
    log.info({ event: 'chain_ready', chain: id }, 'chain is ready')
  }

  async #fitsConfiguration(signal: AbortSignal): Promise<boolean> {
    const problems = await this.#chain.verify(signal)
    const text = problems.join('\n')
    if (text !== '' && text !== this.#toldProblems) {
      const fields = { event: 'chain_misconfigured', chain: this.#chain.id, problems }
      this.#options.log.error(fields, 'chain contradicts its configuration')
    }
    this.#toldProblems = text
    return text === ''
  }

  /** One endpoint that says something else later takes no chain away: the quorum judges each reading. */
  async #compare(signal: AbortSignal): Promise<void> {
    const beganAtMs = this.#options.now()
    const blocks = this.#chain.finalBlocks()
    if (blocks !== undefined) {
      const verdict = await this.#history.compare(blocks, { signal })
      this.#agreedAtMs = beganAtMs
      this.#noteHead()
      this.#judge(verdict)
    } else if (await this.#fitsConfiguration(signal)) {
      this.#agreedAtMs = beganAtMs
      this.#status = 'ready'
    }
  }

  /** After a look; what attestations rest on is at most as new as the next one. */
  #noteHead(): void {
    const { newest } = this.#history
    if (newest === undefined || (this.#head !== undefined && newest <= this.#head.number)) return
    this.#head = { number: newest, seenAtMs: this.#options.now() }
  }

  #judge(verdict: FinalVerdict): void {
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

  #halt(contradiction: FinalChange): void {
    this.#status = 'halted'
    const { store, log } = this.#options
    const { knownHash, foundHash } = contradiction
    const blockNumber = contradiction.blockNumber.toString()
    const fields = { event: 'chain_halted', chain: this.#chain.id, blockNumber, knownHash, foundHash }
    log.error(fields, 'a final block changed')
    this.#options.onForget(this.#chain.id)
    this.#contradiction = contradiction
    this.#saving = this.#save(store, contradiction)
  }

  async #save(store: HaltStore | undefined, contradiction: FinalChange): Promise<void> {
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
