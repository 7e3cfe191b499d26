// The world that the quote document is laid beside: the service as a process over two EVM chains, a Solana cluster and a
// database. It is asked over HTTP alone; chains move only where a test moves them.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase, type Database, startTestDatabase } from '@causeway/database'
import { type HttpPeer, startHttpPeer } from '../../../apps/oracle/test/peerSupport/httpPeer.ts'
import { serviceEnvironment } from '../../../apps/quote-api/test/fixtures/service.ts'
import { type ServiceUrls, spawnService } from '../../../apps/quote-api/test/serviceSupport/serviceProcess.ts'
import {
  createScriptedSolver,
  type ScriptedSolver,
} from '../../../apps/quote-api/test/settlementSupport/scriptedSolver.ts'
import {
  serviceSettings,
  solverKey,
  startStandInOracles,
} from '../../../apps/quote-api/test/settlementSupport/settlementBed.ts'
import { type SolanaNetwork, startSolanaNetwork } from '../../support/solanaService.ts'

export type QuoteWorld = Pick<SolanaNetwork, 'network' | 'bed'> & {
  readonly urls: ServiceUrls
  /** To break it: nothing that is asserted is read from it. */
  readonly database: Database
  /** Pays what the service asks its solver to pay. */
  readonly solver: ScriptedSolver
  /** Offers ten million USDC within two minutes to whoever may use external liquidity. */
  readonly lender: HttpPeer
  stop(): Promise<void>
}

/** @throws what could not be started, after everything else is stopped */
export async function startQuoteWorld(): Promise<QuoteWorld> {
  const closers: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (const close of closers.reverse()) await close()
  }
  try {
    const directory = await mkdtemp(join(tmpdir(), 'causeway-acceptance-'))
    closers.push(() => rm(directory, { recursive: true, force: true }))
    const [chains, server, oracles, lender] = await Promise.all([
      startSolanaNetwork({ blockTimeSeconds: 3_600, describe: withServers }),
      startTestDatabase(),
      startStandInOracles(),
      startHttpPeer(() => ({ body: { available: '10000000000000', feeBps: 0, readySeconds: 120 } })),
    ])
    closers.push(chains.stop, () => server.stop(), oracles.stop, lender.stop)
    const { network, bed, variables } = chains
    const { connectionString } = server
    const service = spawnService(
      await serviceEnvironment(network, directory, {
        ...variables,
        ...serviceSettings(connectionString, oracles.setting),
        CUSTODY_ADDRESS: network.keys.custody.address,
        EXTERNAL_LIQUIDITY_URL: lender.url,
        MAINNETS_BASE_URL: 'https://api.example',
        TESTNETS_BASE_URL: 'https://api.testnets.example',
        LOG_LEVEL: 'info',
      }),
    )
    closers.push(() => service.stop())
    const urls = await service.listening()
    const database = createDatabase({ connectionString, poolSize: 1 })
    closers.push(() => database.close())
    const solver = createScriptedSolver({ network, url: urls.publicUrl, apiKey: solverKey })
    return { network, bed, urls, database, solver, lender, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Both servers of the document; chains that stand still are not stale. */
function withServers(quoteFile: unknown): unknown {
  const file = Object(quoteFile)
  const chains = Object.entries(file.chains).map(([key, chain]) => [
    key,
    { ...Object(chain), headMaxAgeMs: 3_600_000 },
  ])
  const servers = [
    { url: '$MAINNETS_BASE_URL', description: 'Mainnet' },
    { url: '$TESTNETS_BASE_URL', description: 'Testnet' },
  ]
  return { ...file, servers, chains: Object.fromEntries(chains) }
}
