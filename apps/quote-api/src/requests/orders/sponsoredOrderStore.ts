import {
  DomainError,
  type HoldOutcome,
  type HoldRequest,
  type Ledger,
  type SqlDatabase,
} from '@causeway/core'
import type { SponsorshipOutcome } from '../../pricing/sponsorship/sponsorshipOutcome.ts'
import { createGroupCommit } from './groupCommit.ts'
import { idBytes, insertOrders, joinTexts, orderColumns } from './orderColumns.ts'
import { sharesToRow } from './storedFees.ts'
import type { StoredOrder } from './storedOrder.ts'

/** What is kept of a request that asked about sponsorship. */
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

type SaveOutcome = HoldOutcome | { readonly status: 'no_hold' }

export interface SponsoredOrderStore {
  /**
   * Stores order and hold in one commit, many of one sponsor together. An order whose hold is refused
   * is not stored. Resolves once both survive a crash.
   * @throws WritesOverloadedError, UpstreamUnavailableError
   */
  save(item: SponsoredOrder): Promise<SaveOutcome>
}

const groupMax = 128
const queueMax = 1_024

/**
 * Group commit per sponsor: the balance of a hot sponsor is one row, and a batch locks it once.
 * @source ledger-and-safety.md 1.6, decision 3; design.md 5.2, 6.3
 */
export function createSponsoredOrderStore(options: {
  readonly database: SqlDatabase
  readonly ledger: Ledger
}): SponsoredOrderStore {
  const lanes = new Map<string, Lane>()
  const laneOf = (sponsor: string) => {
    const known = lanes.get(sponsor)
    if (known !== undefined) return known
    const created: Lane = { waiting: 0, add: createLane(options) }
    lanes.set(sponsor, created)
    return created
  }
  return {
    async save(item) {
      const sponsor = item.hold?.sponsor ?? ''
      const lane = laneOf(sponsor)
      lane.waiting += 1
      try {
        return await lane.add(item)
      } finally {
        lane.waiting -= 1
        if (lane.waiting === 0) lanes.delete(sponsor)
      }
    },
  }
}

type Lane = { waiting: number; readonly add: (item: SponsoredOrder) => Promise<SaveOutcome> }

function createLane({ database, ledger }: { database: SqlDatabase; ledger: Ledger }): Lane['add'] {
  return createGroupCommit<SponsoredOrder, SaveOutcome>({
    // Items of a lane name one sponsor, or none: a group begins with the facts about it, or with the insert.
    write: (items) =>
      database.transaction((tx) => writeGroup(tx, ledger, items), {
        opensWithRead: holdsIn(items).length > 0,
      }),
    mayRetryAlone: (error) => !(error instanceof DomainError),
    groupMax,
    queueMax,
  }).add
}

/** Orders and holds in the caller's transaction; an order whose hold is refused is left out. */
export async function writeGroup(
  tx: Parameters<Ledger['reserve']>[0],
  ledger: Ledger,
  items: readonly SponsoredOrder[],
): Promise<readonly SaveOutcome[]> {
  const holds = holdsIn(items)
  const reserved = holds.length === 0 ? [] : await ledger.reserveBatch(tx, holds)
  const byRequest = new Map(holds.map(({ requestId }, index) => [requestId, reserved[index]]))
  const outcomes = items.map(({ hold }): SaveOutcome => {
    const outcome = hold === undefined ? noHold : byRequest.get(hold.requestId)
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

const noHold = { status: 'no_hold' } as const

/** False where the hold was refused: then nothing is stored. */
export function isKept(outcome: SaveOutcome | undefined): boolean {
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

/** What was decided about a sponsor, as it is kept beside the order. */
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
