import type { SqlTx } from '@causeway/core'

/** The environment variable with a {@link FunctionChange} in JSON: each database of a test gets it after its migrations. */
export const functionChangeVariable = 'CAUSEWAY_LEDGER_FUNCTION_CHANGE'

export type FunctionChange = {
  /** Name of a function of the ledger. */
  readonly function: string
  /** Part of its definition, as PostgreSQL prints it. */
  readonly text: string
  readonly replacement: string
}

/** @throws Error unless the function has the text once */
export async function changeFunction(database: SqlTx, change: FunctionChange): Promise<void> {
  const found = await database.query<{ definition: string }>(
    'select pg_get_functiondef(oid) as definition from pg_proc where proname = $1',
    [change.function],
  )
  const definition = found.map((row) => row.definition).join('\n')
  const parts = definition.split(change.text)
  if (found.length !== 1 || parts.length !== 2)
    throw new Error(`${change.function} has ${parts.length - 1} times: ${change.text}`)
  await database.query(parts.join(change.replacement))
}
