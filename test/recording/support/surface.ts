// Interfaces of operators and other programs besides answers: interface descriptions, names of metrics, and the
// database.
import type { SqlDatabase } from '@causeway/core'
import { z } from 'zod'
import { readExposed } from '../../support/exposed.ts'

const descriptionSchema = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })

/** The interface description of a service: one entry per route, after what is said of all. */
export async function readDescription(publicUrl: string): Promise<readonly object[]> {
  const description: unknown = await (await fetch(`${publicUrl}/documentation/json`)).json()
  const { paths, ...shared } = descriptionSchema.parse(description)
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ route: `${method} ${path}`, operation })),
  )
  return [shared, ...routes]
}

/** Names, kinds and descriptions of a service's own metrics; those of the runtime follow its version. */
export async function readMetrics(opsUrl: string): Promise<readonly object[]> {
  return (await readExposed(opsUrl)).map(({ name, type, help }) => ({ name, type, help }))
}

const schemaQueries: Readonly<Record<string, string>> = {
  columns: `select table_name as of, string_agg(column_name || ' ' || udt_name
      || case is_nullable when 'NO' then ' not null' else '' end
      || coalesce(' default ' || column_default, ''), ', ' order by ordinal_position) as is
    from information_schema.columns where table_schema = 'public' group by table_name order by table_name`,
  constraints: `select conrelid::regclass || ' ' || conname as of, pg_get_constraintdef(oid) as is
    from pg_constraint where connamespace = 'public'::regnamespace and contype <> 'n' order by 1`,
  indexes: `select indexname as of, indexdef as is from pg_indexes where schemaname = 'public' order by 1`,
  functions: `select p.oid::regprocedure::text as of, pg_get_functiondef(p.oid) as is
    from pg_proc p where pronamespace = 'public'::regnamespace and prokind in ('f', 'p') order by 1`,
  triggers: `select tgrelid::regclass || ' ' || tgname as of, pg_get_triggerdef(oid) as is
    from pg_trigger where not tgisinternal order by 1`,
  types: `select t.typname as of, string_agg(e.enumlabel, ', ' order by e.enumsortorder) as is
    from pg_type t join pg_enum e on e.enumtypid = t.oid group by t.typname order by 1`,
}

/** Tables, constraints, indexes, functions, triggers and types after all migrations. */
export async function readSchema(database: Pick<SqlDatabase, 'query'>): Promise<readonly object[]> {
  const entries: object[] = []
  for (const [kind, query] of Object.entries(schemaQueries)) {
    const rows = await database.query<{ of: string; is: string }>(query)
    entries.push(...rows.map(({ of, is }) => ({ kind, of, is })))
  }
  return entries
}
