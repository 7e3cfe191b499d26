import { DomainError, type FinalBlock, type FinalBlocks, whenAborted } from '@causeway/core'
import { leastBetweenReadsMs } from '@causeway/core/config'
import type { FinalChange, FinalVerdict } from '@causeway/families'
import { unreadableChain } from '@causeway/rpc'
import { FinalHistory } from './finalHistory.ts'
import type { HaltStore } from './haltStore.ts'

/** A chain, the hub or the allocator's chain, which is verified before the oracle signs for it, and then watched. */
export type WatchedChain = {
  readonly id: string
  /**
   * Compares the endpoints with the configuration: once, or at every check where there are no blocks to compare.
   * @returns problems that name settings; @throws DomainError when the endpoints do not answer or disagree
   */
  verify(signal: AbortSignal): Promise<readonly string[]>
  /** `undefined` where the family has no blocks, and for the hub. */
  finalBlocks(): FinalBlocks | undefined
  /** Id of another watched chain from which facts of this one are read, too: the hub, where transfers name no order. */
  readonly restsOn?: string | undefined
}

/**
 * - `unchecked`: not compared with its configuration since the start, or since a halt was lifted
 * - `silent`: too few endpoints answered the last check; requests are tried all the same
 * - `unsure`: the chain ends below a block that was final; endpoints may lag, so a second check decides
 * - `halted`: a final block changed, and nothing is signed until an operator clears the halt
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

/** Chains that were not used for so long are not followed, to save calls of endpoints. */
export const followedAfterUseMs = 600_000

/** Pause between two tries to verify an unchecked chain: the retry time of `CHAIN_NOT_CHECKED`. */
const uncheckedPauseMs = 1_000

export type WatchOptions = {
  /** Absent without `STATE_DIR` and without a database: a halt then lasts as long as the process. */
  readonly store: HaltStore | undefined
  /** Called when cached answers of a chain may be wrong: it was halted, or its halt was lifted. */
  readonly onForget: (chainId: string) => void
  /** Called when a chain is used that was not followed: the cache of its reader must be dropped. */
  readonly onResume: (chainId: string) => void
  /** Cached answers of a chain are given only so long after enough endpoints last agreed on its head. */
  readonly headAgeMaxMs: number
  readonly checkTimeoutMs: number
  readonly log: WatchLog
}

type EntryOptions = WatchOptions & {
  /** True where the store has a halt of this chain. */
  readonly isKept: boolean
  readonly now: () => number
}

/**
 * The state of one watched chain. `ChainWatch` calls two checks: `look`, the slow one, for all chains, and `follow`, the
 * fast one, which keeps the time short in which a cached answer of a rewritten chain could be given.
 */
export class WatchedEntry {
  readonly #chain: WatchedChain
  readonly #options: EntryOptions
  #status: WatchStatus
  /** True when the halt is in the store: then its removal there lifts it. */
  #isKept: boolean
  /** Change that this process saw; saved again at each look until it is in the store. */
  #contradiction: FinalChange | undefined
  #history = new FinalHistory()
  #saving: Promise<void> = Promise.resolve()
  /** Last use of a fact or cached answer. */
  #usedAtMs: number
  /** Start of the last fast check that showed the chain unchanged. */
  #provenAtMs: number
  /** Last use after which the chain was followed again. */
  #resumedAtMs: number
  /** Start of the last check in which enough endpoints agreed on the head. */
  #agreedAtMs = Number.NEGATIVE_INFINITY
  /** Time before which newer blocks are not linked: several came at once, so it can wait for more. */
  #linksDueMs = Number.NEGATIVE_INFINITY
  /** Checks under way, which later callers share. */
  #agreeing: Promise<void> | undefined
  #following: Promise<void> | undefined
  /** Time of the last try to verify an unchecked chain. */
  #triedAtMs = Number.NEGATIVE_INFINITY
  /** Problems that were logged last: the same are not logged again. */
  #loggedProblems = ''
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

  /** Takes a block of an attestation's facts; halts the chain if it contradicts one seen before. */
  note(block: FinalBlock): void {
    if (this.#status !== 'halted') this.#judge(this.#history.note(block))
  }

  /** The newest final block that was agreed on, and how long ago it was first seen. */
  finalHead(): { readonly number: bigint; readonly ageMs: number } | undefined {
    return this.#head && { number: this.#head.number, ageMs: this.#options.now() - this.#head.seenAtMs }
  }

  /** Resolves when a halt of this process is saved, or could not be. */
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

  /** True if enough endpoints agreed on the head within `headAgeMaxMs`. */
  hasHead(): boolean {
    return this.#options.now() - this.#agreedAtMs <= this.#options.headAgeMaxMs
  }

  /** Asks the endpoints for the head, once for all callers that wait. @throws DomainError as a reading of facts does */
  async readHead(): Promise<void> {
    this.#agreeing ??= this.#readHead(AbortSignal.timeout(this.#options.checkTimeoutMs)).finally(() => {
      this.#agreeing = undefined
    })
    await this.#agreeing
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

  /** See `ChainWatch.keptWindows`; `undefined` where the chain is not followed. */
  keptWindowMs(): number | undefined {
    const isFollowed = isUsable(this.#status) && this.#isFollowed() && this.#chain.finalBlocks() !== undefined
    return isFollowed ? this.#options.now() - this.#provenAtMs : undefined
  }

  /** The fast check. Only one runs at a time, however slow the endpoints are. */
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
      // A chain that ends too early may only have lagging endpoints: the slow check decides about that.
      if (verdict.kind === 'changed') this.#judge(verdict)
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

  /** The slow check. */
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

  /** Halts the chain because the store has a halt, which another process saved. */
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

  /** For a halted chain: saves the halt if the store lacks it, or lifts it if the operator removed it from the store. */
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
    // The other check, which may run at the same time, may have changed the status already.
    if (this.#status !== 'unchecked') return
    this.#status = 'ready'
    log.info({ event: 'chain_ready', chain: id }, 'chain is ready')
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

  /** Compares the chain's blocks; without blocks, its configuration. An endpoint that differs later stops nothing: each reading has its quorum. */
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

  /** Updates the newest final block, for `finalHead`. */
  #noteHead(): void {
    const { newest } = this.#history
    if (newest === undefined || (this.#head !== undefined && newest <= this.#head.number)) return
    this.#head = { number: newest, seenAtMs: this.#options.now() }
  }

  #judge(verdict: FinalVerdict): void {
    // A block of an attestation may have halted the chain while this check ran.
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
