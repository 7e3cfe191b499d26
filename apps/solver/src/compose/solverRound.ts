import { type Handled, handleItem, hasFailed, type SolverChain } from './handleItem.ts'
import type { Outbox } from '../wallet/outbox.ts'
import type { SignedRecord } from '../wallet/signedRecord.ts'
import type { WorkSource } from '../work/workClient.ts'
import type { WorkItem } from '../work/workItems.ts'

export type RoundOptions = {
  readonly chains: readonly SolverChain[]
  readonly outbox: Outbox
  readonly work: WorkSource
  readonly log: (line: string) => void
  readonly nowMs: () => number
}

/** Refused items are looked at again after a while only: the service may list them until it decided. */
const refusedPauseMs = 5_000

/** One look at chains and work; what fails concerns one chain or one item and is tried again. */
export function createRound(options: RoundOptions): () => Promise<void> {
  const { chains, outbox, work, log, nowMs } = options
  const refusedAtMs = new Map<string, number>()

  async function attempt(what: string, run: () => Promise<void>): Promise<void> {
    try {
      await run()
    } catch (error) {
      log(`${what}: ${error instanceof Error ? error.message.split('\n', 1)[0] : error}`)
    }
  }

  async function advanceAll(): Promise<void> {
    for (const { desk } of chains) {
      await attempt(`chain ${desk.wallet.chainId}`, async () => void (await desk.advance()))
    }
  }

  /** The service hears of a transaction before anybody else does; a lost answer is asked for again. */
  async function release(record: SignedRecord): Promise<void> {
    const answer = await work.report(record.id, record.transaction.hash)
    const { desk } = chains.find(({ config }) => config.chainId === record.chainId) ?? {}
    await desk?.release(record, answer === 'accepted' ? 'given' : 'refused')
  }

  async function releaseAsked(): Promise<void> {
    const asked = outbox
      .all()
      .filter(
        ({ outcome, release: state, cancellation }) =>
          outcome === 'open' && state === 'asked' && !cancellation,
      )
    for (const record of asked) await attempt(`report of ${record.id}`, () => release(record))
  }

  async function tell(item: WorkItem, handled: Handled): Promise<void> {
    if (handled.kind === 'signed') return release(handled.record)
    if (handled.kind === 'later') return
    refusedAtMs.set(item.id, nowMs())
    log(`${item.kind} ${item.id}: refused, ${handled.reason}`)
    await work.failed(item.id, handled.reason)
  }

  /** Told once; an attempt that failed for good leaves the next one to the service. */
  async function tellFailures(): Promise<void> {
    for (const record of outbox.all()) {
      if (record.kind === 'chore' || !hasFailed(record) || record.failureReported) continue
      await attempt(`report of ${record.id}`, async () => {
        await work.failed(record.id, `the transaction was ${record.outcome}`)
        await outbox.save({ ...record, failureReported: true })
      })
    }
  }

  const isPausing = ({ id }: WorkItem) =>
    nowMs() - (refusedAtMs.get(id) ?? Number.NEGATIVE_INFINITY) < refusedPauseMs

  return async () => {
    await advanceAll()
    await tellFailures()
    await releaseAsked()
    const items = await work.open()
    for (const [id, atMs] of refusedAtMs) if (nowMs() - atMs >= refusedPauseMs) refusedAtMs.delete(id)
    for (const item of items.filter((open) => !isPausing(open))) {
      await attempt(`${item.kind} ${item.id}`, async () => tell(item, await handleItem(item, options)))
    }
  }
}
