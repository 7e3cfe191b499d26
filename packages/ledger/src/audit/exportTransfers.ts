import type { SqlDatabase } from '@causeway/core'

const pageSize = 1_000

const select = `
  select t.seq, json_build_object('seq', t.seq::text, 'id', t.id, 'kind', t.kind, 'code', t.code,
    'amount', t.amount::text, 'pendingId', t.pending_id, 'asset', json_build_object('id', s.id,
      'chainId', s.chain_id, 'address', s.address, 'symbol', s.symbol, 'decimals', s.decimals),
    'debit', json_build_object('account', d.id, 'kind', d.kind, 'owner', d.owner,
      'availableAfter', t.debit_after::text),
    'credit', json_build_object('account', c.id, 'kind', c.kind, 'owner', c.owner,
      'availableAfter', t.credit_after::text),
    'requestId', '0x' || encode(t.request_id, 'hex'), 'chainEventId', t.chain_event_id, 'actor', t.actor,
    'evidence', t.evidence, 'bodyHash', encode(t.body_hash, 'hex'), 'createdAt', t.created_at)::text as line
  from transfer t join asset s on s.id = t.asset_id
    join account d on d.id = t.debit_account join account c on c.id = t.credit_account
  where t.seq > $1 order by t.seq limit $2`

/**
 * Yields every transfer as one line of JSON, the oldest first, for an operator's export; amounts are decimal strings.
 * Transfers that are committed during the export may or may not be in it.
 * @param options.afterSeq `seq` of the last transfer of an earlier export, which is continued
 */
export async function* exportTransfers(
  database: Pick<SqlDatabase, 'query'>,
  { afterSeq = 0n }: { afterSeq?: bigint } = {},
): AsyncGenerator<string> {
  let after = afterSeq
  for (;;) {
    const rows = await database.query<{ seq: bigint; line: string }>(select, [after, pageSize])
    for (const { line } of rows) yield `${line}\n`
    const last = rows.at(-1)
    if (last === undefined || rows.length < pageSize) return
    after = last.seq
  }
}
