import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import { adminActor } from '../../access/adminActor.ts'
import { operatorReason } from '../../access/operatorReason.ts'
import type { StopAdministration } from '../../operate/admin/stopAdministration.ts'
import { type ChainStop, stopTellers } from '../../requests/stops/stopStore.ts'
import { adminOperation } from './adminOperation.ts'

const stopSchema = z.object({
  chainId: z.int().describe('0: all chains'),
  by: z.enum(stopTellers),
  actor: z.string(),
  since: z.iso.datetime(),
  reason: z.string(),
})
const stopAnswer = ({ toldBy: by, since, ...stop }: ChainStop) => ({
  ...stop,
  by,
  since: since.toISOString(),
})

const params = z.object({ chain: z.string().min(1).max(100).describe('Name or number of a chain, or `all`') })
const body = z.object({ reason: operatorReason })
const chainFields = { chainId: z.int().describe('0: all chains'), name: z.string() }

/** `/admin/stops`: chains on which nothing begins any more. */
export function registerStopRoutes(app: HttpApp, stops: StopAdministration): void {
  const list = {
    ...adminOperation('stops', 'List what is stopped, by whom, since when and why'),
    response: { 200: z.object({ stops: z.array(stopSchema) }), ...errorResponses },
  }
  app.get('/admin/stops', { schema: list }, async () => ({ stops: (await stops.list()).map(stopAnswer) }))

  const errors = { 400: ['UNSUPPORTED_CHAIN'] }
  const stop = {
    ...adminOperation('stop', 'Stop a chain, or all: no quotes, no work for solvers, no withdrawals', errors),
    params,
    body,
    response: {
      // The three words are those of `AllocatorReach`.
      200: z.object({ ...chainFields, allocator: z.enum(['reached', 'silent', 'none']) }),
      ...errorResponses,
    },
  }
  app.post('/admin/stops/:chain/stop', { schema: stop }, ({ params: { chain }, body: { reason } }) =>
    stops.stop(chain, { actor: adminActor, reason }),
  )

  const go = {
    ...adminOperation('go', 'End the stop of a chain, or every stop', errors),
    params,
    body,
    response: {
      200: z.object({ ...chainFields, ended: z.int(), left: z.array(stopSchema) }),
      ...errorResponses,
    },
  }
  app.post('/admin/stops/:chain/go', { schema: go }, async ({ params: { chain }, body: { reason } }) => {
    const { left, ...released } = await stops.go(chain, { actor: adminActor, reason })
    return { ...released, left: left.map(stopAnswer) }
  })
}
