// P14 of quote-api: as its image runs it, with the EVM alone and with six families, beside a database that is there.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@causeway/database'
import { freeLoopbackPort } from '@causeway/localnet'
import { pepperText } from '../apps/quote-api/test/sponsorSupport/sponsors.ts'
import { serviceScripts } from './process.ts'
import type { BenchRow } from './row.ts'
import { measureStarts, type Started, startRow, startService } from './serviceStart.ts'
import { startFamilyChains } from './startFamilyChains.ts'

/** Memory as P10's. */
const goals = { readyMs: 1_500, idleMiB: 250 }

/** @throws Error when quote-api ends before it is ready */
export async function benchQuoteStart(): Promise<readonly BenchRow[]> {
  const chains = await startFamilyChains()
  const directory = await mkdtemp(join(tmpdir(), 'causeway-bench-'))
  const server = await startEmbeddedPostgres({ dataDirectory: join(directory, 'postgres') })
  const { connectionString } = server
  try {
    const one = await measureStarts(() => startQuoteApi(chains.evmEnvironment, connectionString))
    const six = await measureStarts(() => startQuoteApi(chains.environment, connectionString))
    const [ready, idle] = ['quote-api, spawn to ready', 'quote-api, resident memory idle']
    return [
      startRow('P14-quotes', `${ready} with one family, ms`, one.readyMs, goals.readyMs, one.spent),
      startRow('P14-quotes-idle', `${idle}, one family, MiB`, one.idleMiB, goals.idleMiB),
      startRow('P14-quotes-six', `${ready} with six families, ms`, six.readyMs, goals.readyMs, six.spent),
      startRow('P14-quotes-six-idle', `${idle}, six families, MiB`, six.idleMiB, goals.idleMiB),
    ]
  } finally {
    await server.stop()
    await chains.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

/** Ready once every chain was read. */
async function startQuoteApi(
  environment: Readonly<Record<string, string>>,
  databaseUrl: string,
): Promise<Started> {
  const [port, opsPort] = [await freeLoopbackPort(), await freeLoopbackPort()]
  const env = {
    PATH: process.env['PATH'],
    ...environment,
    HTTP_PORT: String(port),
    OPS_PORT: String(opsPort),
    DATABASE_URL: databaseUrl,
    API_KEY_PEPPERS: pepperText,
  }
  const [url, readyUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${opsPort}/ready`]
  return startService(serviceScripts.quoteApi, { env, url, readyUrl })
}
