// Processes that an operator runs beside the service with six families: one shipped solver that has the keys of all of
// them, and the oracles that vouch, each a process of its own.
import { bytesToHex } from '@causeway/core'
import { makeLighterKey } from '@causeway/families'
import {
  addDepositories,
  freeLoopbackPort,
  type SpawnedService,
  spawnOracle,
  spawnSolver,
} from '@causeway/localnet'
import type { OracleTrio } from '../../apps/oracle/test/support/oracleTrio.ts'
import { solverKey as serviceKey } from '../../apps/quote-api/test/settlementSupport/settlementBed.ts'
import { type SolverSettings, startSolverBench } from '../../apps/solver/test/support/solverBench.ts'
import { bitcoin, bitcoinSolver } from './bitcoinSettling.ts'
import { solverKey as hyperliquidKey, perps } from './hyperliquidSettling.ts'
import { apiKeyIndex, lighterDepository, solverKey as lighterKey, perpsDollars } from './lighterSettling.ts'
import { type FamilyChains, type SixFamilies, startFamilyChains, startSixFamilies } from './sixFamilies.ts'
import type { SolanaServiceChange } from './solanaService.ts'
import { tronSolverKey, trx } from './tronSettling.ts'

export type FamilySolving = {
  readonly six: SixFamilies
  readonly settings: SolverSettings
  /** Posts to the first oracle as a caller with a key. */
  readonly oracle: Pick<OracleTrio, 'post'>
  /** Another process of the one solver; it ends with the bed. */
  startSolver(): SpawnedService
  stop(): Promise<void>
}

type Places = FamilyChains['endpoints']

/**
 * @param change of the Solana cluster
 * @param placesOf where one service reads the chains; default: at their nodes
 */
export async function startFamilySolving(
  change: SolanaServiceChange = {},
  placesOf: (nodes: Places) => Promise<Places> = async (nodes) => nodes,
): Promise<FamilySolving> {
  const closers: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (const close of closers.reverse()) await close()
  }
  try {
    const chains = await startFamilyChains(change)
    closers.push(chains.stop)
    // Nothing on Bitcoin is final before blocks lie on it.
    const mining = setInterval(() => chains.btc.chain.mineWaiting(), 1_000)
    closers.push(async () => clearInterval(mining))
    await describePaying(chains)
    await ownDepositories(chains)
    const readElsewhere = async () => ({ ...chains, endpoints: await placesOf(chains.endpoints) })
    const started = (process: SpawnedService) => closers.push(() => end(process))
    const { oracles, oracle } = await startOracles(await readElsewhere(), started)
    const six = await startSixFamilies(await readElsewhere(), oracles)
    closers.push(six.stop)
    const bench = await startSolverBench(chains.network)
    closers.push(bench.stop)
    const settings = await bench.settings(
      { url: six.url, apiKey: serviceKey },
      {
        CONFIG_DIR: chains.solana.configs.directory,
        ...(await placesOf(chains.endpoints)),
        ...(await walletKeys(chains)),
        ORACLES: oracles,
        ORACLES_THRESHOLD: '2',
        HUB_ECDSA_PRIVATE_KEY: chains.network.keys.keeper.privateKey,
        POLL_INTERVAL_MS: '200',
      },
    )
    const startSolver = () => {
      const solver = spawnSolver(settings.environment)
      closers.push(() => end(solver))
      return solver
    }
    return { six, settings, oracle, startSolver, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function end(process: SpawnedService): Promise<void> {
  process.kill('SIGKILL')
  await process.ended
}

const callerKey = 'caller-key-of-the-tests'
const peerKey = 'peer-key-of-the-tests'

/** Two of the three that the hub knows, peers of each other: each is needed, so that one that refuses is seen. */
async function startOracles(
  { network: { keys }, solana, endpoints }: FamilyChains,
  started: (oracle: SpawnedService) => void,
): Promise<{ readonly oracles: string } & Pick<FamilySolving, 'oracle'>> {
  const vouching = await Promise.all(
    keys.oracles
      .slice(0, 2)
      .map(async (key) => ({ ...key, url: `http://127.0.0.1:${await freeLoopbackPort()}` })),
  )
  await Promise.all(
    vouching.map(async ({ privateKey, url }) => {
      const peers = vouching.filter((other) => other.url !== url).map((other) => `${other.url}|${peerKey}`)
      const oracle = spawnOracle({
        ENVIRONMENT: 'local',
        HTTP_HOST: '127.0.0.1',
        HTTP_PORT: new URL(url).port,
        OPS_PORT: '0',
        CONFIG_DIR: solana.configs.directory,
        ...endpoints,
        SIGNING_MODULE: 'raw-private-key',
        ECDSA_PRIVATE_KEY: privateKey,
        API_KEYS: `${callerKey}:caller`,
        AHEAD: 'off',
        FINALITY_CHECK_INTERVAL_MS: '100',
        PEERS: peers.join(';'),
        PEER_API_KEYS: `${peerKey}:peers`,
        ORACLE_SIGNERS_THRESHOLD: '2',
        ORACLE_SIGNERS: keys.oracles.map(({ address }) => address).join(';'),
      })
      started(oracle)
      await oracle.ready()
    }),
  )
  return {
    oracles: vouching.map(({ url, address }) => `${url}|${callerKey}|${address}`).join(';'),
    oracle: {
      async post(path, body) {
        const headers = { 'content-type': 'application/json', 'x-api-key': callerKey }
        const request = { method: 'POST', headers, body: JSON.stringify(body) }
        const answer = await fetch(`${vouching[0]?.url}${path}`, request)
        return { status: answer.status, text: await answer.text() }
      },
    },
  }
}

/** The fill wallet of each family, as the quote file lists it. */
async function walletKeys({ solana }: FamilyChains): Promise<Readonly<Record<string, string>>> {
  return {
    ED25519_PRIVATE_KEY: bytesToHex(solana.solver.secretKey.slice(0, 32)),
    BITCOIN_PRIVATE_KEY: bytesToHex(bitcoinSolver.secret),
    TRON_PRIVATE_KEY: tronSolverKey,
    LIGHTER_PRIVATE_KEY: lighterKey,
    LIGHTER_API_KEY: await makeLighterKey(),
    HYPERLIQUID_PRIVATE_KEY: hyperliquidKey,
  }
}

/** Lists in the solver file what the local one does not pay on, as an operator would. */
async function describePaying({ solana, btc }: FamilyChains): Promise<void> {
  const [coins] = btc.chain.unspentOf(bitcoinSolver.witness.script)
  const policyOf = (currency: string, floor: string, more: object) => ({
    relayGasPerHourWei: '0',
    floors: [{ currency, amount: floor }],
    ...more,
  })
  const chains = {
    bitcoin: policyOf(bitcoin, '100000', {
      maxFeePerGasWei: '50000',
      bumpAfterSeconds: 60,
      gasPerHourWei: '1000000',
      firstOutput: `${coins?.txid}:${coins?.vout}`,
    }),
    tron: policyOf(trx, '100000000', { maxFeePerGasWei: '500', gasPerHourWei: '10000000000' }),
    lighter: policyOf(perpsDollars, '100000000', {
      maxFeePerGasWei: '5000000',
      gasPerHourWei: '1000000000',
      apiKeyIndex,
    }),
    hyperliquid: policyOf(perps, '100000000', {
      maxFeePerGasWei: '200000000',
      gasPerHourWei: '100000000000',
    }),
  }
  await solana.configs.edit('solver.local.json', (file) => ({
    ...Object(file),
    chains: { ...Object(file).chains, ...chains },
  }))
}

/** An exchange pays out what the key of the account signs, so the allocator's key is that of the depositories there. */
async function ownDepositories({ network, solana, hyperliquid, lighter }: FamilyChains): Promise<void> {
  const { keys } = network
  const { address } = keys.allocator
  hyperliquid.venue.fund(address, {})
  await addDepositories(network.chains.hub.chain, keys.deployer, network.deployment.hub, {
    solana: solana.bed.depository.program.toBase58(),
    hyperliquid: address.toLowerCase(),
  })
  const { vault } = solana.bed.depository.addresses
  await solana.configs.edit('allocator.local.json', (file) => ({
    ...Object(file),
    depositories: Object(file).depositories.map((paid: Readonly<Record<string, unknown>>) =>
      paid['chain'] === 'solana' ? { ...paid, vault } : paid,
    ),
  }))
  lighter.exchange.setAccount(lighterDepository, address, { [perpsDollars]: lighter.exchange.transferFee })
  // Longer than a slow machine takes from an entry to a look at it.
  await solana.configs.edit('chains.hub.local.json', (file) => ({
    ...Object(file),
    recoveryDelaySeconds: 3_600,
  }))
  await solana.configs.edit('chains.local.json', (file) => ({
    ...Object(file),
    chains: Object(file).chains.map((chain: Readonly<Record<string, unknown>>) =>
      chain['id'] === 'hyperliquid' ? { ...chain, depository: address } : chain,
    ),
  }))
}
