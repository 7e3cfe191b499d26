import type { SqlRow, SqlTx } from '@causeway/core'
import type pg from 'pg'

/** A connection that answers queries about the server's catalog. */
export type Catalog = Pick<SqlTx, 'query'>

/** A driver's client as a `Catalog`. */
export function catalogOf(client: pg.ClientBase): Catalog {
  return {
    query: async <Row extends SqlRow>(text: string, values: readonly unknown[] = []) =>
      (await client.query<Row>(text, [...values])).rows,
  }
}

/** Description of one schema object, from the server's catalog. */
export type SchemaObject = {
  /** E.g. `column` or `index`; `order` is that of columns, `options` are those of storage. */
  readonly kind: string
  readonly name: string
  readonly definition: string
}

/**
 * Describes everything in a schema but its rows: what `pg_dump -s` writes, less owners and grants. The schema's own
 * name is removed from names and definitions, so that two schemas can be compared.
 */
export async function describeSchema(database: Catalog, schema: string): Promise<readonly SchemaObject[]> {
  const rows = await database.query<SchemaObject>(catalogQuery, [schema])
  const escapedName = schema.replaceAll(/\W/g, '\\$&')
  const schemaPrefix = new RegExp(`(?<![\\w"$])(?:${escapedName}|"${escapedName}")\\.`, 'g')
  return rows.map(({ kind, name, definition }) => ({
    kind,
    name: name.replace(schemaPrefix, ''),
    definition: definition.replace(schemaPrefix, ''),
  }))
}

/**
 * Each part of the union describes one kind of object. It leaves out what other rows tell: not-null
 * constraints (`n`) by columns, rules `_RETURN` by views; indexes (`i`, `I`) and sequences (`S`) are no
 * `relation`, as they have rows of their own, and TOAST tables (`t`) belong to their tables. Types are
 * domains, enums and ranges; others come with a table.
 */
const catalogQuery = `
  with spaces as (select oid from pg_namespace where nspname = $1),
  relations as (select c.* from pg_class c join spaces s on s.oid = c.relnamespace),
  columns as (
    select r.relname, a.*, format_type(a.atttypid, a.atttypmod) as type, pg_get_expr(d.adbin, d.adrelid) as initial,
      case when a.attcollation <> t.typcollation then a.attcollation::regcollation::text end as collated,
      nullif(a.attstorage, t.typstorage)::text as storage
    from relations r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
    join pg_type t on t.oid = a.atttypid
    left join pg_attrdef d on d.adrelid = r.oid and d.adnum = a.attnum
    where r.relkind in ('r', 'p', 'v', 'm', 'f', 'c'))
  select 'relation' as kind, relname::text as name,
    concat_ws(' ', relkind, relpersistence, case when relrowsecurity then 'row security' end,
      case when relkind in ('v', 'm') then pg_get_viewdef(oid) end) as definition
  from relations where relkind not in ('i', 'I', 'S', 't')
  union all select 'options', relname, array_to_string(reloptions, ', ') from relations where reloptions is not null
  union all select 'order', relname, string_agg(attname, ', ' order by attnum) from columns group by relname
  union all select 'column', relname || '.' || attname,
    concat_ws(' ', type, case when attnotnull then 'not null' end, 'default ' || initial,
      'identity ' || nullif(attidentity::text, ''), 'generated ' || nullif(attgenerated::text, ''), 'collate ' || collated,
      'storage ' || storage)
  from columns
  union all select 'sequence', relname,
    concat_ws(' ', format_type(q.seqtypid, null), q.seqstart, q.seqincrement, q.seqmin, q.seqmax, q.seqcache, q.seqcycle,
      'of ' || (select refobjid::regclass || '.' || a.attname from pg_depend p
        join pg_attribute a on a.attrelid = p.refobjid and a.attnum = p.refobjsubid
        where p.objid = r.oid and p.classid = 'pg_class'::regclass and p.deptype in ('a', 'i')))
  from relations r join pg_sequence q on q.seqrelid = r.oid
  union all select 'index', c.relname, pg_get_indexdef(i.indexrelid) || case when i.indisvalid then '' else ' invalid' end
  from pg_index i join relations c on c.oid = i.indexrelid
  union all select 'constraint', coalesce(r.relname || '.', '') || n.conname,
    pg_get_constraintdef(n.oid) || case when n.convalidated then '' else ' not valid' end
  from pg_constraint n join spaces s on s.oid = n.connamespace left join relations r on r.oid = n.conrelid
  where n.contype <> 'n'
  union all select 'trigger', r.relname || '.' || g.tgname, pg_get_triggerdef(g.oid) || ' ' || g.tgenabled::text
  from pg_trigger g join relations r on r.oid = g.tgrelid where not g.tgisinternal
  union all select 'rule', r.relname || '.' || w.rulename, pg_get_ruledef(w.oid)
  from pg_rewrite w join relations r on r.oid = w.ev_class where w.rulename <> '_RETURN'
  union all select 'policy', r.relname || '.' || l.polname,
    concat_ws(' ', l.polcmd, l.polpermissive, pg_get_expr(l.polqual, l.polrelid), pg_get_expr(l.polwithcheck, l.polrelid))
  from pg_policy l join relations r on r.oid = l.polrelid
  union all select 'statistics', x.stxname, pg_get_statisticsobjdef(x.oid)
  from pg_statistic_ext x join spaces s on s.oid = x.stxnamespace
  union all select 'function', f.proname || '(' || pg_get_function_identity_arguments(f.oid) || ')',
    case when f.prokind = 'a' then 'aggregate' else pg_get_functiondef(f.oid) end
  from pg_proc f join spaces s on s.oid = f.pronamespace
  union all select 'type', t.typname, concat_ws(' ', t.typtype, format_type(nullif(t.typbasetype, 0), t.typtypmod),
    case when t.typnotnull then 'not null' end, t.typdefault,
    (select string_agg(e.enumlabel, ', ' order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid))
  from pg_type t join spaces s on s.oid = t.typnamespace where t.typtype in ('d', 'e', 'r')
  union all select 'comment', o.type || ' ' || o.identity, d.description
  from pg_description d cross join lateral pg_identify_object(d.classoid, d.objoid, d.objsubid) o
  where o.schema = $1
  order by 1, 2`

/** Kinds in which two databases may differ without effect: no statement depends on them. */
const cosmeticKinds: ReadonlySet<string> = new Set(['order', 'options', 'comment'])

/**
 * Expected objects that are absent or different, one line each. Additional objects belong to their owner: an extra
 * index breaks nothing.
 */
export function missingFrom(
  actual: readonly SchemaObject[],
  expected: readonly SchemaObject[],
): readonly string[] {
  const actualDefinitions = new Map(
    actual.map(({ kind, name, definition }) => [`${kind} ${name}`, definition]),
  )
  return expected.flatMap(({ kind, name, definition }) => {
    const key = `${kind} ${name}`
    const actualDefinition = actualDefinitions.get(key)
    if (cosmeticKinds.has(kind) || actualDefinition === definition) return []
    if (actualDefinition === undefined) return [`${key} is missing`]
    const isLong = actualDefinition.length + definition.length > 400
    return [isLong ? `${key} is another one` : `${key} is "${actualDefinition}" and not "${definition}"`]
  })
}
