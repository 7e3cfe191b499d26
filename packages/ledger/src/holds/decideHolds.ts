import { bytesToHex, type HoldOutcome, type HoldRequest, sha256 } from '@causeway/core'
import type { RuleCheck } from '../policies/ruleCheck.ts'
import { transferId } from '../transfers/transferId.ts'
import type { HoldCaps } from './holdCaps.ts'
import type { HoldFacts, KnownHold, RequotableHold } from './holdFacts.ts'
import { HoldState } from './holdState.ts'

/** One hold to write. */
export type NewHold = {
  readonly id: string
  readonly request: HoldRequest
  /** 0 for the quote's hold; larger for holds of its deposit after an earlier one has ended. */
  readonly attempt: number
  /** See `holdBodyHash`. */
  readonly bodyHash: string
  /** Version of the key's policy that allowed it; undefined for a key without one. */
  readonly policyVersion: number | undefined
  /** Its user has no settled request yet that the sponsor has paid for. */
  readonly isUnsettled: boolean
}

/** Decisions about one sponsor, which `writeHolds` writes. */
export type HoldDecision = {
  /** In request order. */
  readonly outcomes: readonly HoldOutcome[]
  readonly approved: readonly NewHold[]
  /** Quotes beyond a cap, which hold nothing until their deposit is pinned. */
  readonly atDeposit: readonly HoldRequest[]
  /** Ids of holds that approved re-quotes replace. */
  readonly superseded: readonly string[]
  /** A request was refused while expired holds still count: it may pass after they are swept. */
  readonly isWorthSweeping: boolean
}

/**
 * Decides about requests of one sponsor in their order. Each approved one counts for the next. The caller
 * (`splitRounds`) makes sure that no request id and no re-quote key occurs twice, so no hold is replaced
 * twice. `isPinned`: the deposit exists already, so the caps on unpinned holds do not apply, and a new
 * attempt may follow a hold that has ended. For each request:
 * 1. An earlier hold of its id answers it, unless a new attempt may follow. Not pinned, so does `at_deposit`.
 * 2. The unpinned holds that it would replace are taken out of the sums.
 * 3. The rules are checked. If one fails, those holds go back and stay; else they are superseded by it.
 */
export function decideHolds(
  facts: HoldFacts,
  requests: readonly HoldRequest[],
  { caps, isPinned }: { caps: HoldCaps; isPinned: boolean },
): HoldDecision {
  const sums = new HoldState(facts, caps)
  const approved: NewHold[] = []
  const superseded: string[] = []
  const atDeposit: HoldRequest[] = []
  let isRefusedBySums = false

  const outcomes = requests.map((request): HoldOutcome => {
    const existingHold = facts.known.get(request.requestId)
    const bodyHash = holdBodyHash(request)
    const repeated = existingHold && answerRepeated(existingHold, bodyHash, isPinned)
    if (repeated !== undefined) return repeated
    if (!isPinned && facts.atDeposit.has(request.requestId)) return { status: 'at_deposit' }
    // A late deposit of an ended quote does not replace the hold of a later quote.
    const replaced = isPinned ? [] : facts.open.filter((hold) => isRequoteOf(hold, request))
    // Equal re-quote keys imply the same destination, so the replaced holds count to it.
    const replacedWeights = replaced.map((hold) => ({
      ...hold,
      destinationChainId: request.destinationChainId,
    }))
    for (const weight of replacedWeights) sums.remove(weight)
    const refusal = refusalOf(sums.checks(request, { isPinned }))
    if (refusal !== undefined) {
      for (const weight of replacedWeights) sums.add(weight)
      if (refusal.status === 'at_deposit') atDeposit.push(request)
      // Policy, balance and caps compare sums, in which expired holds still count. A halt is refused as
      // policy too, and the sweep is then in vain.
      if (refusal.status !== 'sponsor_frozen') isRefusedBySums = true
      return refusal
    }
    const policyVersion = facts.policies.get(request.apiKeyId)?.version
    const isUnsettled = !facts.settledUsers.has(request.user)
    sums.add({ ...request, isCounted: policyVersion !== undefined, isToday: true, isUnsettled })
    superseded.push(...replaced.map(({ id }) => id))
    const attempt = existingHold === undefined ? 0 : existingHold.attempt + 1
    const id = holdId(request.requestId, attempt)
    approved.push({ id, request, attempt, bodyHash, policyVersion, isUnsettled })
    return { status: 'reserved', holdId: id }
  })

  return { outcomes, approved, superseded, atDeposit, isWorthSweeping: facts.hasDue && isRefusedBySums }
}

/** Outcome for a request id that has a hold already; undefined where a new attempt may follow. */
function answerRepeated(
  existingHold: KnownHold,
  bodyHash: string,
  isPinned: boolean,
): HoldOutcome | undefined {
  if (existingHold.bodyHash !== bodyHash) return { status: 'conflict' }
  if (existingHold.isLive) return { status: 'already_reserved', holdId: existingHold.id }
  return isPinned && !existingHold.isPosted ? undefined : { status: 'already_resolved' }
}

function isRequoteOf(hold: RequotableHold, request: HoldRequest): boolean {
  return hold.requoteKey === request.requoteKey && hold.apiKeyId === request.apiKeyId
}

/** The first rule that fails names the refusal. */
export function refusalOf(checks: readonly RuleCheck[]): HoldOutcome | undefined {
  const failed = checks.find(({ passed }) => !passed)
  switch (failed?.kind) {
    case undefined:
      return undefined
    case 'sponsor':
      return { status: 'sponsor_frozen' }
    case 'policy':
      return { status: 'policy_refused', rule: failed.rule }
    case 'balance':
      return { status: 'insufficient_balance' }
    case 'cap':
      return { status: 'at_deposit' }
  }
}

/**
 * Hash of all fields of a hold's request, hex without `0x`. A known request id with another hash is a conflict. JSON
 * separates the fields unambiguously.
 */
function holdBodyHash(request: HoldRequest): string {
  const body = [
    request.requestId,
    request.sponsor,
    request.apiKeyId,
    request.user,
    request.recipient,
    request.originChainId,
    request.destinationChainId,
    request.components,
    request.amountMicroUsd.toString(),
    request.lifetimeSeconds,
    request.requoteKey,
  ]
  return bytesToHex(sha256(new TextEncoder().encode(JSON.stringify(body)))).slice(2)
}

function holdId(requestId: string, attempt: number): string {
  return transferId('hold', `${requestId}:${attempt}`)
}
