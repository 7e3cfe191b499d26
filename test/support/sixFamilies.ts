// Two EVM chains and a chain of every other family, and the real service with its jobs and PostgreSQL over them.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase, type Database, startTestDatabase } from '@causeway/database'
import type { TestNetwork } from '@causeway/localnet'
import { serviceEnvironment } from '../../apps/quote-api/test/fixtures/service.ts'
import { spawnService } from '../../apps/quote-api/test/serviceSupport/serviceProcess.ts'
import {
  createRequestDriver,
  type RequestDriver,
} from '../../apps/quote-api/test/settlementSupport/requestDriver.ts'
import { createScriptedSolver } from '../../apps/quote-api/test/settlementSupport/scriptedSolver.ts'
import {
  serviceSettings,
  solverKey,
  startStandInOracles,
} from '../../apps/quote-api/test/settlementSupport/settlementBed.ts'
import { type BitcoinChain, startBitcoinChain } from './bitcoinSettling.ts'
import { type HyperliquidChain, startHyperliquidChain } from './hyperliquidSettling.ts'
import { type LighterChain, startLighterChain } from './lighterSettling.ts'
import { type SolanaNetwork, type SolanaServiceChange, startSolanaNetwork } from './solanaService.ts'
import type { SolanaSettling } from './solanaSettling.ts'
import { startTronChain, type TronChain } from './tronSettling.ts'

export type FamilyChains = {
  /** The EVM chains, and the hub that says what nonces on Hyperliquid are for. */
  readonly network: TestNetwork
  readonly solana: Pick<SolanaNetwork, 'bed' | 'configs'> & Pick<SolanaSettling, 'solver'>
  readonly btc: BitcoinChain
  readonly tron: TronChain
  readonly lighter: LighterChain
  readonly hyperliquid: HyperliquidChain
  /** Endpoints of all of them. */
  readonly endpoints: Readonly<Record<string, string>>
  stop(): Promise<void>
}

export type SixFamilies = {
  readonly chains: FamilyChains
  readonly url: string
  readonly database: Database
  readonly requests: RequestDriver
  stop(): Promise<void>
}

/** Each with a fill wallet that holds what it pays. */
export async function startFamilyChains(change: SolanaServiceChange = {}): Promise<FamilyChains> {
  const closers: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (const close of closers.reverse()) await close()
  }
  const kept = <Part extends { stop(): Promise<unknown> }>(part: Part): Part => {
    closers.push(() => part.stop())
    return part
  }
  try {
    const btc = kept(await startBitcoinChain(true))
    const tron = kept(await startTronChain(true))
    const lighter = kept(await startLighterChain(true))
    const { network, bed, solver, configs, variables: solanas } = kept(await startSolanaNetwork(change))
    const hyperliquid = kept(await startHyperliquidChain(network, true))
    const others = [btc, tron, lighter, hyperliquid]
    await configs.edit('quote.local.json', (file) =>
      others.reduce((described, chain) => chain.describe(described), file),
    )
    const { CONFIG_DIR: _configs, ...endpoints } = solanas
    const { base, optimism } = network.chains
    return {
      network,
      solana: { bed, configs, solver },
      btc,
      tron,
      lighter,
      hyperliquid,
      stop,
      endpoints: Object.assign(
        { BASE_RPC_URL: base.url, OPTIMISM_RPC_URL: optimism.url, ...endpoints },
        ...others.map(({ variables: { HUB_ECDSA_PRIVATE_KEY: _key, ...places } }) => places),
      ),
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** @param oracles as `ORACLES` names them; default: stand-ins with the keys that the contracts of the hub know */
export async function startSixFamilies(chains: FamilyChains, oracles?: string): Promise<SixFamilies> {
  const closers: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (const close of closers.reverse()) await close()
  }
  try {
    const { network } = chains
    const standIns = await startStandInOracles(network.keys.oracles.map(({ privateKey }) => privateKey))
    closers.push(standIns.stop)
    const server = await startTestDatabase()
    closers.push(() => server.stop())
    const { connectionString } = server
    const directory = await mkdtemp(join(tmpdir(), 'causeway-families-'))
    closers.push(() => rm(directory, { recursive: true, force: true }))
    // A process of its own: the stand-ins of five chains have enough to do in this one.
    const service = spawnService(
      await serviceEnvironment(network, directory, {
        CONFIG_DIR: chains.solana.configs.directory,
        ...chains.endpoints,
        HUB_ECDSA_PRIVATE_KEY: network.keys.fillWallet.privateKey,
        ...serviceSettings(connectionString, oracles ?? standIns.setting),
        WEBHOOK_PRIVATE_ADDRESSES: 'allow',
        LOG_LEVEL: 'info',
      }),
    )
    closers.push(() => service.stop())
    const { publicUrl: url } = await service.listening()
    const database = createDatabase({ connectionString, poolSize: 2, acquireTimeoutMs: 60_000 })
    closers.push(() => database.close())
    const requests = createRequestDriver({
      network,
      database,
      url,
      solver: createScriptedSolver({ network, url, apiKey: solverKey }),
    })
    return { chains, url, database, requests, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
