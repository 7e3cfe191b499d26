import {
  type BusySponsor,
  type HoldOutcome,
  type HoldRequest,
  isHex32,
  type SqlWriteTx,
} from '@causeway/core'
import { decideHolds, type HoldDecision, type NewHold } from './decideHolds.ts'
import type { HoldCaps } from './holdCaps.ts'
import type { HoldFacts } from './holdFacts.ts'
import { readHoldFacts } from './readHoldFacts.ts'

/** Most expired holds of one sponsor that are freed when they may have caused a refusal. */
const sweepMax = 1_000

type ReserveOptions = {
  readonly caps: HoldCaps
  /** Set by `reserveAgain`: the new holds are pinned and expire at this time. */
  readonly until?: Date
}

/**
 * Reserves for many quotes in the caller's transaction; outcomes in request order. Sponsors are locked and
 * decided in the order of their names, so that two batches cannot deadlock. Each round reads facts, decides
 * and writes before the next one reads. Sponsors whose expired holds may have caused a refusal are not
 * written but swept, and decided once more on new facts; that second decision is written whatever it says.
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
  for (const round of splitRounds(sortBySponsor(requests))) {
    const decided = await decideRound(tx, round, options, 'wait')
    const toSweep = decided.filter(isWorthSweeping)
    write(decided.filter((sponsor) => !isWorthSweeping(sponsor)))
    if (toSweep.length === 0) continue
    for (const { facts } of toSweep) await tx.query(expireDue, [sweepMax, facts.account?.id])
    const undecided = toSweep.flatMap(({ indexedRequests }) => indexedRequests)
    write(await decideRound(tx, undecided, options, 'wait'))
  }
  return requests.map((_, index) => outcomes.get(index) ?? neverDecided())
}

/**
 * Reserves without waiting for a lock. `busy` where the decision is left to `reserveHolds`: another transaction has
 * locked the sponsor's row, expired holds must be swept first, or the request belongs to a later round of this batch.
 */
export async function reserveFreeHolds(
  tx: SqlWriteTx,
  requests: readonly HoldRequest[],
  options: Pick<ReserveOptions, 'caps'>,
): Promise<readonly (HoldOutcome | BusySponsor)[]> {
  const [round = []] = splitRounds(sortBySponsor(requests), { isOnlyFirst: true })
  const decided = await decideRound(tx, round, options, 'skip')
  const outcomes = writeHolds(
    tx,
    decided.filter((sponsor) => !isWorthSweeping(sponsor)),
    {},
  )
  return requests.map((_, index) => outcomes.get(index) ?? { status: 'busy' })
}

function sortBySponsor(requests: readonly HoldRequest[]): readonly IndexedRequest[] {
  for (const request of requests) assertReservable(request)
  const indexed = requests.map((request, index) => ({ request, index }))
  return indexed.toSorted((a, b) => compare(a.request.sponsor, b.request.sponsor) || a.index - b.index)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** A request with its index in the caller's list. */
type IndexedRequest = { readonly request: HoldRequest; readonly index: number }

/** Decisions about one sponsor's requests of one round. */
type DecidedSponsor = {
  /** In the order of `decision.outcomes`. */
  readonly indexedRequests: readonly IndexedRequest[]
  readonly facts: HoldFacts
  readonly decision: HoldDecision
}

/** Decides one round, sponsor by sponsor. With `skip`, a sponsor whose row is locked is left out. */
async function decideRound(
  tx: SqlWriteTx,
  round: readonly IndexedRequest[],
  { caps, until }: ReserveOptions,
  lock: 'wait' | 'skip',
): Promise<readonly DecidedSponsor[]> {
  const bySponsor = new Map<string, IndexedRequest[]>()
  for (const indexed of round) {
    const sponsorRequests = bySponsor.get(indexed.request.sponsor)
    if (sponsorRequests === undefined) bySponsor.set(indexed.request.sponsor, [indexed])
    else sponsorRequests.push(indexed)
  }
  const requestsBySponsor = new Map(
    [...bySponsor].map(([sponsor, indexedRequests]) => [
      sponsor,
      indexedRequests.map(({ request }) => request),
    ]),
  )
  const factsBySponsor = await readHoldFacts(tx, requestsBySponsor, lock)
  return [...bySponsor].flatMap(([sponsor, indexedRequests]): readonly DecidedSponsor[] => {
    const facts = factsBySponsor.get(sponsor)
    if (facts === undefined) return []
    const requests = indexedRequests.map(({ request }) => request)
    const decision = decideHolds(facts, requests, { caps, isPinned: until !== undefined })
    return [{ indexedRequests, facts, decision }]
  })
}

function isWorthSweeping({ facts, decision }: DecidedSponsor): boolean {
  return decision.isWorthSweeping && facts.account !== undefined
}

/**
 * Splits a batch into rounds, each of which reads the facts anew. A new round begins where a request depends on an
 * earlier one being written: it has the same request id or re-quote key, or the same API key with another sponsor,
 * since sponsors share the key's usage.
 * @param options.isOnlyFirst leave out dependent requests instead
 */
function splitRounds(
  requests: readonly IndexedRequest[],
  { isOnlyFirst = false } = {},
): readonly (readonly IndexedRequest[])[] {
  const rounds: IndexedRequest[][] = []
  /** Ids and keys of the present round, and the sponsor of the last request that had them. */
  let sponsorByMark = new Map<string, string>()
  for (const indexed of requests) {
    const { requestId, apiKeyId, requoteKey, sponsor } = indexed.request
    const uniqueMarks = [`id ${requestId}`, `requote ${apiKeyId} ${requoteKey}`]
    const keyMark = `key ${apiKeyId}`
    const round = rounds.at(-1)
    const isDependent =
      uniqueMarks.some((mark) => sponsorByMark.has(mark)) ||
      (sponsorByMark.get(keyMark) ?? sponsor) !== sponsor
    if (isDependent && isOnlyFirst) continue
    if (round === undefined || isDependent) {
      rounds.push([indexed])
      sponsorByMark = new Map()
    } else {
      round.push(indexed)
    }
    for (const mark of [...uniqueMarks, keyMark]) sponsorByMark.set(mark, sponsor)
  }
  return rounds
}

/** Refuses requests that only a bug can produce. @throws RangeError */
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
 * Writes the approved holds of several sponsors in one statement, which is sent without waiting: later
 * statements of the transaction see its effects. All decisions were made at one moment, on facts read under
 * the sponsors' locks. With `until` the holds are pinned and expire then, else after their lifetime.
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
  for (const { indexedRequests, facts, decision } of sponsors) {
    for (const [position, outcome] of decision.outcomes.entries()) {
      outcomes.set(indexedRequests[position]?.index ?? neverDecided(), outcome)
    }
    // Without an account the balance refuses every request, so there is nothing to write.
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

/** JSON row of a new hold for `ledger_holds_apply`. `n`: its number in the statement. */
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

/** Columns that come from the request alone. */
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
