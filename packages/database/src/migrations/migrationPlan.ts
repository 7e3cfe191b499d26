import { changedMigration, newerSchema, unknownMigration } from './migrationErrors.ts'
import type { MigrationFile } from './migrationFiles.ts'

/** A row of a module's history. Releases that kept no checksums left both columns empty. */
export type AppliedMigration = {
  readonly name: string
  readonly checksum: string | null
  readonly stopsOlder: boolean | null
}

export type MigrationPlan = {
  /** In their order. */
  readonly toRun: readonly MigrationFile[]
  /** Rows of the history whose file has another name by now. */
  readonly renamed: readonly { readonly from: string; readonly to: string }[]
  /** Rows of the history without a checksum, by the file that they get it from. */
  readonly adopted: readonly MigrationFile[]
  /** True if the resulting tables cannot be derived from the history and must be inspected. */
  readonly isUncertain: boolean
  /** Migrations of a later release, all of which let this one run. */
  readonly newer: readonly string[]
}

/**
 * Plan of a module's migrations for a database with this history. Pure.
 *
 * A history is uncertain without checksums, which records names alone, or if it lacks a file before one that it has:
 * before migrations were frozen some came between old ones, and since then merged branches can bring one.
 * @throws SchemaRefusedError where neither these files nor a later release's can have written the history
 */
export function planMigrations(module: {
  readonly name: string
  readonly files: readonly MigrationFile[]
  readonly applied: readonly AppliedMigration[]
  readonly renamed?: Readonly<Record<string, string>>
}): MigrationPlan {
  const { files, renamed: names = {} } = module
  const path = (name: string) => `${module.name}/${name}.sql`
  const renamed = module.applied.flatMap(({ name }) => {
    const to = names[name]
    return to === undefined ? [] : [{ from: name, to }]
  })
  const applied = new Map(module.applied.map((row) => [names[row.name] ?? row.name, row]))
  const toRun = files.filter(({ name }) => !applied.has(name))
  const newer = [...applied.keys()].filter((name) => files.every((file) => file.name !== name)).sort()
  const last = files.at(-1)?.name ?? ''
  for (const name of newer) {
    // A later release has all that this one has, and appends.
    if (name <= last || toRun.length > 0) throw unknownMigration(path(name))
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
