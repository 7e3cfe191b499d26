import { blockedWallet } from '@causeway/chains'
import type { SqlDatabase, SqlTx } from '@causeway/core'
import { readAppFeeClaim } from '@causeway/ledger'
import { readScreenedRequests, type Screening } from '../../screening/screenedRequest.ts'
import type { Withholding } from '../../work/solverWork.ts'
import { claimPayloadSchema, type WorkItem } from '../../work/workItem.ts'
import { lockWork, withholdItem } from '../../work/workStore.ts'
import { parkRequest } from '../parked/parkRequest.ts'
import { readSettledRequest } from '../settledRequest.ts'
import type { SettlementContext } from '../settlementContext.ts'

type Queries = Pick<SqlDatabase, 'query'>

/**
 * Withholds work from the solver that would pay, refund or sweep money of a denied account.
 * @param options.screening undefined where this service has no deny list
 */
export function createWithholding(options: {
  readonly database: SqlDatabase
  readonly screening: Screening | undefined
  readonly observe: SettlementContext['observe']
}): Withholding {
  const { database, screening, observe } = options
  const withhold = (id: string) => database.transaction((tx) => withholdOne({ observe }, tx, id))
  return {
    hasList: screening !== undefined,
    withhold,
    async denied(items) {
      if (screening === undefined) return new Set()
      const ids = await deniedItems(database, screening, items)
      for (const id of ids) await withhold(id)
      return new Set(ids)
    },
  }
}

async function deniedItems(
  database: Queries,
  screening: Screening,
  items: readonly WorkItem[],
): Promise<readonly string[]> {
  const requestIds = [...new Set(items.flatMap(({ requestId }) => requestId ?? []))]
  const requests = await readScreenedRequests(database, requestIds)
  const senders = await readSenders(database, items)
  const denied: string[] = []
  for (const item of items) {
    const request = item.requestId && requests.get(item.requestId)
    const isDenied =
      request === undefined
        ? item.kind === 'claim' && (await isClaimDenied(database, screening, item))
        : screening.deniedIn(request, senders.get(item.id)) !== undefined
    if (isDenied) denied.push(item.id)
  }
  return denied
}

async function isClaimDenied(
  database: Queries,
  screening: Screening,
  { payload }: WorkItem,
): Promise<boolean> {
  const { claimId, chainId, recipient } = claimPayloadSchema.parse(payload)
  const { wallet } = (await readAppFeeClaim(database, claimId)) ?? {}
  return [recipient, wallet].some((account) => account !== undefined && screening.isDenied(chainId, account))
}

/**
 * Accounts that made the deposit of each fill or refund, by the id of the work item. The subject of a refund
 * is its deposit's id, behind `surplus:` if only the excess is refunded.
 */
async function readSenders(
  database: Queries,
  items: readonly WorkItem[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await database.query<{ id: string; depositor: string; senders: readonly string[] | null }>(
    `select w.id, d.depositor, d.senders from work_item w
     left join settlement s on s.request_id = w.request_id
     join deposit_seen d on d.id = case w.kind when 'fill' then s.deposit_id
       when 'refund' then replace(w.subject, 'surplus:', '')::bigint end
     where w.id = any($1::uuid[])`,
    [items.map(({ id }) => id)],
  )
  return new Map(rows.map(({ id, depositor, senders }) => [id, [depositor, ...(senders ?? [])]]))
}

/** Withholds an open item. If its request waits for it, the request is parked; else only operators are told. */
async function withholdOne(
  context: Pick<SettlementContext, 'observe'>,
  tx: SqlTx,
  id: string,
): Promise<void> {
  const item = await lockWork(tx, id)
  if (item?.state !== 'open' || item.isWithheld) return
  await withholdItem(tx, id)
  const { requestId } = item
  if (requestId === undefined) return
  const { stage, depositId } = (await readSettledRequest(tx, requestId))?.settlement ?? {}
  const isAwaited =
    (stage === 'filling' && item.kind === 'fill') ||
    (stage === 'refunding' && item.kind === 'refund' && item.subject === String(depositId))
  if (isAwaited) await parkRequest(context, tx, requestId, blockedWallet)
  else context.observe({ event: 'parked', requestId, reason: blockedWallet })
}
