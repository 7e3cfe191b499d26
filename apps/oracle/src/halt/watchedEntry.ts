import { DomainError, type FinalBlock, whenAborted } from '@causeway/core'
import { leastBetweenReadsMs } from '@causeway/core/config'
import type { FinalChange, FinalVerdict } from '@causeway/families'
import { unreadableChain } from '@causeway/rpc'
import { FinalHistory, unchanged } from './finalHistory.ts'
import { HaltKeeper } from './haltKeeper.ts'
import {
  followedAfterUseMs,
  isUsable,
  type WatchedChain,
  type WatchOptions,
  type WatchStatus,
} from './watchedChain.ts'

/** Pause between two tries to verify an unchecked chain: the retry time of `CHAIN_NOT_CHECKED`. */
const uncheckedPauseMs = 1_000

type EntryOptions = WatchOptions & {
  /** True where the store has a halt of this chain. */
  readonly isHaltStored: boolean
  readonly now: () => number
}

/**
 * The state of one watched chain. `ChainWatch` calls two checks: `check`, the slow one, for all chains, and
 * `follow`, the fast one, which keeps the time short in which a cached answer of a rewritten chain could be
 * given. They may run at the same time: no verdict counts that comes after a halt. Moves of the status:
 * - `unchecked` to `ready`: either check found the endpoints as configured
 * - `ready` to `silent`: the slow check failed; back: it succeeded, or facts brought a block
 * - `ready` or `silent` to `unsure`: the slow check found the chain `behind`; then to `ready` if its next
 *   verdict is `unchanged`, to `halted` if it is `behind` again
 * - all but `unchecked` to `halted`: a check or facts showed a changed block; all: another process did
 * - `halted` to `unchecked`: the slow check saw that an operator removed the halt from the store
 */
export class WatchedEntry {
  readonly #chain: WatchedChain
  readonly #options: EntryOptions
  readonly #halt: HaltKeeper
  #status: WatchStatus
  #history = new FinalHistory()
  /** Last use of a fact or cached answer. */
  #usedAtMs: number
  /** Start of the last fast check that showed the chain unchanged. */
  #provenAtMs: number
  /** Use with which the chain began to be followed again, or the start of the process. */
  #resumedAtMs: number
  /** Start of the last check in which enough endpoints agreed on the head. */
  #agreedAtMs = Number.NEGATIVE_INFINITY
  /**
   * Time from which newer blocks are linked again. It is set after a check that found several at once: on a
   * chain as fast as that, fewer checks are enough.
   */
  #linksDueMs = Number.NEGATIVE_INFINITY
  /** Readings under way, which later callers share. */
  #readingHead: Promise<void> | undefined
  #following: Promise<void> | undefined
  /** Time of the last try to verify an unchecked chain. */
  #triedAtMs = Number.NEGATIVE_INFINITY
  /** Problems that were logged last: the same are not logged again. */
  #loggedProblems = ''
  /** The newest final block, and when it was first seen. */
  #head: { readonly number: bigint; readonly seenAtMs: number } | undefined

  constructor(chain: WatchedChain, options: EntryOptions) {
    const { store, log, isHaltStored } = options
    this.#chain = chain
    this.#options = options
    this.#halt = new HaltKeeper({ chainId: chain.id, store, log }, isHaltStored)
    this.#status = isHaltStored ? 'halted' : 'unchecked'
    this.#usedAtMs = options.now()
    this.#provenAtMs = this.#usedAtMs
    this.#resumedAtMs = this.#usedAtMs
  }

  get status(): WatchStatus {
    return this.#status
  }

  /** Resolves when a halt of this process is saved, or could not be. */
  get haltSaved(): Promise<void> {
    return this.#halt.saved
  }

  /** Takes a block of an attestation's facts; halts the chain if it contradicts one seen before. */
  note(block: FinalBlock): void {
    // A halted chain stays halted, and the history of an unchecked one begins with its verification.
    if (this.#status === 'halted' || this.#status === 'unchecked') return
    const verdict = this.#history.note(block)
    // An unchanged block makes a silent chain ready, since its endpoints answer. It does not end `unsure`,
    // since it does not show that the chain reaches the block that it lacked.
    if (verdict.kind !== 'unchanged' || this.#status === 'silent') this.#judge(verdict, this.#history)
  }

  /** The newest final block that was agreed on, and how long ago it was first seen. */
  finalHead(): { readonly number: bigint; readonly ageMs: number } | undefined {
    return this.#head && { number: this.#head.number, ageMs: this.#options.now() - this.#head.seenAtMs }
  }

  /**
   * See `ChainWatch.useKept`. A chain that was not used for `followedAfterUseMs` is followed again from now
   * on, and nothing cached of it is used before a fast check that began later shows it unchanged.
   */
  useKept(): boolean {
    const { now, onResume } = this.#options
    const isResumed = !this.#isFollowed()
    this.#usedAtMs = now()
    if (isResumed) {
      this.#resumedAtMs = this.#usedAtMs
      onResume(this.#chain.id)
    }
    // A chain without blocks is never proven unchanged: nothing of it can be replaced.
    return this.#provenAtMs >= this.#resumedAtMs || this.#chain.finalBlocks() === undefined
  }

  /** See `ChainWatch.keptWindows`; `undefined` where the chain is not followed. */
  keptWindowMs(): number | undefined {
    const isFollowed = isUsable(this.#status) && this.#isFollowed() && this.#chain.finalBlocks() !== undefined
    return isFollowed ? this.#options.now() - this.#provenAtMs : undefined
  }

  /** True if enough endpoints agreed on the head within `headAgeMaxMs`. */
  hasHead(): boolean {
    return this.#options.now() - this.#agreedAtMs <= this.#options.headAgeMaxMs
  }

  /** Asks the endpoints for the head, once for all callers that wait. @throws DomainError as a reading of facts does */
  async readHead(): Promise<void> {
    this.#readingHead ??= this.#readHead(AbortSignal.timeout(this.#options.checkTimeoutMs)).finally(() => {
      this.#readingHead = undefined
    })
    await this.#readingHead
  }

  /** The fast check. Only one runs at a time, however slow the endpoints are. */
  async follow(signal: AbortSignal): Promise<void> {
    this.#following ??= this.#follow(signal).finally(() => {
      this.#following = undefined
    })
    await this.#following
  }

  /** The slow check. */
  async check(signal: AbortSignal): Promise<void> {
    const { log } = this.#options
    const { id } = this.#chain
    try {
      if (this.#status === 'halted' && (await this.#halt.saveOrSeeCleared())) this.#endHalt()
      if (this.#status === 'unchecked') await this.#verify(signal)
      else if (this.#status !== 'halted') await this.#compare(signal)
    } catch (error) {
      if (this.#status === 'ready') this.#status = 'silent'
      const isExpected = error instanceof DomainError || signal.aborted
      if (isExpected) log.warn({ event: 'chain_check_failed', chain: id, err: error }, 'chain not checked')
      else log.error({ event: 'chain_check_failed', chain: id, err: error }, 'chain not checked')
    }
    await this.#halt.saved
  }

  /** Halts the chain because the store has a halt, which another process saved. */
  haltAsStored(): void {
    if (this.#status === 'halted') return
    this.#status = 'halted'
    this.#halt.noteStored()
    const { log, onForget } = this.#options
    log.error(
      { event: 'halt_seen', chain: this.#chain.id },
      'another process of this oracle halted the chain',
    )
    onForget(this.#chain.id)
  }

  async #readHead(signal: AbortSignal): Promise<void> {
    const beganAtMs = this.#options.now()
    try {
      const hasAgreed = await Promise.race([this.#hasAgreement(signal), whenAborted(signal)])
      if (hasAgreed) this.#agreedAtMs = beganAtMs
    } catch (error) {
      throw signal.aborted ? unreadableChain(this.#chain.id) : error
    }
  }

  async #hasAgreement(signal: AbortSignal): Promise<boolean> {
    const blocks = this.#chain.finalBlocks()
    if (blocks === undefined) return this.#fitsConfiguration(signal)
    await blocks.readNewest({ signal })
    return true
  }

  async #follow(signal: AbortSignal): Promise<void> {
    if (this.#status === 'unchecked') await this.#tryToVerify(signal)
    const blocks = this.#chain.finalBlocks()
    if (blocks === undefined || !isUsable(this.#status) || !this.#isFollowed()) return
    const beganAtMs = this.#options.now()
    try {
      const history = this.#history
      const { linkedTo } = history
      const goesOn = beganAtMs >= this.#linksDueMs
      const verdict = await history.follow(blocks, { signal, goesOn })
      if (goesOn && history.linkedTo > linkedTo + 1n) this.#linksDueMs = beganAtMs + leastBetweenReadsMs
      this.#noteAgreement(beganAtMs)
      // A chain that ends too early may only have lagging endpoints: the slow check decides about that.
      if (verdict.kind === 'changed') this.#judge(verdict, history)
      else if (verdict.kind === 'unchanged') this.#provenAtMs = beganAtMs
    } catch (error) {
      // Endpoints that do not answer prove nothing, and the slow check reports them.
      if (error instanceof DomainError || signal.aborted) return
      this.#options.log.error(
        { event: 'chain_check_failed', chain: this.#chain.id, err: error },
        'not followed',
      )
    }
  }

  /** Tries to verify an unchecked chain every second, so that it is ready soon after its endpoints first answer. */
  async #tryToVerify(signal: AbortSignal): Promise<void> {
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

  async #verify(signal: AbortSignal): Promise<void> {
    const beganAtMs = this.#options.now()
    if (!(await this.#fitsConfiguration(signal))) return
    const blocks = this.#chain.finalBlocks()
    if (blocks !== undefined) this.#history.note(await blocks.readNewest({ signal }))
    this.#noteAgreement(beganAtMs)
    // The other check, which may run at the same time, may have changed the status already.
    if (this.#status !== 'unchecked') return
    this.#status = 'ready'
    this.#options.log.info({ event: 'chain_ready', chain: this.#chain.id }, 'chain is ready')
  }

  async #fitsConfiguration(signal: AbortSignal): Promise<boolean> {
    const problems = await this.#chain.verify(signal)
    const text = problems.join('\n')
    if (text !== '' && text !== this.#loggedProblems) {
      const fields = { event: 'chain_misconfigured', chain: this.#chain.id, problems }
      this.#options.log.error(fields, 'chain contradicts its configuration')
    }
    this.#loggedProblems = text
    return text === ''
  }

  /**
   * Compares the chain's blocks; without blocks, its configuration. An endpoint that contradicts the configuration only
   * now is logged and stops nothing: each reading has its quorum.
   */
  async #compare(signal: AbortSignal): Promise<void> {
    const beganAtMs = this.#options.now()
    const history = this.#history
    const blocks = this.#chain.finalBlocks()
    if (blocks === undefined && !(await this.#fitsConfiguration(signal))) return
    const verdict = blocks === undefined ? unchanged : await history.compare(blocks, { signal })
    this.#noteAgreement(beganAtMs)
    this.#judge(verdict, history)
  }

  /** Notes that enough endpoints agreed on the head in a check that began then, and a newer final block. */
  #noteAgreement(beganAtMs: number): void {
    this.#agreedAtMs = beganAtMs
    const { newest } = this.#history
    if (newest === undefined || (this.#head !== undefined && newest <= this.#head.number)) return
    this.#head = { number: newest, seenAtMs: this.#options.now() }
  }

  /** Sets the status by a verdict. A chain that is `behind` twice in a row is halted like a changed one. */
  #judge(verdict: FinalVerdict, history: FinalHistory): void {
    // While a check ran the chain may have been halted, and a halt cleared, which ended the history that it compared.
    if (this.#status === 'halted' || history !== this.#history) return
    if (verdict.kind === 'unchanged') this.#status = 'ready'
    else if (verdict.kind === 'changed' || this.#status === 'unsure') this.#haltFor(verdict.contradiction)
    else {
      this.#status = 'unsure'
      const { log } = this.#options
      log.warn({ event: 'chain_behind', chain: this.#chain.id }, 'the chain ends below a final block')
    }
  }

  #haltFor(contradiction: FinalChange): void {
    this.#status = 'halted'
    const { log, onForget } = this.#options
    const { knownHash, foundHash } = contradiction
    const blockNumber = contradiction.blockNumber.toString()
    const fields = { event: 'chain_halted', chain: this.#chain.id, blockNumber, knownHash, foundHash }
    log.error(fields, 'a final block changed')
    onForget(this.#chain.id)
    this.#halt.save(contradiction)
  }

  /** Begins anew with a chain whose halt was cleared: nothing that was seen or cached before counts. */
  #endHalt(): void {
    this.#history = new FinalHistory()
    this.#head = undefined
    this.#status = 'unchecked'
    this.#options.onForget(this.#chain.id)
  }
}
