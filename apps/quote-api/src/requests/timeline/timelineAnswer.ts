import { z } from 'zod'
import type { Timeline } from './timeline.ts'
import { evidenceKinds, stepNames } from './timelineStep.ts'

const text = z.string()

/** A timeline as the public and the admin interface answer it, and as `why --json` prints it. */
export const timelineSchema = z.object({
  requestId: text,
  orderId: text.nullable().describe('`null` where the user carries the request out alone'),
  status: text,
  reason: text.nullable().describe('Why it ended or waits; `null` where nothing is wrong'),
  steps: z
    .array(
      z.object({
        step: z.enum(stepNames),
        at: z.iso.datetime(),
        reason: text.nullable(),
        text: text.describe('One sentence for people'),
        evidence: z.array(
          z.object({
            kind: z.enum(evidenceKinds),
            label: text,
            value: text.describe('A hash, an amount, a signature or a time'),
            chainId: z.int().optional(),
          }),
        ),
      }),
    )
    .describe('Oldest first'),
  signed: z
    .object({
      signer: text.describe('Address of the evidence key'),
      asOf: z.iso.datetime().describe('When this was so'),
      signature: text.describe('EIP-712 `Timeline` in the domain `CausewayTimeline`, version 1'),
    })
    .optional()
    .describe('With `signed=true`'),
})

export type TimelineAnswer = z.output<typeof timelineSchema>

export function timelineAnswer({ requestId, orderId, status, reason, steps }: Timeline): TimelineAnswer {
  return {
    requestId,
    orderId: orderId ?? null,
    status,
    reason: reason ?? null,
    steps: steps.map(({ step, atMs, reason: stepReason, text: sentence, evidence }) => ({
      step,
      at: new Date(atMs).toISOString(),
      reason: stepReason ?? null,
      text: sentence,
      evidence: evidence.map((entry) => ({ ...entry })),
    })),
  }
}
