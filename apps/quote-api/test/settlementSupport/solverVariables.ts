import type { Database } from '@causeway/database'
import { solverEnvironment, type TestNetwork } from '@causeway/localnet'

/** Environment of a solver with a database of its own on the server of the test. */
export async function solverVariables(options: {
  readonly network: TestNetwork
  readonly directory: string
  readonly server: { readonly connectionString: string }
  readonly database: Pick<Database, 'query'>
  readonly quoteApiUrl: string
  readonly quoteApiKey: string
}): Promise<Readonly<Record<string, string>>> {
  const { network, directory, server, database, quoteApiUrl, quoteApiKey } = options
  await database.query('create database solver')
  const databaseUrl = new URL(server.connectionString)
  databaseUrl.pathname = '/solver'
  return {
    ...solverEnvironment(network, {
      quoteApiUrl,
      quoteApiKey,
      directory,
      opsPort: 0,
      pollMs: 50,
      databaseUrl: databaseUrl.toString(),
    }),
    ECDSA_PRIVATE_KEY: network.keys.fillWallet.privateKey,
    LEASE_MS: '2000',
  }
}
