import { errorResponses, type HttpApp } from '@causeway/http'
import type { ChainDirectory } from '../wire/chainsResponse.ts'
import { chainsResponseSchema, chainToWire } from '../wire/chainsResponse.ts'

/** GET /chains. @source quote-api.md 3.2 */
export function registerChains(app: HttpApp, directory: ChainDirectory): void {
  const schema = {
    tags: ['discovery'],
    summary: 'List the chains that can be quoted',
    response: { 200: chainsResponseSchema, ...errorResponses },
  }
  app.get('/chains', { schema, config: { rateLimitClass: 'read' } }, async () => ({
    chains: directory.registry.chains.map((chain) => chainToWire(chain, directory)),
  }))
}
