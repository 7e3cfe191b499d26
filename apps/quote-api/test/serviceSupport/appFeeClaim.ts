import type { Hex } from '@causeway/core'
import { z } from 'zod'
import { readOk } from './callService.ts'

const claimStepSchema = z.object({
  steps: z.tuple([
    z.looseObject({
      requestId: z.string(),
      items: z.tuple([
        z.looseObject({
          data: z.looseObject({
            sign: z.object({
              signatureKind: z.literal('eip712'),
              domain: z.object({ name: z.string(), version: z.string(), chainId: z.number().optional() }),
              types: z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() }))),
              primaryType: z.string(),
              value: z.record(z.string(), z.string()),
            }),
          }),
        }),
      ]),
    }),
  ]),
})

/** Typed data for a wallet, with its message under the member name that libraries use. */
export type ClaimTypedData = Omit<
  z.infer<typeof claimStepSchema>['steps'][0]['items'][0]['data']['sign'],
  'signatureKind' | 'value'
> & { readonly message: Record<string, string> }

/** The one step of a prepared claim. */
export function readClaimStep(answer: Parameters<typeof readOk>[0]): {
  readonly claimId: Hex
  readonly typedData: ClaimTypedData
} {
  const [step] = readOk(answer, claimStepSchema).steps
  const [{ data }] = step.items
  const { domain, types, primaryType, value: message } = data.sign
  // CAST: a request id is hex.
  return { claimId: step.requestId as Hex, typedData: { domain, types, primaryType, message } }
}
