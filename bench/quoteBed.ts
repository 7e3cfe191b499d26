import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SqlDatabase } from '@causeway/core'
import { createDatabase, type EmbeddedPostgres, startEmbeddedPostgres } from '@causeway/database'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { serviceEnvironment } from '../apps/quote-api/test/fixtures/service.ts'
import { pepperText } from '../apps/quote-api/test/sponsorSupport/sponsors.ts'
import { type BenchProcess, startQuoteServer } from './process.ts'

export type QuoteBed = {
  readonly network: TestNetwork
  readonly database: SqlDatabase
  readonly server: EmbeddedPostgres
  readonly service: BenchProcess
}

/**
 * Runs `work` against quote-api in a process of its own, over real chains of a block every two seconds and PostgreSQL
 * that syncs every commit. Stops all of it.
 * @param variables of the service, beside those of every bench
 */
export async function withQuoteBed<Result>(
  work: (bed: QuoteBed) => Promise<Result>,
  variables: (
    network: TestNetwork,
  ) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>> = () => ({}),
): Promise<Result> {
  const network = await startTestNetwork({ blockTimeSeconds: 2 })
  const directory = await mkdtemp(join(tmpdir(), 'causeway-bench-'))
  const server = await startEmbeddedPostgres({ dataDirectory: join(directory, 'postgres') })
  const { connectionString } = server
  const database = createDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 600_000 })
  try {
    const environment = await serviceEnvironment(network, directory, {
      DATABASE_URL: connectionString,
      API_KEY_PEPPERS: pepperText,
      BENCH_PRICE_BYTES: '100',
      BENCH_QUOTE_BYTES: '100',
      ...(await variables(network)),
    })
    const service = await startQuoteServer({ ...process.env, ...environment })
    try {
      return await work({ network, database, server, service })
    } finally {
      await service.stop()
    }
  } finally {
    await database.close()
    await server.stop()
    await network.stop()
    await rm(directory, { recursive: true, force: true })
  }
}
