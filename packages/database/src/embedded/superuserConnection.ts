import pg from 'pg'
import { superuser } from './initialise.ts'

/** The database of an embedded server. */
export const databaseName = 'causeway'

/** Connection string of the superuser of an embedded server. */
export function embeddedConnectionString(args: {
  port: number
  password: string
  database?: string
}): string {
  const { port, password, database = databaseName } = args
  return `postgres://${superuser}:${password}@127.0.0.1:${port}/${database}`
}

/**
 * Connects to a server that may be starting. `undefined` while it takes no connections; otherwise a
 * client that the caller ends. @throws the driver's error for anything else
 */
export async function connectWhenUp(connectionString: string): Promise<pg.Client | undefined> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 })
  // A connection that breaks fails its calls too. Without a listener, the event would end the process.
  client.on('error', () => {})
  try {
    await client.connect()
    return client
  } catch (error) {
    if (isNotYetUp(error)) return undefined
    throw error
  }
}

/**
 * Refused, cut (no code), "the database system is starting up" (57P03), the answer of another server
 * that has the port (28P01), or a database that is about to be created (3D000).
 */
const notYetUp: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  '57P03',
  '28P01',
  '3D000',
  undefined,
])

function isNotYetUp(error: unknown): boolean {
  return error instanceof Error && notYetUp.has('code' in error ? error.code : undefined)
}
