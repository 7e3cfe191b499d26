import type { Hex, SqlDatabase } from '@causeway/core'
import type { Run } from '../../jobs/runJobs.ts'
import { setStage } from '../status/requestProgress.ts'
import { stepWork } from '../work/followWork.ts'
import { retryStage } from './parked/parkedRules.ts'
import { traceNeeded } from './parked/parkRequest.ts'
import { lockSettledRequest } from './settledRequest.ts'
import type { SettlementContext } from './settlementContext.ts'

const atOnce = 16
const dueMax = 100

/**
 * Takes requests up again that were parked for a trace: the solver paid, so nothing is refunded, and nothing but a
 * trace was missing. Where there still is none, the same rules park them again, for longer each time.
 */
export async function resumeTraced(
  context: Pick<SettlementContext, 'database' | 'observe'>,
  run: Run,
): Promise<void> {
  await stepWork(context.database, run, {
    atOnce,
    list: () => listParkedForTrace(context.database),
    async step(tx, requestId) {
      const request = await lockSettledRequest(tx, requestId)
      // An operator may have ended it meanwhile.
      if (request?.settlement?.stage !== 'parked') return
      await setStage(tx, requestId, {
        stage: retryStage({ isFilled: request.status === 'success', refund: undefined }),
      })
      context.observe({ event: 'resumed', requestId, reason: traceNeeded })
    },
  })
}

async function listParkedForTrace(database: Pick<SqlDatabase, 'query'>): Promise<readonly Hex[]> {
  const rows = await database.query<{ request_id: Buffer }>(
    `select request_id from settlement where stage = 'parked' and parked_reason = $1
       and next_at <= statement_timestamp() order by next_at limit $2`,
    [traceNeeded, dueMax],
  )
  return rows.map(({ request_id }): Hex => `0x${request_id.toString('hex')}`)
}
