import type { Finding } from '@causeway/core/config'
import type { Catalog } from './describeSchema.ts'
import { SchemaError, schemaFinding } from './migrationErrors.ts'
import { type MigrationDirectory, readMigrations } from './migrationFiles.ts'
import { type AppliedMigration, planMigrations } from './migrationPlan.ts'

/**
 * Table of a module's applied migrations. It keeps the schema and the columns of the releases before checksums, so that
 * one of these can still read it after a rollback of the release.
 */
export const historyOf = (module: string) => `public.migrations_${module}`

/** Columns of a module's history; none where it never ran. */
export async function historyColumns(catalog: Catalog, module: string): Promise<ReadonlySet<string>> {
  const columns = await catalog.query<{ name: string }>(
    `select attname::text as name from pg_attribute
     where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`,
    [historyOf(module)],
  )
  return new Set(columns.map(({ name }) => name))
}

/** Applied migrations of a module, in the order in which they ran. */
export function readHistory(
  catalog: Catalog,
  module: string,
  hasChecksums: boolean,
): Promise<readonly AppliedMigration[]> {
  const columns = hasChecksums ? 'checksum, stops_older as' : 'null as checksum, null as'
  return catalog.query<AppliedMigration>(
    `select name, ${columns} "stopsOlder" from ${historyOf(module)} order by id`,
  )
}

/**
 * Findings about the schema for the `doctor` command: what the next start would apply, or why it would refuse. Changes
 * nothing.
 */
export async function examineSchema(
  catalog: Catalog,
  directories: readonly MigrationDirectory[],
): Promise<readonly Finding[]> {
  const pending: string[] = []
  const newer: string[] = []
  let isEmpty = directories.length > 0
  for (const directory of directories) {
    const { name } = directory
    const files = await readMigrations(directory.path)
    const columns = await historyColumns(catalog, name)
    const applied = columns.size === 0 ? [] : await readHistory(catalog, name, columns.has('checksum'))
    if (applied.length > 0) isEmpty = false
    try {
      const plan = planMigrations({ ...directory, files, applied })
      if (applied.length > 0) pending.push(...plan.toRun.map((file) => `${name}/${file.name}`))
      newer.push(...plan.newer.map((migration) => `${name}/${migration}`))
    } catch (error) {
      if (!(error instanceof SchemaError)) throw error
      return error.findings
    }
  }
  const others = await readOthers(catalog, directories)
  if (others.length > 0)
    return [
      schemaFinding(
        'stops',
        `another service keeps its tables there (${others.join(', ')})`,
        'Give each service a database of its own, and name that one.',
      ),
    ]
  const page = 'See docs/operating/upgrade.md.'
  return [
    ...(isEmpty
      ? [
          schemaFinding(
            'note',
            'it is empty: the next start makes its tables',
            'Before the first start this is right. Else another database is named, or its backup is not restored yet.',
          ),
        ]
      : []),
    ...(pending.length === 0
      ? []
      : [
          schemaFinding(
            'note',
            `the next start applies ${pending.join(', ')}`,
            `Take a backup first. ${page}`,
          ),
        ]),
    ...(newer.length === 0
      ? []
      : [schemaFinding('note', `a later release ran ${newer.join(', ')}, and lets this one run`, page)]),
  ]
}

/** Histories of other services' modules in the same database; none for a service that has no modules. */
async function readOthers(
  catalog: Catalog,
  directories: readonly MigrationDirectory[],
): Promise<readonly string[]> {
  if (directories.length === 0) return []
  const rows = await catalog.query<{ name: string }>(
    `select relname::text as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind = 'r' and relname like 'migrations\\_%'
       and relname <> all($1) order by relname`,
    [directories.map(({ name }) => `migrations_${name}`)],
  )
  return rows.map(({ name }) => name)
}
