// A **stand-in** for PostgreSQL's client: `psql <url> --file <file>` runs the statements of a file, one per line that
// ends in a semicolon, and stops at the first that fails.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createDatabase } from '@causeway/database'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { file: { type: 'string' }, set: { type: 'string', multiple: true } },
})
const [connectionString] = positionals
if (connectionString === undefined || values.file === undefined)
  throw new Error('this psql knows: psql <url> --file <file>')
const database = createDatabase({ connectionString, statementTimeoutMs: 60_000 })
try {
  const statements = readFileSync(values.file, 'utf8').split(/;\s*$/m)
  for (const statement of statements) if (statement.trim() !== '') await database.query(statement)
} finally {
  await database.close()
}
