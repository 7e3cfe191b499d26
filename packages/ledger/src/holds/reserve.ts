import {
  type BusySponsor,
  type HoldOutcome,
  type HoldRequest,
  isHex32,
  type SqlWriteTx,
} from '@causeway/core'
import { decideHolds, type HoldDecision, type NewHold } from './decideHolds.ts'
import type { HoldCaps } from './holdCaps.ts'
import { type HoldFacts, readHoldFacts } from './holdFacts.ts'

/** Due holds freed at most when a refusal might be due to them. */
const sweepMax = 1_000

type ReserveOptions = {
  readonly caps: HoldCaps
  /** For `reserveAgain`: the holds are pinned and end then. */
  readonly until?: Date
}

/**
 * Reserves for many quotes in the caller's transaction; outcomes in request order. Sponsors are locked in
 * the order of their names, so that two batches never wait for each other, and decided in that order.
 */
export async function reserveHolds(
  tx: SqlWriteTx,
  requests: readonly HoldRequest[],
  options: ReserveOptions,
): Promise<readonly HoldOutcome[]> {
  const outcomes = new Map<number, HoldOutcome>()
  const write = (sponsors: readonly DecidedSponsor[]) => {
    for (const [index, outcome] of writeHolds(tx, sponsors, options)) outcomes.set(index, outcome)
  }
  for (const round of rounds(placesOf(requests))) {
    const decided = await decideRound(tx, round, options, 'wait')
    const due = decided.filter(isWorthSweeping)
    write(decided.filter((sponsor) => !isWorthSweeping(sponsor)))
    if (due.length === 0) continue
    for (const { facts } of due) await tx.query(expireDue, [sweepMax, facts.account?.id])
    const again = due.flatMap(({ places }) => places)
    write(await decideRound(tx, again, options, 'wait'))
  }
  return requests.map((_, index) => outcomes.get(index) ?? neverDecided())
}

/**
 * Reserves without waiting for a lock. `busy` where the decision is left to `reserveHolds`: another transaction has the
 * sponsor's row, its due holds want sweeping, or the request must see another one of this batch as written.
 */
export async function reserveFreeHolds(
  tx: SqlWriteTx,
  requests: readonly HoldRequest[],
  options: Pick<ReserveOptions, 'caps'>,
): Promise<readonly (HoldOutcome | BusySponsor)[]> {
  const [round = []] = rounds(placesOf(requests), { isOnlyFirst: true })
  const decided = await decideRound(tx, round, options, 'skip')
  const outcomes = writeHolds(
    tx,
    decided.filter((sponsor) => !isWorthSweeping(sponsor)),
    {},
  )
  return requests.map((_, index) => outcomes.get(index) ?? { status: 'busy' })
}

function placesOf(requests: readonly HoldRequest[]): readonly Place[] {
  for (const request of requests) assertReservable(request)
  const places = requests.map((request, index) => ({ request, index }))
  return places.toSorted((a, b) => compare(a.request.sponsor, b.request.sponsor) || a.index - b.index)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

type Place = { readonly request: HoldRequest; readonly index: number }

/** Decisions about one sponsor's requests. */
type DecidedSponsor = {
  readonly places: readonly Place[]
  readonly facts: HoldFacts
  readonly decision: HoldDecision
}

/** Nothing is told of a sponsor whose row was not to be had. */
async function decideRound(
  tx: SqlWriteTx,
  round: readonly Place[],
  { caps, until }: ReserveOptions,
  lock: 'wait' | 'skip',
): Promise<readonly DecidedSponsor[]> {
  const bySponsor = new Map<string, Place[]>()
  for (const place of round) {
    const own = bySponsor.get(place.request.sponsor)
    if (own === undefined) bySponsor.set(place.request.sponsor, [place])
    else own.push(place)
  }
  const requestsBySponsor = new Map(
    [...bySponsor].map(([sponsor, places]) => [sponsor, places.map(({ request }) => request)]),
  )
  const factsBySponsor = await readHoldFacts(tx, requestsBySponsor, lock)
  return [...bySponsor].flatMap(([sponsor, places]): readonly DecidedSponsor[] => {
    const facts = factsBySponsor.get(sponsor)
    if (facts === undefined) return []
    const requests = places.map(({ request }) => request)
    return [
      { places, facts, decision: decideHolds(facts, requests, { caps, isPinned: until !== undefined }) },
    ]
  })
}

function isWorthSweeping({ facts, decision }: DecidedSponsor): boolean {
  return decision.isWorthSweeping && facts.account !== undefined
}

/**
 * Cuts a batch where a request has to see an earlier one as written: where a request id or a re-quote key comes
 * again, or a key, whose usage its sponsors share, with another sponsor.
 */
function rounds(places: readonly Place[], { isOnlyFirst = false } = {}): readonly (readonly Place[])[] {
  const all: Place[][] = []
  let seen = new Map<string, string>()
  for (const place of places) {
    const { requestId, apiKeyId, requoteKey, sponsor } = place.request
    const marks = [`id ${requestId}`, `requote ${apiKeyId} ${requoteKey}`]
    const key = `key ${apiKeyId}`
    const round = all.at(-1)
    const follows = marks.some((mark) => seen.has(mark)) || (seen.get(key) ?? sponsor) !== sponsor
    if (follows && isOnlyFirst) continue
    if (round === undefined || follows) {
      all.push([place])
      seen = new Map()
    } else {
      round.push(place)
    }
    for (const mark of [...marks, key]) seen.set(mark, sponsor)
  }
  return all
}

/** Bodies that only a bug can produce. @throws RangeError */
function assertReservable(request: HoldRequest): void {
  const { requestId, amountMicroUsd, lifetimeSeconds, apiKeyId, user, recipient, requoteKey } = request
  if (!isHex32(requestId)) throw new RangeError('a request id is 0x and 64 lower-case digits')
  if (amountMicroUsd <= 0n) throw new RangeError('a hold is above zero')
  if (!Number.isInteger(lifetimeSeconds) || lifetimeSeconds <= 0) {
    throw new RangeError('a lifetime is whole seconds above zero')
  }
  if (/\s/.test(apiKeyId)) throw new RangeError('an API key id holds no space')
  if ([user, recipient, requoteKey].includes('')) throw new RangeError('a hold names its users and its route')
}

function neverDecided(): never {
  throw new Error('a request was not decided')
}

const apply = 'select ledger_holds_apply($1, $2, $3, $4)'
const holdAtDeposit = 'select ledger_hold_at_deposit($1, $2, $3)'
const expireDue = 'select ledger_expire_due($1, $2)'

/**
 * Writes what was decided on facts that this transaction read under the sponsors' locks, in one call; all of it was
 * decided at one moment. `until` makes the holds pinned ones that end then, instead of after their lifetime.
 * @returns outcomes by the index of the request
 */
function writeHolds(
  tx: SqlWriteTx,
  sponsors: readonly DecidedSponsor[],
  { until }: Pick<ReserveOptions, 'until'>,
): ReadonlyMap<number, HoldOutcome> {
  const outcomes = new Map<number, HoldOutcome>()
  const rows: object[] = []
  const accounts: bigint[] = []
  const superseded: string[] = []
  for (const { places, facts, decision } of sponsors) {
    for (const [place, outcome] of decision.outcomes.entries()) {
      outcomes.set(places[place]?.index ?? neverDecided(), outcome)
    }
    if (facts.account === undefined) continue
    const { id: account } = facts.account
    if (decision.atDeposit.length > 0) {
      tx.send(holdAtDeposit, [account, facts.at, JSON.stringify(decision.atDeposit.map(bodyRow))])
    }
    if (decision.approved.length === 0) continue
    accounts.push(account)
    superseded.push(...decision.superseded)
    for (const hold of decision.approved) rows.push(holdRow(hold, { n: rows.length, account, until }))
  }
  const at = sponsors[0]?.facts.at
  if (rows.length > 0) tx.send(apply, [accounts, superseded, at, JSON.stringify(rows)])
  return outcomes
}

function holdRow(hold: NewHold, more: { n: number; account: bigint; until: Date | undefined }) {
  return {
    ...bodyRow(hold.request),
    n: more.n,
    sponsor: more.account.toString(),
    id: hold.id,
    attempt: hold.attempt,
    until: more.until?.toISOString(),
    policy: hold.policyVersion,
    hash: hold.bodyHash,
    unsettled: hold.isUnsettled,
  }
}

/** A request's own columns. */
function bodyRow(request: HoldRequest) {
  return {
    request: request.requestId.slice(2),
    key: request.apiKeyId,
    user: request.user,
    recipient: request.recipient,
    origin: request.originChainId,
    destination: request.destinationChainId,
    components: request.components,
    requote: request.requoteKey,
    amount: request.amountMicroUsd.toString(),
    seconds: request.lifetimeSeconds,
  }
}
