import { ConfigurationError, type SqlDatabase, type SqlTx } from '@causeway/core'

const rowsPerPage = 1_000
const format = 'causeway-backup-1'

/** All tables: those with data, and the histories of migrations (`migrations_…`). */
const tablesSql = `
  select relname::text as name from pg_class
  where relnamespace = 'public'::regnamespace and relkind = 'r' order by relname`

/**
 * Writes a backup of all data as text, from one snapshot, while others go on writing: a header, then one line per row.
 * It needs SQL alone, where the server's own tools are not at hand. Numbers keep all their digits, because no row is
 * parsed here.
 */
export async function backupDatabase(
  database: SqlDatabase,
  write: (line: string) => void | Promise<void>,
): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read, read only')
    const tables = await dataTables(tx)
    await write(`${JSON.stringify({ format, schema: await schemaVersion(tx), tables })}\n`)
    for (const [index, table] of tables.entries()) {
      await tx.query(`declare page cursor for select row_to_json(t)::text as row from ${quoted(table)} t`)
      for (;;) {
        const rows = await tx.query<{ row: string }>(`fetch ${rowsPerPage} from page`)
        if (rows.length === 0) break
        await write(rows.map(({ row }) => `${index} ${row}\n`).join(''))
      }
      await tx.query('close page')
    }
  })
}

/**
 * Fills an empty, migrated database from the lines of a backup, in one transaction, as the role that migrated it.
 * Foreign keys are checked when all rows are there.
 * @param record writes the audit's entry of the restore, in the same transaction
 * @throws ConfigurationError when the lines are no backup, the schema is another, a table holds rows, a row refers to
 *   one that is not in the backup, or the role does not own the tables
 */
export async function restoreDatabase(
  database: SqlDatabase,
  lines: AsyncIterable<string>,
  record: (tx: SqlTx) => Promise<void>,
): Promise<void> {
  await database.transaction(async (tx) => {
    const checkConstraints = await suspendConstraints(tx)
    let tables: readonly string[] | undefined
    let page: Page | undefined
    for await (const line of lines) {
      if (tables === undefined) {
        if (isNpmOutput(line)) continue
        tables = await acceptHeader(tx, line)
        continue
      }
      const space = line.indexOf(' ')
      const table = tables[Number.parseInt(line.slice(0, space), 10)]
      if (table === undefined) throw new ConfigurationError('The backup names a table that it does not list.')
      if (page !== undefined && (page.table !== table || page.rows.length >= rowsPerPage)) {
        await insert(tx, page)
        page = undefined
      }
      page ??= { table, rows: [] }
      page.rows.push(line.slice(space + 1))
    }
    if (page !== undefined) await insert(tx, page)
    if (tables === undefined) throw new ConfigurationError('The backup is empty.')
    await checkConstraints()
    for (const table of tables) await restoreIdentities(tx, table)
    await record(tx)
  })
}

type ForeignKey = { readonly table: string; readonly name: string }

/** Foreign keys that are not deferrable, as migrations make all: they are changed and changed back. */
const foreignKeysSql = `
  select conrelid::regclass::text as table, conname::text as name from pg_constraint
  where contype = 'f' and connamespace = 'public'::regnamespace and not condeferrable order by 1, 2`

/**
 * Lets rows be inserted in any order: disables triggers, some of which refuse rows of append-only tables, and defers
 * foreign keys to the end of the transaction.
 * @returns a function that checks the foreign keys and restores both
 */
async function suspendConstraints(tx: SqlTx): Promise<() => Promise<void>> {
  const [notOwned] = await tx.query<{ name: string }>(`${ownedBySomebodyElseSql} limit 1`)
  if (notOwned !== undefined) {
    throw new ConfigurationError(
      `The table ${notOwned.name} belongs to another role: restore as the role that migrated the database.`,
    )
  }
  const tables = (await tx.query<{ name: string }>(tablesSql)).map(({ name }) => quoted(name))
  const keys = await tx.query<ForeignKey>(foreignKeysSql)
  const alterKeys = async (how: string) => {
    for (const { table, name } of keys)
      await tx.query(`alter table ${table} alter constraint ${quoted(name)} ${how}`)
  }
  const alterTriggers = async (how: 'disable' | 'enable') => {
    for (const table of tables) await tx.query(`alter table ${table} ${how} trigger user`)
  }
  await alterTriggers('disable')
  await alterKeys('deferrable initially deferred')
  return async () => {
    try {
      await tx.query('set constraints all immediate')
    } catch (error) {
      if (!isForeignKeyViolation(error)) throw error
      throw new ConfigurationError(`The backup is not whole: ${error.message}.`)
    }
    await alterKeys('not deferrable')
    await alterTriggers('enable')
  }
}

const ownedBySomebodyElseSql = `
  select relname::text as name from pg_class
  where relnamespace = 'public'::regnamespace and relkind = 'r' and not pg_has_role(relowner, 'usage')`

/** SQLSTATE 23503. @source PostgreSQL documentation, Appendix A */
const isForeignKeyViolation = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && error.code === '23503'

type Page = { readonly table: string; readonly rows: string[] }

/** Inserts rows in the order of the backup; numbers of identity columns are the backup's, not new ones. */
async function insert(tx: SqlTx, { table, rows }: Page): Promise<void> {
  const target = quoted(table)
  await tx.query(
    `insert into ${target} overriding system value
     select r.* from unnest($1::text[]) with ordinality as page (line, n),
       lateral json_populate_record(null::${target}, page.line::json) r order by page.n`,
    [rows],
  )
}

/** True for a line that `npm run` prints before the output of its command, also into a file. */
const isNpmOutput = (line: string) => line === '' || line.startsWith('> ')

/** Checks the header against this database and makes room for the rows. @returns the tables, by their index in lines */
async function acceptHeader(tx: SqlTx, line: string): Promise<readonly string[]> {
  const header: unknown = JSON.parse(line)
  if (typeof header !== 'object' || header === null || !('format' in header && header.format === format)) {
    throw new ConfigurationError('The file is no backup of this service.')
  }
  const tables = await dataTables(tx)
  const expected = JSON.stringify({ format, schema: await schemaVersion(tx), tables })
  if (JSON.stringify(header) !== expected) {
    throw new ConfigurationError('The backup was taken from another version of the schema.')
  }
  for (const table of tables) await makeRoom(tx, table)
  return tables
}

/**
 * Tables that migrations fill. The backup contains their rows too, so a restore replaces them. In a new database
 * nothing refers to them yet.
 */
const seededTables: ReadonlySet<string> = new Set(['account', 'asset', 'solver_name'])

/** Empties a seeded table, and refuses any other table with rows. */
async function makeRoom(tx: SqlTx, table: string): Promise<void> {
  if (seededTables.has(table)) {
    await tx.query(`delete from ${quoted(table)}`)
    return
  }
  const rows = await tx.query(`select from ${quoted(table)} limit 1`)
  if (rows.length > 0) {
    throw new ConfigurationError(`The table ${table} holds rows: restore into a new database.`)
  }
}

/** Sets identity columns to continue after the largest restored number. */
async function restoreIdentities(tx: SqlTx, table: string): Promise<void> {
  const columns = await tx.query<{ name: string }>(
    `select attname::text as name from pg_attribute
     where attrelid = $1::regclass and attidentity <> '' and not attisdropped`,
    [quoted(table)],
  )
  for (const { name } of columns) {
    await tx.query(
      `select setval(pg_get_serial_sequence($1, $2), coalesce(max(${quoted(name)}), 0) + 1, false)
       from ${quoted(table)}`,
      [quoted(table), name],
    )
  }
}

async function dataTables(tx: SqlTx): Promise<readonly string[]> {
  const rows = await tx.query<{ name: string }>(tablesSql)
  return rows.map(({ name }) => name).filter((name) => !name.startsWith('migrations_'))
}

/** Every applied migration, as `migrations_<module>/<name>`. */
async function schemaVersion(tx: SqlTx): Promise<readonly string[]> {
  const rows = await tx.query<{ name: string }>(tablesSql)
  const versions: string[] = []
  for (const { name: table } of rows.filter(({ name }) => name.startsWith('migrations_'))) {
    const applied = await tx.query<{ name: string }>(`select name from ${quoted(table)} order by name`)
    versions.push(...applied.map(({ name }) => `${table}/${name}`))
  }
  return versions
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
