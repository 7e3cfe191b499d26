// Recorded world: both services as processes of their own, over nodes, a database and stand-ins whose keys, prices and
// fees are equal in every run.
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Hex } from '@causeway/core'
import { createDatabase, type Database, startTestPostgres } from '@causeway/database'
import { encodeTopUp } from '@causeway/families/rules'
import {
  familyKeys,
  familyVariables,
  freeLoopbackPort,
  type OpenFamilies,
  startFamilies,
  startTestNetwork,
  type TestNetwork,
  type TestNetworkOptions,
} from '@causeway/localnet'
import { encodeFunctionData, erc20Abi } from 'viem'
import { oracleVariables, spawnOracle } from '../../../apps/oracle/test/support/oracleProcess.ts'
import { copyConfigs } from '../../../apps/quote-api/test/serviceSupport/configCopy.ts'
import { type ServiceUrls, spawnService } from '../../../apps/quote-api/test/serviceSupport/serviceProcess.ts'

export const solverKey = 'solver-key-of-the-recording'
/** Operator key of the first oracle, and its peer's key. */
export const operatorKey = 'operator-key-of-the-recording'
export const peerKey = 'peer-key-of-the-recording'

const cacheFolder = fileURLToPath(new URL('../../../.cache/recording/', import.meta.url))
const finalAfterBlocks = 3
/** Balance of every visible account, on both chains. */
const nativeWei = 500n * 10n ** 18n
/** 2024-01-01. */
const deployedAtUnixSeconds = 1_704_067_200

/** Two oracles over real nodes and the stand-ins of the other families. */
export type OracleWorld = {
  readonly network: TestNetwork
  readonly families: OpenFamilies
  /** The first asks the second as its peer; the second takes no `force` and few callers without a key. */
  readonly oracles: readonly [OracleUrls, OracleUrls]
  stop(): Promise<void>
}

/** Oracle world with quote-api, which settles by these oracles. */
export type QuoteWorld = OracleWorld & {
  readonly quoteApi: ServiceUrls
  readonly database: Database
  /** Makes everything that happened on a chain so far final. */
  finish(chain: 'base' | 'optimism'): Promise<void>
}

export type OracleUrls = { readonly publicUrl: string; readonly opsUrl: string }

/** Private keys that are the same in every run. They hold nothing on any real chain. */
function recordedKeys(): () => Hex {
  let count = 0
  return () => {
    count += 1
    return `0x${createHash('sha256').update(`causeway recording: key ${count}`).digest('hex')}`
  }
}

type Closers = (() => Promise<unknown>)[]

/** Chains whose clocks are the same in every run, so that every byte that is signed is the same as well. */
export function startOracleWorld(): Promise<OracleWorld> {
  return closedOnFailure(async (closers) => {
    const world = await openChains(closers, {
      cacheFolder: `${cacheFolder}fixed-clock/`,
      startUnixSeconds: deployedAtUnixSeconds,
    })
    const ports = await freePorts()
    const oracles = startOracles(world.network, familyVariables(world.families.facts), ports)
    closers.push(() => Promise.all(oracles.map(({ process }) => process.stop())))
    await Promise.all(oracles.map(({ process }) => process.listening()))
    return { ...world, oracles: urlsOf(oracles) }
  })
}

export function startQuoteWorld(): Promise<QuoteWorld> {
  return closedOnFailure(async (closers) => {
    const directory = await newDirectory(closers)
    const configs = await copyConfigs()
    closers.push(() => configs.remove())
    // Chains that stand still are not stale: nothing but the recording moves prices and fees.
    await configs.replace('quote.local.json', '"headMaxAgeMs": 15000', '"headMaxAgeMs": 3600000')
    const dataDirectory = join(directory, 'postgres')
    const [world, server] = await Promise.all([
      openChains(closers, { cacheFolder }, async (network) => {
        await prepareBase(network)
        await steadyFees(network)
      }),
      startTestPostgres({ dataDirectory }),
    ])
    closers.push(() => server.stop())
    const common = { CONFIG_DIR: configs.directory }
    const facts = { ...common, ...familyVariables(world.families.facts) }
    const oracles = startOracles(world.network, facts, await freePorts())
    closers.push(() => Promise.all(oracles.map(({ process }) => process.stop())))
    const service = spawnService({
      ...common,
      ...(await quoteApiVariables(world.network, directory)),
      DATABASE_URL: server.connectionString,
      ORACLES: oracles.map(({ setting }) => setting).join(';'),
    })
    closers.push(() => service.stop())
    const listening = [service.listening(), ...oracles.map(({ process }) => process.listening())] as const
    const [quoteApi] = await Promise.all(listening)
    const database = createDatabase({ connectionString: server.connectionString, poolSize: 2 })
    closers.push(() => database.close())
    const finish = (chain: 'base' | 'optimism') => world.network.mine(chain, finalAfterBlocks)
    return { ...world, quoteApi, database, finish, oracles: urlsOf(oracles) }
  })
}

async function closedOnFailure<World>(
  open: (closers: Closers) => Promise<World>,
): Promise<World & { stop(): Promise<void> }> {
  const closers: Closers = []
  const stop = async () => {
    for (const close of closers.reverse()) await close()
  }
  try {
    return { ...(await open(closers)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function newDirectory(closers: Closers): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-recording-'))
  closers.push(() => rm(directory, { recursive: true, force: true }))
  return directory
}

async function openChains(
  closers: Closers,
  options: TestNetworkOptions,
  prepare: (network: TestNetwork) => Promise<void> = async () => {},
) {
  const network = await startTestNetwork({ randomKey: recordedKeys(), ...options })
  closers.push(() => network.stop())
  await prepare(network)
  const families = await openFamilies(network)
  closers.push(() => Promise.all(familyKeys.map((key) => families.silence(key))))
  return { network, families }
}

const freePorts = () => Promise.all([1, 2, 3, 4].map(() => freeLoopbackPort()))

function urlsOf(oracles: readonly { readonly urls: OracleUrls }[]): readonly [OracleUrls, OracleUrls] {
  const [first, second] = oracles.map(({ urls }) => urls)
  if (first === undefined || second === undefined) throw new Error('two oracles were started')
  return [first, second]
}

/**
 * Prior events on base, before the services start, so that no price moves while they answer: the second user wraps
 * ether, two sponsors top up, and the third user sends money that names no order.
 */
async function prepareBase({ chains, deployment, keys, mine }: TestNetwork): Promise<void> {
  const { wrappedNative, tokens } = deployment.base
  const [, wrapper, stranger, poorSponsor] = keys.users
  if (wrapper === undefined || stranger === undefined || poorSponsor === undefined)
    throw new Error('users are missing')
  const { chain } = chains.base
  const token = tokens.USDC
  const custody = keys.custody.address
  const topUp = (amountMicroUsd: bigint) => ({
    what: 'top-up',
    ...encodeTopUp({ token, custody, amountMicroUsd }),
  })
  const args = [custody, 7_000_000n] as const
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
  await chain.send(wrapper, [{ what: 'wrapping', to: wrappedNative, valueWei: 10n ** 18n }])
  await chain.send(keys.sponsor, [topUp(100_000_000n)])
  await chain.send(poorSponsor, [topUp(5_000n)])
  await chain.send(stranger, [{ what: 'payment without a name', to: token, data }])
  await mine('base', finalAfterBlocks)
  await setBalances(chains, keys)
}

/** Fixes native balances: the gas of the deployment varies, and prices follow the solver's balances. */
async function setBalances(chains: TestNetwork['chains'], keys: TestNetwork['keys']): Promise<void> {
  const accounts = [keys.fillWallet, keys.sponsor, ...keys.users]
  await Promise.all(
    [chains.base, chains.optimism].flatMap(({ chain }) =>
      accounts.map(({ address }) => chain.node.setBalance({ address, value: nativeWei })),
    ),
  )
}

const steadyBaseFeeWei = 1_000_000n
/** More than the market looks back. */
const steadyBlocks = 40

/** A fee depends on every byte that was deployed; from here on prices are those of this one alone. */
async function steadyFees({ chains }: TestNetwork): Promise<void> {
  for (const { chain } of [chains.base, chains.optimism]) {
    for (let block = 0; block < steadyBlocks; block += 1) {
      await chain.node.setNextBlockBaseFeePerGas({ baseFeePerGas: steadyBaseFeeWei })
      await chain.node.mine({ blocks: 1 })
    }
  }
}

/** One stand-in per family beside the nodes, each with one final deposit. */
export async function openFamilies(network: TestNetwork): Promise<OpenFamilies> {
  const { chains, deployment, keys } = network
  const depositor = keys.users.at(-1)
  if (depositor === undefined) throw new Error('the network has no users')
  const anyPort = { solana: 0, bitcoin: 0, tron: 0, hyperliquid: 0, lighter: 0, control: 0 }
  return startFamilies(anyPort, {
    node: { url: chains.base.url, chainId: chains.base.chainId },
    tronDepository: deployment.tron.depository,
    tronUsdc: deployment.tron.usdc,
    depositor,
    tronCreatedFromMs: deployedAtUnixSeconds * 1_000,
  })
}

function startOracles(
  network: TestNetwork,
  common: Readonly<Record<string, string>>,
  [http1, ops1, http2, ops2]: readonly (number | undefined)[],
) {
  const [firstKey, secondKey] = network.keys.oracles
  const shared = {
    ...oracleVariables(network),
    ...common,
    PEER_API_KEYS: `${peerKey}:peers`,
    ORACLE_SIGNERS: [firstKey, secondKey].map(({ address }) => address).join(';'),
    ORACLE_SIGNERS_THRESHOLD: '2',
  }
  const plans = [
    {
      http: http1,
      ops: ops1,
      signer: firstKey,
      own: {
        API_KEYS: `${operatorKey}:operator`,
        PEERS: `http://127.0.0.1:${http2}|${peerKey}`,
        UNAUTHENTICATED_RATE_LIMIT_MAX: '0',
      },
    },
    {
      http: http2,
      ops: ops2,
      signer: secondKey,
      own: {
        API_KEYS: `${operatorKey}:operator`,
        FORCE: 'off',
        UNAUTHENTICATED_RATE_LIMIT_MAX: '3',
        UNAUTHENTICATED_RATE_LIMIT_WINDOW_MS: '3600000',
      },
    },
  ]
  return plans.map(({ http, ops, signer, own }) => ({
    process: spawnOracle({
      ...shared,
      ...own,
      HTTP_PORT: String(http),
      OPS_PORT: String(ops),
      ECDSA_PRIVATE_KEY: signer.privateKey,
    }),
    urls: { publicUrl: `http://127.0.0.1:${http}`, opsUrl: `http://127.0.0.1:${ops}` },
    setting: `http://127.0.0.1:${http}|${peerKey}|${signer.address}`,
  }))
}

async function quoteApiVariables(network: TestNetwork, directory: string): Promise<Record<string, string>> {
  const { chains, keys } = network
  const keyFile = join(directory, 'order-signer.key')
  await writeFile(keyFile, keys.orderSigner.privateKey, { mode: 0o600 })
  return {
    ENVIRONMENT: 'local',
    HTTP_HOST: '127.0.0.1',
    HTTP_PORT: '0',
    OPS_PORT: '0',
    ADMIN_PORT: '0',
    BASE_RPC_URL: chains.base.url,
    OPTIMISM_RPC_URL: chains.optimism.url,
    RELAY_RPC_URL: chains.hub.url,
    FILL_WALLET_ADDRESS: keys.fillWallet.address,
    CUSTODY_ADDRESS: keys.custody.address,
    ECDSA_PRIVATE_KEY_FILE: keyFile,
    CAUSEWAY_LOCAL_DIR: directory,
    API_KEY_PEPPERS: `v1:${'5a'.repeat(32)}`,
    SOLVER_API_KEY: solverKey,
    ORACLES_THRESHOLD: '2',
    PUBLIC_URL: 'http://quotes.example',
    WEBHOOK_PRIVATE_ADDRESSES: 'allow',
    LOG_LEVEL: 'info',
  }
}
