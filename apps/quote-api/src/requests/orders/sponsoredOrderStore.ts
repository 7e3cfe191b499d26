import {
  type BusySponsor,
  DomainError,
  type HoldOutcome,
  type HoldRequest,
  type Ledger,
  type SqlDatabase,
  type SqlWriteTx,
} from '@causeway/core'
import type { SponsorshipOutcome } from '../../pricing/sponsorship/sponsorshipOutcome.ts'
import { createGroupCommit } from './groupCommit.ts'
import { idBytes, insertOrders, joinTexts, orderColumns } from './orderColumns.ts'
import { sharesToRow } from './storedFees.ts'
import type { StoredOrder } from './storedOrder.ts'

/** Stored sponsorship of a request that asked about it. */
export type StoredSponsorship = {
  /** Undefined where the user pays. */
  readonly sponsor: string | undefined
  readonly debitMicroUsd: bigint
  /** JSON text. */
  readonly quoted: string
}

export type SponsoredOrder = {
  readonly order: StoredOrder
  readonly sponsorship: StoredSponsorship
  readonly hold: HoldRequest | undefined
}

type SaveOutcome = HoldOutcome | NoHold

export interface SponsoredOrderStore {
  /**
   * Stores order and hold in one commit, many together. An order whose hold is refused
   * is not stored. Resolves once both survive a crash.
   * @throws WritesOverloadedError, UpstreamUnavailableError
   */
  save(item: SponsoredOrder): Promise<SaveOutcome>
}

const groupMax = 128
const queueMax = 2_048
const laneQueueMax = 1_024
/** So many quotes of one sponsor wait together with those of others. More would make theirs wait. */
const sharedOfOneMax = groupMax / 2

type SharedOutcome = SaveOutcome | BusySponsor

/**
 * Group commit, one group at a time for all sponsors: what a group costs is shared by all of its quotes. A sponsor whose
 * row somebody else has, or that fills groups alone, goes on in a lane of its own until nothing of it waits there.
 * @source rule L-49
 */
export function createSponsoredOrderStore({
  database,
  ledger,
}: {
  readonly database: SqlDatabase
  readonly ledger: Ledger
}): SponsoredOrderStore {
  const groups = <Outcome extends SharedOutcome>(reserve: Reserve<Outcome>, queueMax: number) =>
    createGroupCommit<SponsoredOrder, Outcome | NoHold>({
      // A group begins with the facts about its sponsors, or with the insert where there is none.
      write: (items) =>
        database.transaction((tx) => writeItems(tx, items, reserve), {
          opensWithRead: holdsIn(items).length > 0,
        }),
      mayRetryAlone: (error) => !(error instanceof DomainError),
      groupMax,
      queueMax,
    })
  const shared = groups(ledger.reserveFree, queueMax)
  const inShared = createCounts()
  const lanes = new Map<string, ReturnType<typeof groups<HoldOutcome>>>()
  const inLane = createCounts()

  async function addToLane(sponsor: string, item: SponsoredOrder): Promise<SaveOutcome> {
    const lane = lanes.get(sponsor) ?? groups(ledger.reserveBatch, laneQueueMax)
    lanes.set(sponsor, lane)
    const left = inLane.enter(sponsor)
    try {
      return await lane.add(item)
    } finally {
      if (left() === 0) lanes.delete(sponsor)
    }
  }

  async function addToShared(sponsor: string, item: SponsoredOrder): Promise<SharedOutcome> {
    const left = inShared.enter(sponsor)
    try {
      return await shared.add(item)
    } finally {
      left()
    }
  }

  return {
    async save(item) {
      const sponsor = item.hold?.sponsor ?? ''
      const isAlone = lanes.has(sponsor) || inShared.of(sponsor) >= sharedOfOneMax
      const outcome = isAlone ? busyOutcome : await addToShared(sponsor, item)
      return outcome.status === 'busy' ? addToLane(sponsor, item) : outcome
    },
  }
}

const busyOutcome = { status: 'busy' } as const

/** Number of members inside, per name. */
function createCounts() {
  const counts = new Map<string, number>()
  const change = (name: string, delta: 1 | -1): number => {
    const count = (counts.get(name) ?? 0) + delta
    if (count === 0) counts.delete(name)
    else counts.set(name, count)
    return count
  }
  return {
    of: (name: string) => counts.get(name) ?? 0,
    /** @returns what leaves again, and tells how many are left */
    enter(name: string): () => number {
      change(name, 1)
      return () => change(name, -1)
    },
  }
}

type NoHold = { readonly status: 'no_hold' }
type Reserve<Outcome> = (tx: SqlWriteTx, holds: readonly HoldRequest[]) => Promise<readonly Outcome[]>

/** Orders and holds in the caller's transaction; an order whose hold is refused is left out. */
export function writeGroup(
  tx: SqlWriteTx,
  ledger: Ledger,
  items: readonly SponsoredOrder[],
): Promise<readonly SaveOutcome[]> {
  return writeItems(tx, items, ledger.reserveBatch)
}

async function writeItems<Outcome extends SharedOutcome>(
  tx: SqlWriteTx,
  items: readonly SponsoredOrder[],
  reserve: Reserve<Outcome>,
): Promise<readonly (Outcome | NoHold)[]> {
  const holds = holdsIn(items)
  const holdOutcomes = holds.length === 0 ? [] : await reserve(tx, holds)
  // In the order of the holds. By request id, one that came twice would have the outcome of its repetition.
  const left = holdOutcomes.values()
  const outcomes = items.map(({ hold }) => {
    const outcome = hold === undefined ? noHold : left.next().value
    if (outcome === undefined) throw new Error('the ledger told no outcome of a hold')
    return outcome
  })
  const kept = items.filter((_, index) => isKept(outcomes[index]))
  if (kept.length > 0) tx.send(insertSponsoredOrders, sponsoredOrderColumns(kept))
  return outcomes
}

function holdsIn(items: readonly SponsoredOrder[]): readonly HoldRequest[] {
  return items.flatMap(({ hold }) => (hold === undefined ? [] : [hold]))
}

const noHold: NoHold = { status: 'no_hold' }

/** False where the hold was refused: then nothing is stored. */
export function isKept(outcome: SharedOutcome | undefined): boolean {
  switch (outcome?.status) {
    case 'no_hold':
    case 'reserved':
    case 'already_reserved':
    case 'at_deposit':
      return true
    default:
      return false
  }
}

/** Both rows of each quote in one statement: a round trip less while the sponsor's row is locked. */
const insertSponsoredOrders = `
  with kept as (${insertOrders})
  insert into request_sponsorship (request_id, sponsor, debit_micro_usd, quoted)
  select substr($1::bytea, 1 + ${idBytes} * (i::int - 1), ${idBytes}),
    nullif(sponsor, ''), debit_micro_usd, quoted::json
  from unnest(string_to_array($16, E'\\x1e'), $17::numeric[], string_to_array($18, E'\\x1e'))
    with ordinality as s(sponsor, debit_micro_usd, quoted, i)`

/** Parameters of `insertSponsoredOrders`. @throws RangeError as `orderColumns` */
function sponsoredOrderColumns(items: readonly SponsoredOrder[]): readonly unknown[] {
  return [
    ...orderColumns(items.map(({ order }) => order)),
    joinTexts(items.map(({ sponsorship }) => sponsorship.sponsor ?? '')),
    `{${items.map(({ sponsorship }) => sponsorship.debitMicroUsd).join(',')}}`,
    joinTexts(items.map(({ sponsorship }) => sponsorship.quoted)),
  ]
}

/** Stored form of a sponsorship outcome, beside the order. */
export function toStoredSponsorship(outcome: SponsorshipOutcome): StoredSponsorship {
  const { sponsor, selected, capMicroUsd, sponsorable, allocation, debitMicroUsd } = outcome
  return {
    sponsor,
    debitMicroUsd,
    quoted: JSON.stringify({
      selected,
      capMicroUsd: capMicroUsd?.toString(),
      capHit: allocation.capHit,
      reason: allocation.reason,
      fees: sharesToRow(sponsorable),
      sponsored: sharesToRow(allocation.sponsored),
    }),
  }
}
