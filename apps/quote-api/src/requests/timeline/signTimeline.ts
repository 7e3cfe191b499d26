import {
  ConfigurationError,
  DomainError,
  type Hex,
  type Signer,
  type TimelineStatement,
} from '@causeway/core'
import { createLruCache } from '@causeway/rpc'
import type { Timeline } from './timeline.ts'
import { type TimelineAnswer, timelineAnswer } from './timelineAnswer.ts'

/** Signed timelines are unavailable: the operator has set no key for them. */
class EvidenceKeyMissingError extends DomainError {
  readonly code = 'EVIDENCE_KEY_NOT_CONFIGURED'
  readonly kind = 'invalid_request'

  constructor() {
    super('This service signs no timelines: ask without signed=true.', { data: { field: 'signed' } })
  }
}

/** Signs what became of a request. @throws EvidenceKeyMissingError, SignerFailedError */
export type SignTimeline = (timeline: Timeline) => Promise<TimelineAnswer>

/** A signature of unchanged steps is answered again for so long: with a key management service each costs money. */
const keptMs = 60_000
const keptMax = 1_000

type CachedAnswer = {
  readonly content: string
  readonly asOfMs: number
  readonly answer: Promise<TimelineAnswer>
}

/** @param signer the evidence key; without one every request for a signature is refused */
export function createSignTimeline({
  signer,
  nowMs = Date.now,
}: {
  readonly signer: Signer | undefined
  readonly nowMs?: () => number
}): SignTimeline {
  if (signer === undefined) return () => Promise.reject(new EvidenceKeyMissingError())
  const recent = createLruCache<CachedAnswer>(keptMax)
  return (timeline) => {
    const unsignedAnswer = timelineAnswer(timeline)
    const { requestId } = unsignedAnswer
    const content = JSON.stringify(unsignedAnswer)
    const now = nowMs()
    const cached = recent.get(requestId)
    if (cached?.content === content && now - cached.asOfMs < keptMs) return cached.answer
    const answer = signAnswer(signer, timeline, unsignedAnswer, new Date(now).toISOString())
    recent.set(requestId, { content, asOfMs: now, answer })
    answer.catch(() => {
      if (recent.get(requestId)?.answer === answer) recent.delete(requestId)
    })
    return answer
  }
}

async function signAnswer(
  signer: Signer,
  timeline: Timeline,
  unsignedAnswer: TimelineAnswer,
  asOf: string,
): Promise<TimelineAnswer> {
  const statement = statementOf(timeline, unsignedAnswer, asOf)
  const signature = await signer.sign({ purpose: 'timeline', statement })
  return { ...unsignedAnswer, signed: { signer: signer.address, asOf, signature } }
}

/** Signed statement of an answer: all of it, member by member, with empty text or zero for `null`. */
function statementOf(
  { requestId, orderId }: Timeline,
  { status, reason, steps }: TimelineAnswer,
  asOf: string,
): TimelineStatement {
  return {
    ...{ requestId, orderId: orderId ?? noOrder, status, reason: reason ?? '', asOf },
    steps: steps.map(({ reason: stepReason, evidence, ...step }) => ({
      ...step,
      reason: stepReason ?? '',
      evidence: evidence.map(({ chainId = 0, ...each }) => ({ ...each, chainId: BigInt(chainId) })),
    })),
  }
}

const noOrder: Hex = `0x${'0'.repeat(64)}`

/**
 * The evidence key answers for what was told, the order signer for what was quoted: one key for both would let a story
 * be taken for an order. @throws ConfigurationError
 */
export function checkEvidenceKey(evidenceKey: Hex | undefined, orderSigner: Hex | undefined): void {
  if (evidenceKey !== undefined && evidenceKey === orderSigner)
    throw new ConfigurationError(
      'The evidence key must be a key of its own, not that of the order signer: see EVIDENCE_ECDSA_PRIVATE_KEY.',
    )
}
