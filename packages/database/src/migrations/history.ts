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

/**
 * Applied migrations of a module, in the order in which they ran.
 * @param hasChecksums false for a table of a release before checksums
 */
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
  const plans: ModulePlan[] = []
  try {
    for (const directory of directories) plans.push(await planModule(catalog, directory))
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error
    return error.findings
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
  return plans.length === 0 ? [] : planFindings(plans)
}

/** Plan of the next start for one module, by names of migrations: `<module>/<migration>`. */
type ModulePlan = {
  readonly hasRun: boolean
  readonly toRun: readonly string[]
  readonly newer: readonly string[]
}

/** @throws SchemaError where the start would refuse the module's history */
async function planModule(catalog: Catalog, directory: MigrationDirectory): Promise<ModulePlan> {
  const { name } = directory
  const files = await readMigrations(directory.path)
  const columns = await historyColumns(catalog, name)
  const applied = columns.size === 0 ? [] : await readHistory(catalog, name, columns.has('checksum'))
  const plan = planMigrations({ ...directory, files, applied })
  return {
    hasRun: applied.length > 0,
    toRun: plan.toRun.map((file) => `${name}/${file.name}`),
    newer: plan.newer.map((migration) => `${name}/${migration}`),
  }
}

function planFindings(plans: readonly ModulePlan[]): readonly Finding[] {
  const page = 'See docs/operating/upgrade.md.'
  // A module that never ran is new as a whole: its migrations are not listed.
  const pending = plans.flatMap(({ hasRun, toRun }) => (hasRun ? toRun : []))
  const newer = plans.flatMap((plan) => plan.newer)
  const findings: Finding[] = []
  if (!plans.some(({ hasRun }) => hasRun)) {
    const fix =
      'Before the first start this is right. Else another database is named, or its backup is not restored yet.'
    findings.push(schemaFinding('note', 'it is empty: the next start makes its tables', fix))
  }
  if (pending.length > 0) {
    const observation = `the next start applies ${pending.join(', ')}`
    findings.push(schemaFinding('note', observation, `Take a backup first. ${page}`))
  }
  if (newer.length > 0) {
    const observation = `a later release ran ${newer.join(', ')}, and lets this one run`
    findings.push(schemaFinding('note', observation, page))
  }
  return findings
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
