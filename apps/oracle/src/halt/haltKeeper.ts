import type { FinalChange } from '@causeway/families'
import type { HaltStore } from './haltStore.ts'
import type { WatchLog } from './watchedChain.ts'

type HaltKeeperOptions = {
  readonly chainId: string
  /** Undefined: a halt lasts as long as the process. */
  readonly store: HaltStore | undefined
  readonly log: WatchLog
}

/**
 * Keeps the halt of one chain in the store, and finds out that an operator removed it there. A halt whose
 * saving failed is saved again at each check. One that was stored and is not any more was removed: the entry
 * then begins anew, and uses the same keeper for the next halt.
 */
export class HaltKeeper {
  readonly #options: HaltKeeperOptions
  /** True while the halt is in the store: its removal there then lifts it. */
  #isStored: boolean
  /** Change for which this process halted the chain; undefined for a halt that it found in the store. */
  #contradiction: FinalChange | undefined
  #saving: Promise<void> = Promise.resolve()

  constructor(options: HaltKeeperOptions, isStored: boolean) {
    this.#options = options
    this.#isStored = isStored
  }

  /** Resolves when a halt of this process is saved, or could not be. */
  get saved(): Promise<void> {
    return this.#saving
  }

  /** Notes that another process saved the halt. */
  noteStored(): void {
    this.#isStored = true
  }

  /** Begins to save a halt of this process. */
  save(contradiction: FinalChange): void {
    this.#contradiction = contradiction
    this.#saving = this.#write(contradiction)
  }

  /** Call it at each slow check while the chain is halted. @returns true if an operator removed the halt */
  async saveOrSeeCleared(): Promise<boolean> {
    const { chainId, store, log } = this.#options
    if (store === undefined) return false
    if (!this.#isStored) {
      if (this.#contradiction !== undefined) this.save(this.#contradiction)
      return false
    }
    if (await store.has(chainId)) return false
    log.warn({ event: 'halt_lifted', chain: chainId }, 'the operator cleared the halt')
    this.#isStored = false
    this.#contradiction = undefined
    return true
  }

  async #write(contradiction: FinalChange): Promise<void> {
    const { chainId, store, log } = this.#options
    try {
      await store?.save(chainId, contradiction)
      this.#isStored = store !== undefined
    } catch (error) {
      log.error({ event: 'halt_not_kept', chain: chainId, err: error }, 'a restart would lift the halt')
    }
  }
}
