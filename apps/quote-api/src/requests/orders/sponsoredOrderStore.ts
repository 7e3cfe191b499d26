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

/** Row of `request_sponsorship`, for a quote whose request has a sponsorship field. */
export type StoredSponsorship = {
  /** Undefined where the user pays. */
  readonly sponsor: string | undefined
  readonly debitMicroUsd: bigint
  /** JSON text of `quotedSponsorshipSchema`. */
  readonly quoted: string
}

/** A quote to store with its sponsorship; `hold` is undefined where the user pays. */
export type SponsoredOrder = {
  readonly order: StoredOrder
  readonly sponsorship: StoredSponsorship
  readonly hold: HoldRequest | undefined
}

type SaveOutcome = HoldOutcome | NoHold

export interface SponsoredOrderStore {
  /**
   * Stores order and hold in one commit, which concurrent quotes share. If the hold is refused, the order is not stored.
   * Resolves once both survive a crash.
   * @throws WritesOverloadedError, UpstreamUnavailableError
   */
  save(item: SponsoredOrder): Promise<SaveOutcome>
}

const groupMax = 128
const queueMax = 2_048
const laneQueueMax = 1_024
/** Quotes of one sponsor in the shared queue; more go to a lane of its own, so that other sponsors do not wait. */
const sharedPerSponsorMax = groupMax / 2

/** Outcome in the shared queue, whose writes do not wait for a locked balance row: its sponsor is then `busy`. */
type SharedOutcome = SaveOutcome | BusySponsor

/**
 * Stores sponsored quotes by group commit. Normally all sponsors share one queue, so that the cost of a
 * commit is shared too. A sponsor whose balance row is locked by another transaction, or who has half a group
 * of quotes in the queue, gets a lane of its own until that lane is empty. The shared queue reserves by
 * `reserveFree`, which never waits for a locked row and answers `busy`; a lane by `reserveBatch`, which
 * waits.
 * @source rule L-49
 */
export function createSponsoredOrderStore(options: {
  readonly database: SqlDatabase
  readonly ledger: Ledger
}): SponsoredOrderStore {
  const { database, ledger } = options
  const createQueue = <Outcome extends SharedOutcome>(reserve: Reserve<Outcome>, waitingMax: number) =>
    createGroupCommit<SponsoredOrder, Outcome | NoHold>({
      // The transaction begins with a read of the sponsors' balances, unless no item has a hold.
      write: (items) =>
        database.transaction((tx) => writeItems(tx, items, reserve), {
          opensWithRead: holdsIn(items).length > 0,
        }),
      // A lost database is a DomainError; any other error may be the fault of one quote.
      mayRetryAlone: (error) => !(error instanceof DomainError),
      groupMax,
      queueMax: waitingMax,
    })
  const sharedQueue = createQueue(ledger.reserveFree, queueMax)
  const sharedCounts = createCounts()
  const lanes = new Map<string, ReturnType<typeof createQueue<HoldOutcome>>>()
  const laneCounts = createCounts()

  async function addToLane(sponsor: string, item: SponsoredOrder): Promise<SaveOutcome> {
    const lane = lanes.get(sponsor) ?? createQueue(ledger.reserveBatch, laneQueueMax)
    lanes.set(sponsor, lane)
    laneCounts.change(sponsor, 1)
    try {
      return await lane.add(item)
    } finally {
      if (laneCounts.change(sponsor, -1) === 0) lanes.delete(sponsor)
    }
  }

  async function addToShared(sponsor: string, item: SponsoredOrder): Promise<SharedOutcome> {
    sharedCounts.change(sponsor, 1)
    try {
      return await sharedQueue.add(item)
    } finally {
      sharedCounts.change(sponsor, -1)
    }
  }

  return {
    async save(item) {
      // Quotes without a hold count together, like those of one sponsor.
      const sponsor = item.hold?.sponsor ?? ''
      const needsLane = lanes.has(sponsor) || sharedCounts.of(sponsor) >= sharedPerSponsorMax
      const outcome = needsLane ? busyOutcome : await addToShared(sponsor, item)
      return outcome.status === 'busy' ? addToLane(sponsor, item) : outcome
    },
  }
}

const busyOutcome = { status: 'busy' } as const

/** Counts the waiting quotes of each sponsor. */
function createCounts() {
  const counts = new Map<string, number>()
  const of = (sponsor: string) => counts.get(sponsor) ?? 0
  return {
    of,
    /** @returns the new count */
    change(sponsor: string, delta: 1 | -1): number {
      const count = of(sponsor) + delta
      if (count === 0) counts.delete(sponsor)
      else counts.set(sponsor, count)
      return count
    },
  }
}

type NoHold = { readonly status: 'no_hold' }
type Reserve<Outcome> = (tx: SqlWriteTx, holds: readonly HoldRequest[]) => Promise<readonly Outcome[]>

/** Stores orders and holds in the caller's transaction; an order whose hold is refused is left out. */
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
  // Outcomes are matched by position. By request id, a repeated hold would get the outcome of its repetition.
  const nextOutcome = holdOutcomes.values()
  const outcomes = items.map(({ hold }) => {
    const outcome = hold === undefined ? noHold : nextOutcome.next().value
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

/** True if the order is stored; false where its hold was refused. */
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

/**
 * Inserts both rows of each quote in one statement, which saves a round trip while the sponsor's row is
 * locked. Each parameter is a column, as in `insertOrders`: $1 has all request ids one after the other, and
 * $16 to $18 are the columns of the sponsorships. \x1e separates the texts that `joinTexts` has joined.
 */
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

/** Makes the row of a sponsorship outcome. */
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
