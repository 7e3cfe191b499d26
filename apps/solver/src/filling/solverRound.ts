import { type Tracing, traced } from '@causeway/http'
import type { Replacement } from '../wallet/chainDesk.ts'
import { type KeptRecord, newest } from '../wallet/signedRecord.ts'
import type { WorkSource } from '../work/workClient.ts'
import { chainsOf, type WorkItem } from '../work/workItems.ts'
import type { Filling, SolverChain } from './filling.ts'
import { type Handled, handleItem } from './handleItem.ts'

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
 * Refused items are looked at again after a while only: the service may list them until it decided. Those that wait
 * for an hour's budget too: each look asks the chain, and a round waits for all of its looks.
 */
const pauseMs = 5_000
const atOnce = 8
/** Most waits are over sooner, and nobody asks for their reason. */
const waitToldMs = 10_000
/** Maximum age of a listed item that is begun at a new block: after it another wallet may have it. */
const listedMaxMs = 2_000

export function createRound(options: RoundOptions): (signal?: RoundSignal) => Promise<void> {
  const round = new SolverRound(options)
  return (signal) => round.run(signal)
}

/**
 * One look at chains and work; what fails concerns one chain or one item and is tried again. At what was told of, it
 * looks at no more than that: at a new block of a chain, at what was sent there, and at the items that hang on it.
 */
class SolverRound {
  readonly #options: RoundOptions
  readonly #pausedAtMs = new Map<string, number>()
  /** Items that were not begun, since when and why; `isTold`: the service has the reason. */
  readonly #waits = new Map<string, { readonly reason: string; readonly sinceMs: number; isTold: boolean }>()
  /** Chains on which something was signed that is not at its end. */
  readonly #openOn = new Set<number>()
  /** Items that wait for something. */
  readonly #waiting = { listedAtMs: Number.NEGATIVE_INFINITY, items: new Map<string, WorkItem>() }

  constructor(options: RoundOptions) {
    this.#options = options
  }

  run(signal?: RoundSignal): Promise<void> {
    const { tracing } = this.#options
    return tracing === undefined ? this.#look(signal) : tracing.start('round', {}, () => this.#look(signal))
  }

  async #attempt(subject: string, run: () => Promise<void>): Promise<void> {
    const { observe } = this.#options
    try {
      await run()
    } catch (error) {
      observe.failed(subject, error)
    }
  }

  #led() {
    const { chains } = this.#options.filling
    return chains.filter(({ desk }) => desk.leads())
  }

  #deskOf({ chainId }: KeptRecord) {
    return this.#led().find((chain) => chain.chainId === chainId)?.desk
  }

  /** The service hears of a transaction before anybody else does; a lost answer is asked for again. */
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

  /** A higher price has another hash, and so has whichever of several was mined: the service follows one. */
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

  async #advance(chain: SolverChain): Promise<void> {
    const { desk } = chain
    await this.#attempt(`chain ${chain.key}`, async () => {
      const open = await desk.advance()
      if (open.length > 0) this.#openOn.add(chain.chainId)
      else this.#openOn.delete(chain.chainId)
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

  async #tell(item: WorkItem, handled: Handled): Promise<void> {
    const { filling, work, observe, nowMs } = this.#options
    observe.handled(item, handled)
    if (isWaiting(handled)) this.#waiting.items.set(item.id, item)
    else this.#waiting.items.delete(item.id)
    if (handled.kind === 'later') await this.#tellWait(item.id, handled.reason)
    else this.#waits.delete(item.id)
    if (handled.kind === 'signed') {
      this.#openOn.add(handled.record.chainId)
      return this.#release(handled.record)
    }
    if (handled.kind === 'entered') {
      await work.report(item.id, handled.key, {})
      return
    }
    if (handled.kind === 'refused' || isSpent(handled)) this.#pausedAtMs.set(item.id, nowMs())
    if (handled.kind === 'refused' && !filling.isDryRun) await work.failed(item.id, handled.reason)
  }

  /** @source docs/specification/quotes.md Q-75 */
  async #tellWait(id: string, reason: string): Promise<void> {
    const { filling, work, nowMs } = this.#options
    const before = this.#waits.get(id)
    const wait = before?.reason === reason ? before : { reason, sinceMs: nowMs(), isTold: false }
    this.#waits.set(id, wait)
    if (wait.isTold || filling.isDryRun || nowMs() - wait.sinceMs < waitToldMs) return
    await work.waits(id, reason)
    wait.isTold = true
  }

  /** Reports each failed attempt once; the service decides about the next one. */
  async #tellFailures(): Promise<void> {
    const { work } = this.#options
    const { records } = this.#options.filling
    const wallets = [...new Set(this.#led().map(({ desk }) => desk.address))]
    for (const record of (await Promise.all(wallets.map(records.untold))).flat()) {
      const desk = this.#deskOf(record)
      if (desk === undefined) continue
      await this.#attempt(`report of ${record.id}`, async () => {
        if (record.kind !== 'chore' && record.kind !== 'close')
          await work.failed(record.id, `the transaction was ${record.outcome}`)
        await desk.markTold(record)
      })
    }
  }

  #isPausing({ id }: WorkItem) {
    const { nowMs } = this.#options
    return nowMs() - (this.#pausedAtMs.get(id) ?? Number.NEGATIVE_INFINITY) < pauseMs
  }

  async #handle(item: WorkItem): Promise<void> {
    const { filling, tracing } = this.#options
    const judged = await traced(tracing, 'check', {}, () => handleItem(item, filling))
    await this.#tell(item, judged)
  }

  /** An item is a trace of its own: a round has many. */
  #handleTraced(item: WorkItem) {
    const { tracing } = this.#options
    return tracing === undefined
      ? this.#handle(item)
      : tracing.start('work item', { 'causeway.item': item.id, 'causeway.kind': item.kind }, () =>
          this.#handle(item),
        )
  }

  async #follow(followed: readonly SolverChain[]): Promise<void> {
    await Promise.all(followed.map((chain) => this.#advance(chain)))
    await this.#tellFailures()
  }

  async #fetch(): Promise<readonly WorkItem[]> {
    const { work, nowMs, tracing } = this.#options
    this.#waiting.items.clear()
    const listedAtMs = nowMs()
    const items = await traced(tracing, 'fetch work', {}, work.open)
    this.#waiting.listedAtMs = listedAtMs
    for (const [id, atMs] of this.#pausedAtMs) if (nowMs() - atMs >= pauseMs) this.#pausedAtMs.delete(id)
    const listed = new Set(items.map(({ id }) => id))
    for (const id of this.#waits.keys()) if (!listed.has(id)) this.#waits.delete(id)
    return items.filter((open) => !this.#isPausing(open))
  }

  #hangingOn(chainIds: ReadonlySet<number>): readonly WorkItem[] {
    return [...this.#waiting.items.values()].filter((item) => chainsOf(item).some((one) => chainIds.has(one)))
  }

  /** Undefined chains: all that is open. */
  async #itemsFor(chainIds: ReadonlySet<number> | undefined): Promise<readonly WorkItem[]> {
    const { nowMs } = this.#options
    if (chainIds === undefined) return this.#fetch()
    const hanging = this.#hangingOn(chainIds)
    return hanging.length > 0 && nowMs() - this.#waiting.listedAtMs > listedMaxMs ? this.#fetch() : hanging
  }

  async #look(signal?: RoundSignal): Promise<void> {
    const { observe, tracing } = this.#options
    const followed = this.#led().filter(
      ({ chainId }) => signal === undefined || (signal.chainIds.has(chainId) && this.#openOn.has(chainId)),
    )
    const blocks = signal === undefined || signal.hasWork ? undefined : signal.chainIds
    // A block where nothing waits for one costs nothing.
    if (blocks !== undefined && followed.length === 0 && this.#hangingOn(blocks).length === 0) return
    observe.began(signal === undefined ? 'clock' : blocks === undefined ? 'work' : 'block')
    if (signal === undefined || followed.length > 0)
      await traced(tracing, 'follow sent', {}, () => this.#follow(followed))
    if (await this.#options.isStopped()) return
    const items = [...(await this.#itemsFor(blocks))]
    const worker = async () => {
      for (let item = items.shift(); item !== undefined; item = items.shift()) {
        const next = item
        await this.#attempt(`${next.kind} ${next.id}`, () => this.#handleTraced(next))
      }
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
  }
}

const isSpent = (handled: Handled): boolean => 'isSpent' in handled && handled.isSpent === true
const isWaiting = (handled: Handled): boolean => handled.kind === 'later' && !isSpent(handled)

const isCancelled = (record: KeptRecord): boolean =>
  'cancellations' in record && record.cancellations.length > 0
