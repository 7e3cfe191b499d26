import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Migrations of one module: `NNNN_name.sql` files, applied in the order of their names, each once. */
export type MigrationDirectory = {
  /** Lower-case name of the module; its history is the table `migrations_<name>`. */
  readonly name: string
  /** Absolute path. */
  readonly path: string
  /** Names under which a file was known before it had its own, by the old one; both without `.sql`. */
  readonly renamed?: Readonly<Record<string, string>>
}

export type MigrationFile = {
  /** Without `.sql`, as the history has it. */
  readonly name: string
  readonly text: string
  /** SHA-256 of the text in hex. */
  readonly checksum: string
  /** Releases that do not know it must not run on a database that has it. */
  readonly stopsOlder: boolean
}

/** Name of a migration file. Four digits, so that the order of names is that of numbers. */
export const migrationFileName = /^\d{4}_[a-z0-9_]+\.sql$/

/**
 * Line in which a migration states its effect on earlier releases: `-- older releases: run on, <why>`, which is also
 * the default, or `-- older releases: stop, <why>`.
 */
export const olderReleasesLine = /^-- older releases: (run on|stop), \S.*$/m

/** SHA-256 of a migration's text in hex, the same however a checkout ends its lines. */
export function migrationChecksum(text: string): string {
  return createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex')
}

/** A migration by the name of its file, with or without `.sql`. */
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
