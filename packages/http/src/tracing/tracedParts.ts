import type { Signer, SqlDatabase } from '@causeway/core'
import type { Tracing } from './tracing.ts'

/** The same database: each statement, and each group of statements with one commit, is a span. */
export function tracedDatabase<Database extends SqlDatabase>(
  database: Database,
  tracing: Tracing | undefined,
): Database {
  if (tracing === undefined) return database
  const parts: SqlDatabase = {
    query: (text, values) =>
      tracing.during('database statement', verbOf(text), () => database.query(text, values), 'client'),
    transaction: (work, options) =>
      tracing.during('database transaction', {}, () => database.transaction(work, options), 'client'),
  }
  return { ...database, ...parts }
}

/** Its first word: parameters stand apart, and whole texts are too long to be of use. */
function verbOf(text: string) {
  const [verb] = /\w+/.exec(text) ?? ['other']
  return { 'db.operation.name': verb.toLowerCase().slice(0, 16) }
}

/** The same signer; what it signs is no part of a span. */
export function tracedSigner<Kept extends Signer>(signer: Kept, tracing: Tracing | undefined): Kept {
  if (tracing === undefined) return signer
  return {
    ...signer,
    sign: (request, options) => tracing.during('sign', {}, () => signer.sign(request, options)),
  }
}
