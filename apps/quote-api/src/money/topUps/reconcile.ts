import type { SqlDatabase } from '@causeway/core'
import { listFinalTopUps, type ObservedTopUp, type TopUpEvent } from '@causeway/ledger'
import type { TopUpChain } from './topUpChain.ts'
import { accountOf } from './topUpPass.ts'

/** One transfer that differs between chain and ledger. */
export type TopUpDifference = {
  /**
   * `dropped`: on the chain, not in the ledger. `duplicated`: in the ledger more than once. `altered`: in both,
   * with other content. `invented`: in the ledger, not on the chain.
   */
  readonly kind: 'dropped' | 'duplicated' | 'altered' | 'invented'
  readonly transactionHash: string
  readonly logIndex: number
  readonly valueMicroUsd: bigint
}

export type Reconciliation = {
  readonly from: bigint
  readonly to: bigint
  readonly differences: readonly TopUpDifference[]
  /** Sum of transfers that are equal in both. */
  readonly explainedMicroUsd: bigint
  /** Sum of transfers that are in either. */
  readonly totalMicroUsd: bigint
  /** Explained part of the total in millionths; 1,000,000 if nothing differs. */
  readonly explainedPpm: bigint
}

const rangeBlocksMax = 2_000n
/** Far above what one range of blocks can hold. */
const eventsPerRangeMax = 100_000
const ppm = 1_000_000n

/**
 * Reads settled blocks again from another endpoint and compares every transfer with the stored top-ups. Writes
 * nothing.
 * @throws UpstreamUnavailableError
 */
export async function reconcile(args: {
  database: SqlDatabase
  /** Over an endpoint that the watcher does not use. */
  chain: TopUpChain
  from: bigint
  to: bigint
  signal: AbortSignal
}): Promise<Reconciliation> {
  const { database, chain, from, to, signal } = args
  const differences: TopUpDifference[] = []
  let explained = 0n
  let total = 0n
  for (let start = from; start <= to; start += rangeBlocksMax) {
    const end = start + rangeBlocksMax - 1n < to ? start + rangeBlocksMax - 1n : to
    const onChain = await chain.topUps({ from: start, to: end }, 'quorum', signal)
    const stored = await database.transaction((tx) =>
      listFinalTopUps(tx, accountOf(chain), { from: start, to: end, limit: eventsPerRangeMax }),
    )
    const comparison = compare(onChain, stored)
    differences.push(...comparison.differences)
    explained += comparison.explained
    total += comparison.total
  }
  const explainedPpm = total === 0n ? ppm : (explained * ppm) / total
  return { from, to, differences, explainedMicroUsd: explained, totalMicroUsd: total, explainedPpm }
}

/** Matches transfers with stored events by transaction and log. Of several events the equal one counts, the others are duplicates. */
function compare(onChain: readonly ObservedTopUp[], stored: readonly TopUpEvent[]) {
  const differences: TopUpDifference[] = []
  let explained = 0n
  let total = 0n
  const unmatchedEvents = new Map<string, TopUpEvent[]>()
  for (const event of stored) {
    const key = logKeyOf(event.transactionHash, event.logIndex)
    unmatchedEvents.set(key, [...(unmatchedEvents.get(key) ?? []), event])
  }
  for (const topUp of onChain) {
    const { transactionHash, log } = topUp
    const key = logKeyOf(transactionHash, log.logIndex)
    const transfer = { transactionHash, logIndex: log.logIndex, valueMicroUsd: log.value }
    const events = unmatchedEvents.get(key) ?? []
    const match = events.find((event) => isSame(topUp, event)) ?? events[0]
    const duplicates = events.filter((event) => event !== match)
    unmatchedEvents.delete(key)
    total += log.value + duplicates.reduce((sum, { value }) => sum + value, 0n)
    if (match === undefined) differences.push({ kind: 'dropped', ...transfer })
    else if (!isSame(topUp, match)) differences.push({ kind: 'altered', ...transfer })
    else explained += log.value
    if (duplicates.length > 0) differences.push({ kind: 'duplicated', ...transfer })
  }
  for (const event of [...unmatchedEvents.values()].flat()) {
    const { transactionHash, logIndex, value } = event
    total += value
    differences.push({ kind: 'invented', transactionHash, logIndex, valueMicroUsd: value })
  }
  return { differences, explained, total }
}

/** Owners are compared only if the event was credited: read without a call trace, it may be in suspense. */
function isSame(topUp: ObservedTopUp, event: TopUpEvent): boolean {
  const { verdict } = topUp
  const owner = verdict.kind === 'credit' ? verdict.owner : undefined
  return (
    topUp.log.value === event.value &&
    topUp.log.from === event.from &&
    topUp.log.ordinal === event.ordinal &&
    topUp.blockHash === event.blockHash &&
    topUp.blockNumber === event.blockNumber &&
    (event.creditedOwner === undefined || owner === event.creditedOwner)
  )
}

function logKeyOf(transactionHash: string, logIndex: number): string {
  return `${transactionHash}:${logIndex}`
}
