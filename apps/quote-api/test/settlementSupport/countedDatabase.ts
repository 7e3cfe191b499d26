import type { SqlDatabase, SqlRow } from '@causeway/core'

/** Rows for a statement; `undefined` leaves it to the next answerer, and at last to no rows. */
type Answerer = (text: string, values: readonly unknown[]) => readonly object[] | undefined

/** A database without tables: it answers as its test says, and lists what it was asked. */
export function countedDatabase(...answerers: readonly Answerer[]) {
  const asked: string[] = []
  const query = async <Row extends SqlRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> => {
    asked.push(text.replace(/\s+/g, ' ').trim())
    for (const answer of answerers) {
      const rows = answer(text, values)
      // CAST: a test answers with the rows that its statement has.
      if (rows !== undefined) return [...rows] as Row[]
    }
    return []
  }
  const transaction: SqlDatabase['transaction'] = async (work) => {
    asked.push('begin')
    const result = await work({ query, send: (text, values) => void query(text, values) })
    asked.push('commit')
    return result
  }
  return {
    database: { query, transaction },
    /** Statements since the last call. */
    take: () => asked.splice(0),
  }
}
