import type { Hex, HoldRequest, SqlTx } from '@causeway/core'
import { usersOf } from '../policies/checkPolicy.ts'
import { policyRulesSchema } from '../policies/policySchema.ts'
import { hexToBuffer } from '../transfers/transfers.ts'
import { type HoldFacts, openKey, type RequotableHold, usageKey } from './holdFacts.ts'

// The SQL functions take and return flat lists for several sponsors. A `place` is a sponsor's position, from 1, in the
// list of sponsors that was asked about.

/** Number of unpinned holds of one API key or user to one chain. */
type OpenRow = readonly [place: number, subject: string, destinationChainId: number, holds: number]

type OpenRows = { readonly keys: readonly OpenRow[]; readonly users: readonly OpenRow[] }

/** JSON that `ledger_holds_facts` returns. */
type FactsRow = {
  readonly at: string
  /** Places of sponsors whose rows another transaction has locked. */
  readonly busy: readonly number[]
  readonly accounts: readonly {
    place: number
    id: string
    frozen: boolean
    posted: string
    held: string
    unsettled: string
  }[]
  /** Ids of accounts with holds past their expiry. */
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

/** `ledger_holds_facts` comes first: it takes the locks, so the other functions see what was committed before. */
const select = `select ledger_holds_facts($1, $2, $3, $4, $5, $6, $7, $8, $9) as facts,
  ledger_is_halted() as halted, ledger_open_holds($1, $10, $11, $12, $13, $14, $15) as open`

/**
 * Lock on the sponsors' rows, which keeps the facts true until the transaction ends: `wait` locks all of them, `skip`
 * those that no other transaction holds, `none` (a dry run) locks nothing.
 */
export type FactsLock = 'wait' | 'skip' | 'none'

/**
 * Reads the facts that decide about requests, by sponsor. One call serves all sponsors, because a call is dear and a
 * further sponsor is cheap. With `skip`, a sponsor whose row another transaction has locked is left out.
 */
export async function readHoldFacts(
  tx: SqlTx,
  requestsBySponsor: ReadonlyMap<string, readonly HoldRequest[]>,
  lock: FactsLock,
): Promise<ReadonlyMap<string, HoldFacts>> {
  const lists = [...requestsBySponsor.values()]
  const keys = flattenLists(lists, ({ apiKeyId }) => [apiKeyId])
  const users = flattenLists(lists, usersOf)
  const requotes = flattenLists(lists, ({ requoteKey }) => [requoteKey])
  const openKeys = flattenByChain(lists, ({ apiKeyId }) => [apiKeyId])
  const openUsers = flattenByChain(lists, usersOf)
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
  return factsBySponsor(row, [...requestsBySponsor.keys()])
}

/** The facts of each sponsor, out of the flat lists of all sponsors. */
function factsBySponsor(
  { facts, halted, open }: { readonly facts: FactsRow; readonly halted: boolean; readonly open: OpenRows },
  sponsors: readonly string[],
): ReadonlyMap<string, HoldFacts> {
  const busyPlaces = new Set(facts.busy)
  const dueAccounts = new Set(facts.due)
  // `atDeposit` and `known` are looked up by request id, so all sponsors share them.
  const atDeposit = new Set(facts.atDeposit.map((request) => `0x${request}`))
  const known = new Map(
    facts.known.map(({ request, id, attempt, hash, posted, lives }) => [
      `0x${request}`,
      { id, attempt, bodyHash: hash, isPosted: posted, isLive: lives },
    ]),
  )
  const rowsOf = {
    accounts: byPlace(facts.accounts, ({ place }) => place),
    openKeys: byPlace(open.keys, ([place]) => place),
    openUsers: byPlace(open.users, ([place]) => place),
    settled: byPlace(facts.settled, ([place]) => place),
    open: byPlace(facts.open, ({ place }) => place),
    policies: byPlace(facts.policies, ([place]) => place),
    usage: byPlace(facts.usage, ([place]) => place),
  }
  const entries = sponsors.flatMap((sponsor, index): readonly (readonly [string, HoldFacts])[] => {
    const place = index + 1
    if (busyPlaces.has(place)) return []
    const [account] = rowsOf.accounts(place)
    const sponsorFacts: HoldFacts = {
      isHalted: halted,
      at: facts.at,
      account: account === undefined ? undefined : toAccount(account),
      hasDue: account !== undefined && dueAccounts.has(account.id),
      unsettledMicroUsd: BigInt(account?.unsettled ?? 0),
      openByKey: toCounts(rowsOf.openKeys(place)),
      openByUser: toCounts(rowsOf.openUsers(place)),
      settledUsers: new Set(rowsOf.settled(place).map(([, user]) => user)),
      atDeposit,
      known,
      open: rowsOf.open(place).map(toRequotableHold),
      policies: new Map(rowsOf.policies(place).map(toPolicy)),
      usage: new Map(rowsOf.usage(place).map(toUsage)),
    }
    return [[sponsor, sponsorFacts]]
  })
  return new Map(entries)
}

/** Groups rows by their place, and returns a function that looks a group up. */
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

function toRequotableHold(row: FactsRow['open'][number]): RequotableHold {
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

function toPolicy([, apiKeyId, version, rules]: FactsRow['policies'][number]) {
  return [apiKeyId, { version, rules: policyRulesSchema.parse(rules) }] as const
}

function toUsage([, apiKeyId, subject, isDay, used, count]: FactsRow['usage'][number]) {
  const sums = { usedMicroUsd: BigInt(used), count: BigInt(count) }
  return [usageKey(apiKeyId, isDay ? '24h' : 'lifetime', subject), sums] as const
}

/** The distinct values of each sponsor's requests, in one flat list beside the places of their sponsors. */
function flattenLists(
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

/** As `flattenLists`, but distinct by destination chain too. */
function flattenByChain(
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
        (value) => [openKey(value, request), { value, destination: request.destinationChainId }] as const,
      ),
    )
    return [...new Map(subjects).values()].map((subject) => ({ place: index + 1, ...subject }))
  })
  return {
    places: rows.map(({ place }) => place),
    values: rows.map(({ value }) => value),
    destinations: rows.map(({ destination }) => destination),
  }
}
