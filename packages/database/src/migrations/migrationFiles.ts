import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Migrations of one module: `NNNN_name.sql` files, applied in the order of their names, each once. */
export type MigrationDirectory = {
  /** Lower-case name of the module; its history is the table `migrations_<name>`. */
  readonly name: string
  /** Absolute path. */
  readonly path: string
  /** Present names of files that were renamed, by their earlier name; both without `.sql`. */
  readonly renamed?: Readonly<Record<string, string>>
}

/** One migration. */
export type MigrationFile = {
  /** Without `.sql`, as the history stores it. */
  readonly name: string
  readonly text: string
  /** SHA-256 of the text in hex. */
  readonly checksum: string
  /** True if releases that do not have this file must not run on a database that applied it. */
  readonly stopsOlder: boolean
}

/** Name of a migration file. Four digits, so that the order of names is that of numbers. */
export const migrationFileName = /^\d{4}_[a-z0-9_]+\.sql$/

/**
 * Line in which a migration states its effect on earlier releases: `-- older releases: run on, <why>`, which is also
 * the default, or `-- older releases: stop, <why>`.
 */
export const olderReleasesLine = /^-- older releases: (run on|stop), \S.*$/m

/** SHA-256 of a migration's text in hex; equal for both kinds of line ends. */
export function migrationChecksum(text: string): string {
  return createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex')
}

/** Makes a migration from its text. @param fileName with or without `.sql` */
export function migrationFile(fileName: string, text: string): MigrationFile {
  return {
    name: fileName.replace(/\.sql$/, ''),
    text,
    checksum: migrationChecksum(text),
    stopsOlder: olderReleasesLine.exec(text)?.[1] === 'stop',
  }
}

/** The migrations of a folder in their order. @throws RangeError for an SQL file that is no migration by its name */
export async function readMigrations(folder: string): Promise<readonly MigrationFile[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  const wrong = names.find((name) => !migrationFileName.test(name))
  if (wrong !== undefined) throw new RangeError(`${wrong} is no name of a migration, as 0001_orders.sql is`)
  return Promise.all(
    names.map(async (name) => migrationFile(name, await readFile(join(folder, name), 'utf8'))),
  )
}
