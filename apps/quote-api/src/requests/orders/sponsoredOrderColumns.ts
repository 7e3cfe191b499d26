import { idBytes, insertOrders, joinTexts, orderColumns } from './orderColumns.ts'
import type { SponsoredOrder } from './sponsoredOrderStore.ts'

/** Both rows of each quote in one statement: a round trip less while the sponsor's row is locked. */
export const insertSponsoredOrders = `
  with kept as (${insertOrders})
  insert into request_sponsorship (request_id, sponsor, debit_micro_usd, quoted)
  select substr($1::bytea, 1 + ${idBytes} * (i::int - 1), ${idBytes}),
    nullif(sponsor, ''), debit_micro_usd, quoted::json
  from unnest(string_to_array($16, E'\\x1e'), $17::numeric[], string_to_array($18, E'\\x1e'))
    with ordinality as s(sponsor, debit_micro_usd, quoted, i)`

/** Parameters of `insertSponsoredOrders`. @throws RangeError as `orderColumns` */
export function sponsoredOrderColumns(items: readonly SponsoredOrder[]): readonly unknown[] {
  return [
    ...orderColumns(items.map(({ order }) => order)),
    joinTexts(items.map(({ sponsorship }) => sponsorship.sponsor ?? '')),
    `{${items.map(({ sponsorship }) => sponsorship.debitMicroUsd).join(',')}}`,
    joinTexts(items.map(({ sponsorship }) => sponsorship.quoted)),
  ]
}
