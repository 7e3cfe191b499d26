// A **stand-in** for PostgreSQL's client: `psql <url> --file <file>` runs the statements of a file (`-`: of standard
// input), each up to a line that ends in a semicolon, and stops at the first that fails. Where a line ends in `\gexec`,
// what the statement answers is run in its turn.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createDatabase } from '@causeway/database'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    file: { type: 'string' },
    set: { type: 'string', multiple: true },
    quiet: { type: 'boolean' },
  },
})
const [connectionString] = positionals
if (connectionString === undefined || values.file === undefined)
  throw new Error('this psql knows: psql <url> --file <file>')
const database = createDatabase({ connectionString, statementTimeoutMs: 60_000 })
try {
  const text = readFileSync(values.file === '-' ? 0 : values.file, 'utf8')
  for (const [, statement = '', end] of text.matchAll(/(\S.*?)\s*(;|\\gexec)[ \t]*$/gms)) {
    const rows = await database.query(statement)
    if (end === ';') continue
    for (const made of rows.flatMap((row) => Object.values(row))) await database.query(String(made))
  }
} finally {
  await database.close()
}
