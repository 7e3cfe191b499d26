import type { Finding } from '@causeway/core'
import type { Catalog } from './describeSchema.ts'
import { SchemaError, schemaFinding } from './migrationErrors.ts'
import { type MigrationDirectory, readMigrations } from './migrationFiles.ts'
import { type AppliedMigration, planMigrations } from './migrationPlan.ts'

/** In `public` with the columns of releases that kept no checksums, which read it after a rollback. */
export const historyOf = (module: string) => `public.migrations_${module}`

/** None where the module never ran. */
export async function historyColumns(catalog: Catalog, module: string): Promise<ReadonlySet<string>> {
  const columns = await catalog.query<{ name: string }>(
    `select attname::text as name from pg_attribute
     where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`,
    [historyOf(module)],
  )
  return new Set(columns.map(({ name }) => name))
}

/** In the order in which they ran. */
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

/** What the next start would do to the tables of a database, or why it would be refused. Changes nothing. */
export async function examineSchema(
  catalog: Catalog,
  directories: readonly MigrationDirectory[],
): Promise<readonly Finding[]> {
  const pending: string[] = []
  const newer: string[] = []
  for (const directory of directories) {
    const { name } = directory
    const files = await readMigrations(directory.path)
    const columns = await historyColumns(catalog, name)
    const applied = columns.size === 0 ? [] : await readHistory(catalog, name, columns.has('checksum'))
    try {
      const plan = planMigrations({ ...directory, files, applied })
      if (applied.length > 0) pending.push(...plan.toRun.map((file) => `${name}/${file.name}`))
      newer.push(...plan.newer.map((one) => `${name}/${one}`))
    } catch (error) {
      if (!(error instanceof SchemaError)) throw error
      return error.findings
    }
  }
  const page = 'See docs/operating/upgrade.md.'
  return [
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
