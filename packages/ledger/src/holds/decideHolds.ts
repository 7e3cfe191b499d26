import { bytesToHex, type HoldOutcome, type HoldRequest, sha256 } from '@causeway/core'
import type { RuleCheck } from '../policies/ruleCheck.ts'
import { transferId } from '../transfers/transferId.ts'
import type { HoldCaps } from './holdCaps.ts'
import type { HoldFacts, KnownHold, OpenHold } from './holdFacts.ts'
import { HoldState } from './holdState.ts'

/** One hold to write. */
export type NewHold = {
  readonly id: string
  readonly request: HoldRequest
  readonly attempt: number
  readonly bodyHash: string
  readonly policyVersion: number | undefined
  readonly isUnsettled: boolean
}

export type HoldDecision = {
  /** In request order. */
  readonly outcomes: readonly HoldOutcome[]
  readonly approved: readonly NewHold[]
  /** Quotes beyond a cap: their deposits reserve. */
  readonly atDeposit: readonly HoldRequest[]
  /** Holds that re-quotes take the place of. */
  readonly superseded: readonly string[]
  /** Sweeping what is due could turn a refusal. */
  readonly isWorthSweeping: boolean
}

/**
 * Decides about requests of one sponsor in their order; no request id and no re-quote key stands twice.
 * Pure: equal facts, equal answers. `isPinned` is for deposits that are there already: the caps on unpinned
 * holds do not apply, and a hold that has ended may be followed by a next attempt.
 */
export function decideHolds(
  facts: HoldFacts,
  requests: readonly HoldRequest[],
  { caps, isPinned }: { caps: HoldCaps; isPinned: boolean },
): HoldDecision {
  const state = new HoldState(facts, caps)
  const approved: NewHold[] = []
  const superseded: string[] = []
  const atDeposit: HoldRequest[] = []
  let isRefusedForRoom = false

  const outcomes = requests.map((request): HoldOutcome => {
    const existingHold = facts.known.get(request.requestId)
    const bodyHash = holdBodyHash(request)
    const repeated = existingHold && answerRepeated(existingHold, bodyHash, isPinned)
    if (repeated !== undefined) return repeated
    if (!isPinned && facts.atDeposit.has(request.requestId)) return { status: 'at_deposit' }
    // A deposit on an ended quote takes nothing away from the quote that came after it.
    const earlier = isPinned ? [] : facts.open.filter((hold) => isRequoteOf(hold, request))
    const earlierWeights = earlier.map((hold) => ({
      ...hold,
      destinationChainId: request.destinationChainId,
    }))
    for (const weight of earlierWeights) state.remove(weight)
    const refusal = refusalOf(state.checks(request, { isPinned }))
    if (refusal !== undefined) {
      for (const weight of earlierWeights) state.add(weight)
      if (refusal.status === 'at_deposit') atDeposit.push(request)
      if (refusal.status !== 'sponsor_frozen') isRefusedForRoom = true
      return refusal
    }
    const policyVersion = facts.policies.get(request.apiKeyId)?.version
    const isUnsettled = !facts.settledUsers.has(request.user)
    state.add({ ...request, isCounted: policyVersion !== undefined, isToday: true, isUnsettled })
    superseded.push(...earlier.map(({ id }) => id))
    const attempt = existingHold === undefined ? 0 : existingHold.attempt + 1
    const id = holdId(request.requestId, attempt)
    approved.push({ id, request, attempt, bodyHash, policyVersion, isUnsettled })
    return { status: 'reserved', holdId: id }
  })

  return { outcomes, approved, superseded, atDeposit, isWorthSweeping: facts.hasDue && isRefusedForRoom }
}

function answerRepeated(
  existingHold: KnownHold,
  bodyHash: string,
  isPinned: boolean,
): HoldOutcome | undefined {
  if (existingHold.bodyHash !== bodyHash) return { status: 'conflict' }
  if (existingHold.lives) return { status: 'already_reserved', holdId: existingHold.id }
  return isPinned && !existingHold.isPosted ? undefined : { status: 'already_resolved' }
}

function isRequoteOf(hold: OpenHold, request: HoldRequest): boolean {
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
 * Hash of all that a hold promises, hex without `0x`. A request id that comes again with another hash is
 * a conflict. JSON of a list keeps the fields apart whatever they hold.
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
