import type { Hex, HoldRequest, SqlTx } from '@causeway/core'
import { type Usage, usersOf } from '../policies/checkPolicy.ts'
import { type PolicyRules, policyRulesSchema } from '../policies/policySchema.ts'
import { hexToBuffer } from '../transfers/transfers.ts'

/** The newest hold of a request id that was used before. */
export type KnownHold = {
  readonly id: string
  readonly attempt: number
  /** Hex of the body's hash, without `0x`. */
  readonly bodyHash: string
  readonly isPosted: boolean
  /** Reserved, and not past its expiry. */
  readonly lives: boolean
}

/** An unpinned hold that a re-quote may take the place of. */
export type OpenHold = {
  readonly id: string
  readonly requoteKey: string
  readonly apiKeyId: string
  readonly user: string
  readonly recipient: string
  readonly amountMicroUsd: bigint
  /** True if it counts in the key's usage; `isToday` if on the day of the decision. */
  readonly isCounted: boolean
  readonly isToday: boolean
  /** Its user had no settled request when it was made. */
  readonly isUnsettled: boolean
}

/** Facts that decide about new holds of one sponsor, at one moment of the database's clock. */
export type HoldFacts = {
  /** The books do not add up: nothing new is reserved. */
  readonly isHalted: boolean
  /** As the database wrote it, with microseconds. */
  readonly at: string
  /** Absent for a wallet that never had a balance. */
  readonly account:
    | {
        readonly id: bigint
        readonly isFrozen: boolean
        readonly postedMicroUsd: bigint
        readonly heldMicroUsd: bigint
      }
    | undefined
  /** Holds past their expiry wait for the sweeper and still count. */
  readonly hasDue: boolean
  /** Unpinned holds of users without a settled request. */
  readonly unsettledMicroUsd: bigint
  /** Unpinned holds by `openKey`. */
  readonly openByKey: ReadonlyMap<string, number>
  readonly openByUser: ReadonlyMap<string, number>
  /** Users in question with a request that this sponsor paid for. */
  readonly settledUsers: ReadonlySet<string>
  /** Request ids that hold nothing before their deposit. */
  readonly atDeposit: ReadonlySet<string>
  /** By request id. */
  readonly known: ReadonlyMap<string, KnownHold>
  readonly open: readonly OpenHold[]
  readonly policies: ReadonlyMap<string, { readonly version: number; readonly rules: PolicyRules }>
  /** By `usageKey`. */
  readonly usage: ReadonlyMap<string, Usage>
}

/** Key of one row of usage. Api key ids hold no space. */
export function usageKey(apiKeyId: string, window: 'lifetime' | '24h', subject: string): string {
  return `${apiKeyId} ${window} ${subject}`
}

/** Key of a count of unpinned holds: of an API key or a user, to one chain. @source rule L-1 */
export function openKey(
  subject: string,
  { destinationChainId }: Pick<HoldRequest, 'destinationChainId'>,
): string {
  return `${destinationChainId} ${subject}`
}

/** A row of one sponsor, by its place among those asked about, from 1. */
type OpenRow = readonly [place: number, subject: string, destinationChainId: number, holds: number]

type OpenRows = { readonly keys: readonly OpenRow[]; readonly users: readonly OpenRow[] }

type FactsRow = {
  readonly at: string
  readonly busy: readonly number[]
  readonly accounts: readonly {
    place: number
    id: string
    frozen: boolean
    posted: string
    held: string
    unsettled: string
  }[]
  /** Ids of accounts. */
  readonly due: readonly string[]
  readonly settled: readonly (readonly [place: number, subject: string])[]
  readonly atDeposit: readonly string[]
  readonly known: readonly {
    request: string
    id: string
    attempt: number
    hash: string
    posted: boolean
    lives: boolean
  }[]
  readonly open: readonly {
    place: number
    id: string
    requote: string
    key: string
    user: string
    recipient: string
    amount: string
    counted: boolean
    today: boolean
    unsettled: boolean
  }[]
  readonly policies: readonly (readonly [place: number, key: string, version: number, rules: unknown])[]
  readonly usage: readonly (readonly [
    place: number,
    key: string,
    subject: string,
    isDay: boolean,
    used: string,
    count: number,
  ])[]
}

/** In this order: the functions after the first one see what was committed before it took its locks. */
const select = `select ledger_holds_facts($1, $2, $3, $4, $5, $6, $7, $8, $9) as facts,
  ledger_is_halted() as halted, ledger_open_holds($1, $10, $11, $12, $13, $14, $15) as open`

/**
 * Lock on the sponsors' rows, which keeps the facts true until the transaction ends: `wait` locks all of them, `skip`
 * those that no other transaction holds, `none` (a dry run) locks nothing.
 */
export type FactsLock = 'wait' | 'skip' | 'none'

/**
 * Reads what decides about requests, by sponsor; one call for all of them, because it costs much and little more for
 * each further sponsor. Nothing is told of a sponsor whose row was not to be had.
 */
export async function readHoldFacts(
  tx: SqlTx,
  requestsBySponsor: ReadonlyMap<string, readonly HoldRequest[]>,
  lock: FactsLock,
): Promise<ReadonlyMap<string, HoldFacts>> {
  const lists = [...requestsBySponsor.values()]
  const keys = placed(lists, ({ apiKeyId }) => [apiKeyId])
  const users = placed(lists, usersOf)
  const requotes = placed(lists, ({ requoteKey }) => [requoteKey])
  const openKeys = placedByChain(lists, ({ apiKeyId }) => [apiKeyId])
  const openUsers = placedByChain(lists, usersOf)
  const [row] = await tx.query<{ facts: FactsRow; halted: boolean; open: OpenRows }>(select, [
    [...requestsBySponsor.keys()],
    keys.places,
    keys.values,
    users.places,
    users.values,
    requotes.places,
    requotes.values,
    // CAST: the port demands `0x` and hex digits; the table refuses every other length.
    lists.flatMap((requests) => requests.map(({ requestId }) => hexToBuffer(requestId as Hex))),
    lock,
    openKeys.places,
    openKeys.values,
    openKeys.destinations,
    openUsers.places,
    openUsers.values,
    openUsers.destinations,
  ])
  if (row === undefined) throw new Error('no facts about sponsors')
  return fromRow(row, [...requestsBySponsor.keys()])
}

/** The values of each list, each once, and the place of its list. */
function placed(
  lists: readonly (readonly HoldRequest[])[],
  read: (request: HoldRequest) => readonly string[],
): { readonly places: readonly number[]; readonly values: readonly string[] } {
  const places: number[] = []
  const values: string[] = []
  for (const [index, requests] of lists.entries()) {
    for (const value of new Set(requests.flatMap(read))) {
      places.push(index + 1)
      values.push(value)
    }
  }
  return { places, values }
}

/** As above, by the chain that is paid to. */
function placedByChain(
  lists: readonly (readonly HoldRequest[])[],
  read: (request: HoldRequest) => readonly string[],
): {
  readonly places: readonly number[]
  readonly values: readonly string[]
  readonly destinations: readonly number[]
} {
  const rows = lists.flatMap((requests, index) => {
    const subjects = requests.flatMap((request) =>
      read(request).map(
        (value) => [openKey(value, request), { value, to: request.destinationChainId }] as const,
      ),
    )
    return [...new Map(subjects).values()].map((subject) => ({ place: index + 1, ...subject }))
  })
  return {
    places: rows.map(({ place }) => place),
    values: rows.map(({ value }) => value),
    destinations: rows.map(({ to }) => to),
  }
}

function fromRow(
  { facts, halted, open }: { readonly facts: FactsRow; readonly halted: boolean; readonly open: OpenRows },
  sponsors: readonly string[],
): ReadonlyMap<string, HoldFacts> {
  const busy = new Set(facts.busy)
  const due = new Set(facts.due)
  const common = {
    isHalted: halted,
    at: facts.at,
    atDeposit: new Set(facts.atDeposit.map((request) => `0x${request}`)),
    known: new Map(
      facts.known.map(({ request, id, attempt, hash, posted, lives }) => [
        `0x${request}`,
        { id, attempt, bodyHash: hash, isPosted: posted, lives },
      ]),
    ),
  }
  const of = {
    accounts: byPlace(facts.accounts, ({ place }) => place),
    openKeys: byPlace(open.keys, ([place]) => place),
    openUsers: byPlace(open.users, ([place]) => place),
    settled: byPlace(facts.settled, ([place]) => place),
    open: byPlace(facts.open, ({ place }) => place),
    policies: byPlace(facts.policies, ([place]) => place),
    usage: byPlace(facts.usage, ([place]) => place),
  }
  const told = sponsors.flatMap((sponsor, index): readonly (readonly [string, HoldFacts])[] => {
    const place = index + 1
    if (busy.has(place)) return []
    const [account] = of.accounts(place)
    const own: HoldFacts = {
      isHalted: common.isHalted,
      at: common.at,
      account: account === undefined ? undefined : toAccount(account),
      hasDue: account !== undefined && due.has(account.id),
      unsettledMicroUsd: BigInt(account?.unsettled ?? 0),
      openByKey: toCounts(of.openKeys(place)),
      openByUser: toCounts(of.openUsers(place)),
      settledUsers: new Set(of.settled(place).map(([, user]) => user)),
      atDeposit: common.atDeposit,
      known: common.known,
      open: of.open(place).map(toOpenHold),
      policies: new Map(
        of
          .policies(place)
          .map(([, key, version, rules]) => [key, { version, rules: policyRulesSchema.parse(rules) }]),
      ),
      usage: new Map(
        of
          .usage(place)
          .map(([, key, subject, isDay, used, count]) => [
            usageKey(key, isDay ? '24h' : 'lifetime', subject),
            { usedMicroUsd: BigInt(used), count: BigInt(count) },
          ]),
      ),
    }
    return [[sponsor, own]]
  })
  return new Map(told)
}

/** Groups rows by their place. */
function byPlace<Row>(
  rows: readonly Row[],
  placeOf: (row: Row) => number,
): (place: number) => readonly Row[] {
  const lists = new Map<number, Row[]>()
  for (const row of rows) {
    const place = placeOf(row)
    const list = lists.get(place)
    if (list === undefined) lists.set(place, [row])
    else list.push(row)
  }
  return (place) => lists.get(place) ?? []
}

function toAccount(row: FactsRow['accounts'][number]): HoldFacts['account'] {
  return {
    id: BigInt(row.id),
    isFrozen: row.frozen,
    postedMicroUsd: BigInt(row.posted),
    heldMicroUsd: BigInt(row.held),
  }
}

function toOpenHold(row: FactsRow['open'][number]): OpenHold {
  return {
    id: row.id,
    requoteKey: row.requote,
    apiKeyId: row.key,
    user: row.user,
    recipient: row.recipient,
    amountMicroUsd: BigInt(row.amount),
    isCounted: row.counted,
    isToday: row.today,
    isUnsettled: row.unsettled,
  }
}

function toCounts(rows: readonly OpenRow[]): ReadonlyMap<string, number> {
  return new Map(
    rows.map(([, subject, destinationChainId, holds]) => [openKey(subject, { destinationChainId }), holds]),
  )
}
