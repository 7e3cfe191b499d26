import { vmTypes } from '@causeway/core'
import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'

const chainSchema = z.object({
  id: z.string().describe('Names the chain in requests, orders and hashes'),
  vmType: z.enum(vmTypes),
  depository: z.string().optional(),
  additionalDepositories: z.array(z.string()).optional(),
  hubChainId: z.string().describe('Decimal'),
  ready: z.boolean().describe('True when facts of the chain can be attested here now'),
  halted: z
    .boolean()
    .describe('True after a final block changed: nothing is signed until the operator clears it'),
})

export const chainsResponseSchema = z.object({ chains: z.array(chainSchema) })

export type ListedChain = z.infer<typeof chainSchema>

/** GET /chains/v1: every chain of the environment, in the order of its file. Asks no endpoint. */
export function registerChains(app: HttpApp, list: () => readonly ListedChain[]): void {
  const schema = {
    tags: ['discovery'],
    summary: 'List the chains of the selected environment',
    response: { 200: chainsResponseSchema, ...errorResponses },
  }
  app.get('/chains/v1', { schema }, async () => ({ chains: [...list()] }))
}
