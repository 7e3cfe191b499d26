import type { SqlDatabase } from '@causeway/core'
import { isStoppedWork } from '../stops/stopStore.ts'
import type { WorkItem, WorkKind } from './workItem.ts'
import { toWorkItem, type WorkRow, workColumns } from './workStore.ts'

/**
 * A class of work. One place of every `onePlaceIn` places of a page is guaranteed to it. `isUnderpaid`:
 * refunds of deposits below their order's input, which pay only part of the gas.
 */
type Lane = { readonly kind: WorkKind; readonly isUnderpaid: boolean; readonly onePlaceIn: number }

/**
 * The lanes of a page in their order. Guaranteed places keep one kind of work from filling the page: permits cost their
 * signers nothing and may fail, and work that waits for inventory may wait for an hour.
 */
const lanes: readonly Lane[] = [
  { kind: 'fill', isUnderpaid: false, onePlaceIn: 5 },
  { kind: 'claim', isUnderpaid: false, onePlaceIn: 10 },
  { kind: 'sweep', isUnderpaid: false, onePlaceIn: 10 },
  { kind: 'refund', isUnderpaid: false, onePlaceIn: 10 },
  { kind: 'refund', isUnderpaid: true, onePlaceIn: 10 },
  { kind: 'permit', isUnderpaid: false, onePlaceIn: 5 },
  { kind: 'recovery', isUnderpaid: false, onePlaceIn: 10 },
]

/** Open items by lane, each lane oldest first. */
export type OpenLanes = readonly (readonly WorkItem[])[]

/**
 * Reads up to `limit` open items of each lane. Fills and permits past their deadline are left out, and so is all work on
 * stopped chains.
 */
export async function readOpenLanes(database: Pick<SqlDatabase, 'query'>, limit: number): Promise<OpenLanes> {
  const openInLane = ({ kind, isUnderpaid }: Lane, index: number) =>
    `(select ${workColumns}, ${index} as lane from work_item
      where state = 'open' and withheld_at is null and kind = '${kind}' and is_underpaid = ${isUnderpaid}
        and not_before <= statement_timestamp() and not ${isStoppedWork}
        and (kind not in ('fill', 'permit')
          or (payload ->> 'deadline')::numeric > extract(epoch from statement_timestamp()))
      order by created_at, id limit $1)`
  const rows = await database.query<WorkRow & { readonly lane: number }>(
    lanes.map(openInLane).join(' union all '),
    [limit],
  )
  return lanes.map((_lane, index) => rows.filter(({ lane }) => lane === index).map(toWorkItem))
}

/** The page for a caller: guaranteed places first, the rest by the order of lanes. @param open read for at least `limit` */
export function pageOf(open: OpenLanes, limit: number): readonly WorkItem[] {
  const shares = lanes.map(({ onePlaceIn }, index) => {
    const items = open[index] ?? []
    return { items, guaranteed: Math.min(items.length, Math.floor(limit / onePlaceIn)) }
  })
  let freePlaces = limit - shares.reduce((sum, { guaranteed }) => sum + guaranteed, 0)
  return shares.flatMap(({ items, guaranteed }) => {
    const additional = Math.min(freePlaces, items.length - guaranteed)
    freePlaces -= additional
    return items.slice(0, guaranteed + additional)
  })
}
