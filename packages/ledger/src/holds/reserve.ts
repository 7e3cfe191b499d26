import type { HoldOutcome, HoldRequest, SqlWriteTx } from '@causeway/core'
import { decideHolds, type HoldDecision } from './decideHolds.ts'
import type { HoldCaps } from './holdCaps.ts'
import { readHoldFacts } from './holdFacts.ts'

/** Due holds freed at most when a refusal might be due to them. */
const sweepMax = 1_000

type ReserveOptions = {
  readonly caps: HoldCaps
  /** For `reserveAgain`: the holds are pinned and end then. */
  readonly until?: Date
}

/**
 * Reserves for many quotes in the caller's transaction; outcomes in request order. Sponsors are locked in
 * the order of their names, so that two batches never wait for each other.
 */
export async function reserveHolds(
  tx: SqlWriteTx,
  requests: readonly HoldRequest[],
  options: ReserveOptions,
): Promise<readonly HoldOutcome[]> {
  for (const request of requests) assertReservable(request)
  const places = requests.map((request, index) => ({ request, index }))
  const outcomes = new Map<number, HoldOutcome>()
  for (const sponsor of [...new Set(requests.map((request) => request.sponsor))].toSorted()) {
    for (const round of rounds(places.filter(({ request }) => request.sponsor === sponsor))) {
      const own = round.map(({ request }) => request)
      const decided = await reserveRound(tx, sponsor, own, options)
      for (const [place, outcome] of decided.entries()) outcomes.set(round[place]?.index ?? -1, outcome)
    }
  }
  return requests.map((_, index) => outcomes.get(index) ?? neverDecided())
}

async function reserveRound(
  tx: SqlWriteTx,
  sponsor: string,
  requests: readonly HoldRequest[],
  { caps, until }: ReserveOptions,
): Promise<readonly HoldOutcome[]> {
  const decideOnce = async () => {
    const facts = await readHoldFacts(tx, sponsor, requests, { lock: true })
    return { facts, decision: decideHolds(facts, requests, { caps, isPinned: until !== undefined }) }
  }
  let { facts, decision } = await decideOnce()
  if (decision.isWorthSweeping && facts.account !== undefined) {
    await tx.query('select ledger_expire_due($1, $2)', [sweepMax, facts.account.id])
    ;({ facts, decision } = await decideOnce())
  }
  if (facts.account !== undefined) {
    const { id: sponsorAccount } = facts.account
    writeHolds(tx, decision, { sponsorAccount, at: facts.at, ...(until !== undefined && { until }) })
  }
  return decision.outcomes
}

type Place = { readonly request: HoldRequest; readonly index: number }

/**
 * Cuts a batch where a request id or a re-quote key comes again: the later one has to see the earlier as
 * written.
 */
function rounds(places: readonly Place[]): readonly (readonly Place[])[] {
  const all: Place[][] = []
  let seen = new Set<string>()
  for (const place of places) {
    const { requestId, apiKeyId, requoteKey } = place.request
    const marks = [`id ${requestId}`, `requote ${apiKeyId} ${requoteKey}`]
    const round = all.at(-1)
    if (round === undefined || marks.some((mark) => seen.has(mark))) {
      all.push([place])
      seen = new Set(marks)
    } else {
      round.push(place)
      for (const mark of marks) seen.add(mark)
    }
  }
  return all
}

const requestIdPattern = /^0x[0-9a-f]{64}$/

/** Bodies that only a bug can produce. @throws RangeError */
function assertReservable(request: HoldRequest): void {
  const { requestId, amountMicroUsd, lifetimeSeconds, apiKeyId, user, recipient, requoteKey } = request
  if (!requestIdPattern.test(requestId)) throw new RangeError('a request id is 0x and 64 lower-case digits')
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

const apply = 'select ledger_hold_apply($1, $2, $3, $4)'
const holdAtDeposit = 'select ledger_hold_at_deposit($1, $2, $3)'

/**
 * Writes what was decided on facts that this transaction read under the sponsor's lock. `until` makes the
 * holds pinned ones that end then, instead of after their lifetime.
 */
function writeHolds(
  tx: SqlWriteTx,
  decision: HoldDecision,
  { sponsorAccount, at, until }: { sponsorAccount: bigint; at: string; until?: Date },
): void {
  const { approved, superseded, atDeposit } = decision
  if (atDeposit.length > 0) {
    tx.send(holdAtDeposit, [sponsorAccount, at, JSON.stringify(atDeposit.map(bodyRow))])
  }
  if (approved.length === 0) return
  const rows = approved.map(({ id, request, attempt, bodyHash, policyVersion, isUnsettled }, n) => ({
    ...bodyRow(request),
    n,
    id,
    attempt,
    until: until?.toISOString(),
    policy: policyVersion,
    hash: bodyHash,
    unsettled: isUnsettled,
  }))
  tx.send(apply, [sponsorAccount, superseded, at, JSON.stringify(rows)])
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
