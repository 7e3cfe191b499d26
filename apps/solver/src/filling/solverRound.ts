import { type Tracing, traced } from '@causeway/http'
import type { Replacement } from '../wallet/chainDesk.ts'
import { type KeptRecord, newest } from '../wallet/signedRecord.ts'
import type { WorkSource } from '../work/workClient.ts'
import { chainsOf, type WorkItem } from '../work/workItems.ts'
import type { Filling, SolverChain } from './filling.ts'
import type { Handled } from './handled.ts'
import { handleItem } from './handleItem.ts'

export type RoundOptions = {
  readonly filling: Filling
  readonly work: Pick<WorkSource, 'open' | 'report' | 'failed' | 'waits'>
  /** True while an operator has stopped it: what was sent is followed, and nothing new is looked at. */
  readonly isStopped: () => Promise<boolean>
  readonly observe: RoundObserver
  readonly tracing?: Tracing | undefined
  readonly nowMs: () => number
}

/** Signal for an early round. Nothing in it is trusted. */
export type RoundSignal = {
  /** Chains that may have a new block. */
  readonly chainIds: ReadonlySet<number>
  /** True if there is work that was not looked at. */
  readonly hasWork: boolean
}

export type RoundObserver = {
  began(reason: RoundReason): void
  handled(item: WorkItem, handled: Handled): void
  failed(subject: string, error: unknown): void
}

export const roundReasons = ['clock', 'work', 'block'] as const
export type RoundReason = (typeof roundReasons)[number]

/**
 * Time before the next look at a refused item, which the service may list until it has decided, and at an item that needs
 * a pause: each look asks chains, and a round waits for all of its looks.
 */
const pauseMs = 5_000
/** Items that a round looks at side by side. */
const parallelItems = 8
/** Reasons to wait are reported to the service after so long: most waits are over sooner. */
const waitToldMs = 10_000
/** Maximum age of a listed item that a round for a new block uses; older ones are listed anew. */
const listedMaxMs = 2_000

/** Makes the function that runs one round, for `startLoop` to repeat. */
export function createRound(options: RoundOptions): (signal?: RoundSignal) => Promise<void> {
  const round = new SolverRound(options)
  return (signal) => round.run(signal)
}

/** Since when an item waits. `told`: the reason that was reported to the service last. */
type Wait = { readonly sinceMs: number; told?: string }

/**
 * Makes rounds. A round by the clock follows the transactions of all chains, then looks at all open items. A round for news
 * of work looks at the items; one for a new block follows that chain's transactions and looks at the items that wait for
 * it. A failure concerns one chain or one item, which the next round tries again.
 */
class SolverRound {
  readonly #options: RoundOptions
  readonly #pausedAtMs = new Map<string, number>()
  /** By item id. */
  readonly #waits = new Map<string, Wait>()
  /** Chains on which a record is not at its end. */
  readonly #chainsWithOpen = new Set<number>()
  /** Items of the last list that a new block may decide, and when it was listed. */
  readonly #waitingItems = { listedAtMs: Number.NEGATIVE_INFINITY, byId: new Map<string, WorkItem>() }

  constructor(options: RoundOptions) {
    this.#options = options
  }

  run(signal?: RoundSignal): Promise<void> {
    const { tracing } = this.#options
    return tracing === undefined
      ? this.#look(signal)
      : tracing.runTrace('round', {}, () => this.#look(signal))
  }

  async #look(signal?: RoundSignal): Promise<void> {
    const { observe, tracing } = this.#options
    const followed = this.#ledChains().filter(
      ({ chainId }) =>
        signal === undefined || (signal.chainIds.has(chainId) && this.#chainsWithOpen.has(chainId)),
    )
    // Chains whose new block is the only reason of this round; undefined: the round looks at all items.
    const blockChains = signal === undefined || signal.hasWork ? undefined : signal.chainIds
    // A block for which no transaction and no item waits makes no round.
    if (blockChains !== undefined && followed.length === 0 && this.#awaiting(blockChains).length === 0) return
    observe.began(reasonOf(signal))
    if (signal === undefined || followed.length > 0)
      await traced(tracing, 'follow sent', {}, () => this.#follow(followed))
    if (await this.#options.isStopped()) return
    const items = [...(await this.#itemsFor(blockChains))]
    const worker = async () => {
      for (let next = items.shift(); next !== undefined; next = items.shift()) {
        const item = next
        await this.#attempt(`${item.kind} ${item.id}`, () => this.#handleTraced(item))
      }
    }
    await Promise.all(Array.from({ length: parallelItems }, worker))
  }

  async #follow(followed: readonly SolverChain[]): Promise<void> {
    await Promise.all(followed.map((chain) => this.#advance(chain)))
    await this.#tellFailures()
  }

  /**
   * Follows the records of a chain, and reports transactions to be sent that the service does not know: the
   * one of a record that is still `asked`, as its report was not answered, unless it is being cancelled; then
   * replacements of reported ones.
   */
  async #advance(chain: SolverChain): Promise<void> {
    const { desk } = chain
    await this.#attempt(`chain ${chain.key}`, async () => {
      const open = await desk.advance()
      if (open.length > 0) this.#chainsWithOpen.add(chain.chainId)
      else this.#chainsWithOpen.delete(chain.chainId)
      for (const record of open) {
        if (record.outcome !== 'open' || record.release !== 'asked' || isCancelled(record)) continue
        await this.#attempt(`report of ${record.id}`, () => this.#release(record))
      }
      for (const replacement of await desk.replaced())
        await this.#attempt(`report of ${replacement.record.id}`, () =>
          this.#tellReplacement(chain, replacement),
        )
    })
  }

  /** Reports a transaction to the service before it is sent to any node. If the answer is lost, the next round asks again. */
  async #release(record: KeptRecord): Promise<void> {
    const { work, tracing } = this.#options
    const hash = newest<{ readonly hash: string }>(record.transactions)?.hash
    if (hash === undefined) return
    const answer = await traced(tracing, 'report', { 'causeway.item': record.id }, () =>
      work.report(record.id, hash, { validUntil: record.deadline }),
    )
    await traced(tracing, 'broadcast', { 'causeway.transaction_hash': hash }, async () =>
      this.#deskOf(record)?.release(record, answer === 'accepted' ? 'given' : 'refused'),
    )
  }

  /**
   * Reports that another transaction of a record counts now: a replacement, or the one that was mined. The
   * report names the one that the service follows (`toldHash`). That it is under way is kept before
   * (`beginTelling`), the answer after.
   */
  async #tellReplacement({ desk }: SolverChain, replacement: Replacement): Promise<void> {
    const { work } = this.#options
    const { hash } = replacement
    const record = await desk.beginTelling(replacement)
    const answer = await work.report(record.id, hash, {
      replaces: record.toldHash,
      validUntil: record.deadline,
    })
    await desk.releaseReplacement({ ...replacement, record }, answer)
  }

  /** Reports each failed attempt once; the service decides about the next one. */
  async #tellFailures(): Promise<void> {
    const { work } = this.#options
    const { records } = this.#options.filling
    const wallets = [...new Set(this.#ledChains().map(({ desk }) => desk.address))]
    for (const record of (await Promise.all(wallets.map(records.untold))).flat()) {
      const desk = this.#deskOf(record)
      if (desk === undefined) continue
      await this.#attempt(`report of ${record.id}`, async () => {
        // The service knows no chores and closings.
        if (record.kind !== 'chore' && record.kind !== 'close')
          await work.failed(record.id, `the transaction was ${record.outcome}`)
        await desk.markTold(record)
      })
    }
  }

  /** Items that a round looks at. @param chainIds with a new block; undefined: all open items */
  async #itemsFor(chainIds: ReadonlySet<number> | undefined): Promise<readonly WorkItem[]> {
    const { nowMs } = this.#options
    if (chainIds === undefined) return this.#fetch()
    const waiting = this.#awaiting(chainIds)
    return waiting.length > 0 && nowMs() - this.#waitingItems.listedAtMs > listedMaxMs
      ? this.#fetch()
      : waiting
  }

  /** Waiting items that a new block of these chains may decide. */
  #awaiting(chainIds: ReadonlySet<number>): readonly WorkItem[] {
    return [...this.#waitingItems.byId.values()].filter((item) =>
      chainsOf(item).some((one) => chainIds.has(one)),
    )
  }

  /** Lists the open items, forgets what is kept of others, and leaves out those that pause. */
  async #fetch(): Promise<readonly WorkItem[]> {
    const { work, nowMs, tracing } = this.#options
    this.#waitingItems.byId.clear()
    const listedAtMs = nowMs()
    const items = await traced(tracing, 'fetch work', {}, work.open)
    this.#waitingItems.listedAtMs = listedAtMs
    for (const [id, atMs] of this.#pausedAtMs) if (nowMs() - atMs >= pauseMs) this.#pausedAtMs.delete(id)
    const listed = new Set(items.map(({ id }) => id))
    for (const id of this.#waits.keys()) if (!listed.has(id)) this.#waits.delete(id)
    return items.filter((open) => !this.#isPausing(open))
  }

  #isPausing({ id }: WorkItem) {
    const { nowMs } = this.#options
    return nowMs() - (this.#pausedAtMs.get(id) ?? Number.NEGATIVE_INFINITY) < pauseMs
  }

  /** An item is a trace of its own: a round has many. */
  #handleTraced(item: WorkItem) {
    const { tracing } = this.#options
    return tracing === undefined
      ? this.#handle(item)
      : tracing.runTrace('work item', { 'causeway.item': item.id, 'causeway.kind': item.kind }, () =>
          this.#handle(item),
        )
  }

  async #handle(item: WorkItem): Promise<void> {
    const { filling, tracing } = this.#options
    const handled = await traced(tracing, 'check', {}, () => handleItem(item, filling))
    await this.#tell(item, handled)
  }

  /** Counts and logs the outcome of a look, and reports it to the service. */
  async #tell(item: WorkItem, handled: Handled): Promise<void> {
    const { filling, work, observe, nowMs } = this.#options
    observe.handled(item, handled)
    if (isWaiting(handled)) this.#waitingItems.byId.set(item.id, item)
    else this.#waitingItems.byId.delete(item.id)
    if (handled.kind === 'later') await this.#tellWait(item.id, handled.reason)
    else this.#waits.delete(item.id)
    if (handled.kind === 'signed') {
      this.#chainsWithOpen.add(handled.record.chainId)
      return this.#release(handled.record)
    }
    if (handled.kind === 'entered') {
      await work.report(item.id, handled.key, {})
      return
    }
    if (handled.kind === 'refused' || needsPause(handled)) this.#pausedAtMs.set(item.id, nowMs())
    if (handled.kind === 'refused' && !filling.isDryRun) await work.failed(item.id, handled.reason)
  }

  /** Reports why an item waits: not at once, then each change. @source rule Q-75 */
  async #tellWait(id: string, reason: string): Promise<void> {
    const { filling, work, nowMs } = this.#options
    const wait: Wait = this.#waits.get(id) ?? { sinceMs: nowMs() }
    this.#waits.set(id, wait)
    if (wait.told === reason || filling.isDryRun || nowMs() - wait.sinceMs < waitToldMs) return
    await work.waits(id, reason)
    wait.told = reason
  }

  /** Chains that this process writes on. */
  #ledChains() {
    const { chains } = this.#options.filling
    return chains.filter(({ desk }) => desk.leads())
  }

  #deskOf({ chainId }: KeptRecord) {
    return this.#ledChains().find((chain) => chain.chainId === chainId)?.desk
  }

  async #attempt(subject: string, run: () => Promise<void>): Promise<void> {
    const { observe } = this.#options
    try {
      await run()
    } catch (error) {
      observe.failed(subject, error)
    }
  }
}

function reasonOf(signal: RoundSignal | undefined): RoundReason {
  if (signal === undefined) return 'clock'
  return signal.hasWork ? 'work' : 'block'
}

const needsPause = (handled: Handled): boolean => 'needsPause' in handled && handled.needsPause === true
const isWaiting = (handled: Handled): boolean => handled.kind === 'later' && !needsPause(handled)

const isCancelled = (record: KeptRecord): boolean =>
  'cancellations' in record && record.cancellations.length > 0
