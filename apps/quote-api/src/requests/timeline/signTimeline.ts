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

/** The operator has configured no evidence key, so timelines cannot be signed. */
class EvidenceKeyMissingError extends DomainError {
  readonly code = 'EVIDENCE_KEY_NOT_CONFIGURED'
  readonly kind = 'invalid_request'

  constructor() {
    super('This service signs no timelines: ask without signed=true.', { data: { field: 'signed' } })
  }
}

/** Signs the timeline of a request with the evidence key. @throws EvidenceKeyMissingError, SignerFailedError */
export type SignTimeline = (timeline: Timeline) => Promise<TimelineAnswer>

/** Time for which a signature of unchanged steps is reused, because a key management service charges for each one. */
const reuseMs = 60_000
const cachedAnswersMax = 1_000

type CachedAnswer = {
  /** JSON of the unsigned answer, which shows whether it has changed. */
  readonly content: string
  readonly asOfMs: number
  readonly answer: Promise<TimelineAnswer>
}

/** @param options.signer the evidence key; without one every request for a signature is refused */
export function createSignTimeline(options: {
  readonly signer: Signer | undefined
  readonly nowMs?: () => number
}): SignTimeline {
  const { signer, nowMs = Date.now } = options
  if (signer === undefined) return () => Promise.reject(new EvidenceKeyMissingError())
  const cachedAnswers = createLruCache<CachedAnswer>(cachedAnswersMax)
  return (timeline) => {
    const unsignedAnswer = timelineAnswer(timeline)
    const { requestId } = unsignedAnswer
    const content = JSON.stringify(unsignedAnswer)
    const now = nowMs()
    const cached = cachedAnswers.get(requestId)
    if (cached?.content === content && now - cached.asOfMs < reuseMs) return cached.answer
    const answer = signAnswer(signer, timeline, unsignedAnswer, new Date(now).toISOString())
    cachedAnswers.set(requestId, { content, asOfMs: now, answer })
    // A failed signature is not cached, so that the next caller tries again.
    answer.catch(() => {
      if (cachedAnswers.get(requestId)?.answer === answer) cachedAnswers.delete(requestId)
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

/** The statement that is signed: every member of the answer, with empty text or zero in place of `null`. */
function statementOf(
  { requestId, orderId }: Timeline,
  { status, reason, steps }: TimelineAnswer,
  asOf: string,
): TimelineStatement {
  return {
    requestId,
    orderId: orderId ?? noOrder,
    status,
    reason: reason ?? '',
    asOf,
    steps: steps.map(({ reason: stepReason, evidence, ...step }) => ({
      ...step,
      reason: stepReason ?? '',
      evidence: evidence.map(({ chainId = 0, ...rest }) => ({ ...rest, chainId: BigInt(chainId) })),
    })),
  }
}

const noOrder: Hex = `0x${'0'.repeat(64)}`

/**
 * Requires an evidence key of its own. It vouches for what was reported, the order signer for what was promised, and neither
 * signature may pass for the other. @throws ConfigurationError
 */
export function checkEvidenceKey(evidenceKey: Hex | undefined, orderSigner: Hex | undefined): void {
  if (evidenceKey !== undefined && evidenceKey === orderSigner)
    throw new ConfigurationError(
      'The evidence key must be a key of its own, not that of the order signer: see EVIDENCE_ECDSA_PRIVATE_KEY.',
    )
}
