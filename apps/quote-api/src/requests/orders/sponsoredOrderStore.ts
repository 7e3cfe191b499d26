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
   * Stores order and hold in one commit, many together. An order whose hold is refused
   * is not stored. Resolves once both survive a crash.
   * @throws WritesOverloadedError, UpstreamUnavailableError
   */
  save(item: SponsoredOrder): Promise<SaveOutcome>
}

const groupMax = 128
const queueMax = 1_024
/** Groups out at once. A sponsor is always of the same lane, so that two of them never wait for one balance. */
const lanesShared = 4
/** How long a sponsor keeps to itself after a group with it failed. */
const apartMs = 60_000

/**
 * Group commit: the balance of a hot sponsor is one row, and a batch locks it once; quotes of sponsors that ask seldom
 * share their commits. A sponsor whose balance somebody else holds locked would stop all of its lane: after a group
 * failed, each sponsor in it has a lane of its own for a while.
 * @source ledger-and-safety.md 1.6, decision 3; design.md 5.2, 6.3
 */
export function createSponsoredOrderStore(options: {
  readonly database: SqlDatabase
  readonly ledger: Ledger
  /** Milliseconds that only go on. */
  readonly now?: () => number
}): SponsoredOrderStore {
  const { now = () => performance.now() } = options
  const apartUntil = new Map<string, number>()
  const onFailure = (sponsors: ReadonlySet<string>) => {
    for (const [sponsor, until] of apartUntil) if (until <= now()) apartUntil.delete(sponsor)
    if (sponsors.size > 1) for (const sponsor of sponsors) apartUntil.set(sponsor, now() + apartMs)
  }
  const lane = () => createLane({ ...options, onFailure })
  const unheld = lane()
  const shared = Array.from({ length: lanesShared }, lane)
  const own = new Map<string, { waiting: number; readonly add: Add }>()

  async function addApart(sponsor: string, item: SponsoredOrder): Promise<SaveOutcome> {
    const kept = own.get(sponsor) ?? { waiting: 0, add: lane() }
    own.set(sponsor, kept)
    kept.waiting += 1
    try {
      return await kept.add(item)
    } finally {
      kept.waiting -= 1
      if (kept.waiting === 0) own.delete(sponsor)
    }
  }

  return {
    save(item) {
      const sponsor = item.hold?.sponsor
      if (sponsor === undefined) return unheld(item)
      const add = shared[laneOf(sponsor)]
      const isApart = (apartUntil.get(sponsor) ?? 0) > now()
      return isApart || add === undefined ? addApart(sponsor, item) : add(item)
    },
  }
}

type Add = (item: SponsoredOrder) => Promise<SaveOutcome>

/** Addresses are as good as random. */
function laneOf(sponsor: string): number {
  return (sponsor.charCodeAt(sponsor.length - 1) + sponsor.charCodeAt(sponsor.length - 2)) % lanesShared
}

function createLane({
  database,
  ledger,
  onFailure,
}: {
  readonly database: SqlDatabase
  readonly ledger: Ledger
  readonly onFailure: (sponsors: ReadonlySet<string>) => void
}): Add {
  return createGroupCommit<SponsoredOrder, SaveOutcome>({
    // A group begins with the facts about its sponsors, or with the insert.
    async write(items) {
      const holds = holdsIn(items)
      try {
        return await database.transaction((tx) => writeGroup(tx, ledger, items), {
          opensWithRead: holds.length > 0,
        })
      } catch (error) {
        onFailure(new Set(holds.map(({ sponsor }) => sponsor)))
        throw error
      }
    },
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
