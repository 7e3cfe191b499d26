import type { SqlDatabase } from '@causeway/core'
import { listFinalTopUps, type ObservedTopUp, type TopUpEvent } from '@causeway/ledger'
import type { TopUpChain } from './topUpChain.ts'
import { accountOf } from './watchTopUps.ts'

/** One transfer that chain and ledger do not have alike. */
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
  /** Sum of what both have alike. */
  readonly explainedMicroUsd: bigint
  /** Sum of what either has. */
  readonly totalMicroUsd: bigint
  /** Explained of total in millionths; 1,000,000 when nothing is unexplained. */
  readonly explainedPpm: bigint
}

const rangeBlocksMax = 2_000n
/** Far above what one range of blocks can hold. */
const eventsPerRangeMax = 100_000
const ppm = 1_000_000n

/**
 * Reads settled blocks again from another endpoint and compares every transfer with what is stored. Writes
 * nothing. @source ledger-and-safety.md 1.9, Reconciliation job
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

function compare(onChain: readonly ObservedTopUp[], stored: readonly TopUpEvent[]) {
  const differences: TopUpDifference[] = []
  let explained = 0n
  let total = 0n
  const waiting = new Map<string, TopUpEvent[]>()
  for (const event of stored) {
    const key = placeOf(event.transactionHash, event.logIndex)
    waiting.set(key, [...(waiting.get(key) ?? []), event])
  }
  for (const topUp of onChain) {
    const { transactionHash, log } = topUp
    const name = { transactionHash, logIndex: log.logIndex, valueMicroUsd: log.value }
    const events = waiting.get(placeOf(transactionHash, log.logIndex)) ?? []
    const event = events.find((one) => isSame(topUp, one)) ?? events[0]
    const others = events.filter((one) => one !== event)
    waiting.delete(placeOf(transactionHash, log.logIndex))
    total += log.value + others.reduce((sum, { value }) => sum + value, 0n)
    if (event === undefined) differences.push({ kind: 'dropped', ...name })
    else if (!isSame(topUp, event)) differences.push({ kind: 'altered', ...name })
    else explained += log.value
    if (others.length > 0) differences.push({ kind: 'duplicated', ...name })
  }
  for (const event of [...waiting.values()].flat()) {
    const { transactionHash, logIndex, value } = event
    total += value
    differences.push({ kind: 'invented', transactionHash, logIndex, valueMicroUsd: value })
  }
  return { differences, explained, total }
}

/** The credited owner is compared too, unless the transfer was suspended by a mode that could see less. */
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

function placeOf(transactionHash: string, logIndex: number): string {
  return `${transactionHash}:${logIndex}`
}
