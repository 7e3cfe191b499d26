import { changedMigration, newerSchema, unknownMigration } from './migrationErrors.ts'
import type { MigrationFile } from './migrationFiles.ts'

/** A row of a module's history. `checksum` and `stopsOlder` are null in rows of releases that kept no checksums. */
export type AppliedMigration = {
  readonly name: string
  readonly checksum: string | null
  readonly stopsOlder: boolean | null
}

/** The steps of `migrate` for one module's history and tables. */
export type MigrationPlan = {
  /** Migrations that are not applied yet, in their order. */
  readonly toRun: readonly MigrationFile[]
  /** Rows of the history whose file has another name by now. */
  readonly renamed: readonly { readonly from: string; readonly to: string }[]
  /** Files whose rows in the history have no checksum yet and get it now. */
  readonly adopted: readonly MigrationFile[]
  /** True if the resulting tables cannot be derived from the history and must be inspected. */
  readonly isUncertain: boolean
  /** Migrations of a later release, all of which let this one run. */
  readonly newer: readonly string[]
}

/**
 * Plans a module's migrations for a database with this history. Pure.
 *
 * A history is uncertain in two cases. It has rows without checksums, so only the names of what ran are known. Or it
 * lacks a file that comes before one that it has, as a merged branch can bring.
 * @throws SchemaRefusedError where neither these files nor a later release's can have written the history
 */
export function planMigrations(module: {
  readonly name: string
  readonly files: readonly MigrationFile[]
  readonly applied: readonly AppliedMigration[]
  readonly renamed?: Readonly<Record<string, string>>
}): MigrationPlan {
  const { files, renamed: presentNames = {} } = module
  const path = (name: string) => `${module.name}/${name}.sql`
  const renamed = module.applied.flatMap(({ name }) => {
    const to = presentNames[name]
    return to === undefined ? [] : [{ from: name, to }]
  })
  const applied = new Map(module.applied.map((row) => [presentNames[row.name] ?? row.name, row]))
  const toRun = files.filter(({ name }) => !applied.has(name))
  const newer = [...applied.keys()].filter((name) => files.every((file) => file.name !== name)).sort()
  const last = files.at(-1)?.name ?? ''
  for (const name of newer) {
    // A later release has all files of this one and only appends: any other unknown migration is refused.
    if (name <= last || toRun.length > 0) throw unknownMigration(path(name))
    // Null, as in histories without checksums, proves nothing and refuses too.
    if (applied.get(name)?.stopsOlder !== false) throw newerSchema(path(name))
  }
  const adopted: MigrationFile[] = []
  for (const file of files) {
    const row = applied.get(file.name)
    if (row === undefined) continue
    if (row.checksum === null) adopted.push(file)
    else if (row.checksum !== file.checksum) throw changedMigration(path(file.name))
  }
  const isBetween = toRun.some(({ name }) => [...applied.keys()].some((other) => name < other))
  return { toRun, renamed, adopted, isUncertain: adopted.length > 0 || isBetween, newer }
}
