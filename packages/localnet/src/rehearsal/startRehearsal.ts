import { mkdir, readdir, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { ConfigurationError, type Hex, hexToBytes } from '@causeway/core'
import { startEmbeddedPostgres } from '@causeway/database'
import { generatePrivateKey } from 'viem/accounts'
import { loadArtifacts } from '../contracts/artifacts.ts'
import { initialFeedAnswers } from '../deploy/funding.ts'
import { placeMulticall3 } from '../deploy/predeploys.ts'
import { localAccount } from '../keys/generateKeys.ts'
import { startKmsStandIn } from '../kms/startKmsStandIn.ts'
import { type ChainKey, chainKeys, chainPlans, forEachChain } from '../network/chainPlan.ts'
import { type Keeper, startKeeper } from '../network/keeper.ts'
import { stopOrphanedDatabases } from '../network/orphanedDatabases.ts'
import type { UnexpectedEnd } from '../network/startLocalNetwork.ts'
import { type Anvil, startAnvil } from '../nodes/anvil.ts'
import { connectLocalChain, type LocalChain } from '../nodes/localChain.ts'
import { type RunFile, takeRunFile } from '../processes/runFile.ts'
import { deployMarket, fundCoin, type RehearsalAccounts, type RehearsedMarket } from './market.ts'
import { startPriceStandIn } from './priceStandIn.ts'

export type RehearsalOptions = {
  /** Directory of the rehearsal alone; files of an earlier one are removed. */
  readonly directory: string
  /** Told in whole sentences what happens. */
  readonly report: (line: string) => void
  /** A new private key at every call; default: the machine's random source. */
  readonly randomKey?: () => Hex
}

/** The parts of a production that others run: chains, price service, key management, database server. */
export type Rehearsal = {
  readonly accounts: RehearsalAccounts
  readonly markets: { readonly base: RehearsedMarket; readonly optimism: RehearsedMarket }
  /** Endpoints of each chain, as three providers would have them. */
  readonly endpoints: Readonly<Record<ChainKey, readonly string[]>>
  /** URL with a user who may make users and databases. */
  readonly databaseUrl: string
  readonly kms: { readonly url: string; readonly keyId: string }
  readonly priceServiceUrl: string
  /** Resolves when a node ends although nobody asked it to. */
  readonly nodeEnded: Promise<UnexpectedEnd>
  stop(): Promise<void>
}

/** The price service's ids of the priced assets. */
export const rehearsedCoins = { 'ETH/USD': 'coingecko:ethereum', 'USDC/USD': 'coingecko:usd-coin' } as const

/** Endpoints of each chain beside the node's own. */
const furtherEndpoints = 2
const idleBlockSeconds = 2
const runFileName = 'run.json'
/** Files of a rehearsal, written by this process and by the operator who rehearses. */
const ownNames = [
  runFileName,
  'logs',
  'postgres',
  'configs',
  'operator',
  'bin',
  'given.env',
  'rehearsal.json',
]

/**
 * Starts, on this machine, chains with the contracts of others, a database server, a price service and key management,
 * so that an operator can rehearse a production. Files of an earlier rehearsal are removed.
 * @throws ConfigurationError when one runs there, or the folder holds other files
 */
export async function startRehearsal(options: RehearsalOptions): Promise<Rehearsal> {
  const { directory, report, randomKey = generatePrivateKey } = options
  await mkdir(directory, { recursive: true })
  const others = (await readdir(directory)).filter((name) => !ownNames.includes(name))
  if (others.length > 0)
    throw new ConfigurationError(
      `${directory} holds other files (${others[0]}): a rehearsal needs its own folder`,
    )
  const { runFile, stoppedOrphans } = await takeRunFile(join(directory, runFileName), 'a rehearsal')
  if (stoppedOrphans.length > 0) report(`Stopped what a killed run had left: ${stoppedOrphans.join(', ')}.`)
  const running: Running = { ends: [runFile.release], runFile }
  try {
    await stopOrphanedDatabases(directory)
    const left = ownNames.filter((name) => name !== runFileName)
    await Promise.all(left.map((name) => rm(join(directory, name), { recursive: true, force: true })))
    await mkdir(join(directory, 'logs'))
    const account = () => localAccount(randomKey())
    const accounts = {
      treasury: account(),
      keeper: account(),
      sponsor: account(),
      user: account(),
      custody: account(),
    }
    return await startParts(running, { directory, accounts, kmsKey: randomKey() })
  } catch (error) {
    await stopAll(running)
    throw error
  }
}

type Running = {
  /** Functions that end each part, in the order of the starts; called in reverse. Empty once the rehearsal stops. */
  readonly ends: (() => Promise<unknown>)[]
  readonly runFile: RunFile
}

async function stopAll({ ends }: Running): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end()
}

async function startParts(
  running: Running,
  args: { readonly directory: string; readonly accounts: RehearsalAccounts; readonly kmsKey: Hex },
): Promise<Rehearsal> {
  const { directory, accounts, kmsKey } = args
  const { ends } = running
  const server = addPart(running, startEmbeddedPostgres({ dataDirectory: join(directory, 'postgres') }))
  // Handles the rejection now: the chains are awaited first, and an unhandled one would end the process.
  server.catch(() => undefined)
  const kms = await addPart(running, startKmsStandIn({ privateKey: hexToBytes(kmsKey) }))
  const usdByCoin = Object.entries(rehearsedCoins).map(([key, coin]) => [coin, usdOf(key)] as const)
  const prices = await addPart(running, startPriceStandIn(Object.fromEntries(usdByCoin)))
  const nodes = await forEachChain((key) =>
    startNode(running, key, join(directory, 'logs', `anvil-${key}.log`)),
  )
  const chains = await forEachChain(async (key) => connectLocalChain(nodes[key].url, nodes[key].chainId))
  const artifacts = await loadArtifacts()
  const deploy = (key: 'base' | 'optimism') => deployMarket(chains[key], key, { artifacts, accounts })
  const [base, optimism] = await Promise.all([
    deploy('base'),
    deploy('optimism'),
    placeMulticall3(chains.hub, artifacts),
    fundCoin(chains.hub, accounts),
  ])
  await addPart(running, keepChains(chains, { base, optimism }, accounts))
  const endpoints = await forEachChain(async (key) => [
    nodes[key].url,
    ...(await Promise.all(
      Array.from({ length: furtherEndpoints }, () => openRelay(running, nodes[key].port)),
    )),
  ])
  const { connectionString } = await server
  const nodeEnded = new Promise<UnexpectedEnd>((resolve) => {
    for (const key of chainKeys) {
      nodes[key].process.once('exit', (code, signal) => {
        const logFile = join(directory, 'logs', `anvil-${key}.log`)
        if (ends.length > 0) resolve({ name: `anvil-${key}`, how: signal ?? `exit code ${code}`, logFile })
      })
    }
  })
  return {
    accounts,
    markets: { base, optimism },
    endpoints,
    databaseUrl: connectionString,
    kms: { url: kms.url, keyId: kms.keyId },
    priceServiceUrl: prices.url,
    nodeEnded,
    stop: () => stopAll(running),
  }
}

/** Lets `stopAll` stop a part that starts, once it has. */
function addPart<Part extends { stop(): Promise<unknown> }>(
  { ends }: Running,
  starting: Promise<Part>,
): Promise<Part> {
  ends.push(() =>
    starting.then(
      (part) => part.stop(),
      () => undefined,
    ),
  )
  return starting
}

function startNode(running: Running, key: ChainKey, logFile: string): Promise<Anvil> {
  const { chainId, baseFeeWei } = chainPlans[key]
  return addPart(
    running,
    startAnvil({
      chainId,
      logFile,
      detached: true,
      onSpawn: (pid) => running.runFile.add(`anvil-${key}`, pid),
      args: [
        ...['--block-time', String(idleBlockSeconds), '--mixed-mining', '--slots-in-an-epoch', '1'],
        ...['--accounts', '0', '--block-base-fee-per-gas', String(baseFeeWei)],
      ],
    }),
  )
}

/** Starts the keeper. It saves nothing, because the next rehearsal begins anew. */
function keepChains(
  chains: Readonly<Record<ChainKey, LocalChain>>,
  deployment: Rehearsal['markets'],
  { keeper }: RehearsalAccounts,
): Promise<Keeper> {
  const maintained = (key: ChainKey) => ({
    chain: chains[key],
    baseFeeWei: chainPlans[key].baseFeeWei,
    now: Date.now,
    save: async () => {},
  })
  return startKeeper({
    chains: { base: maintained('base'), optimism: maintained('optimism'), hub: maintained('hub') },
    deployment,
    keeper,
    log: () => {},
  })
}

/** Opens another port of a node, which stands for the endpoint of another provider. @returns its URL */
async function openRelay({ ends }: Running, port: number): Promise<string> {
  const sockets = new Set<Socket>()
  const relay = createServer((socket) => {
    const upstream = connect(port, '127.0.0.1')
    for (const one of [socket, upstream]) {
      sockets.add(one)
      one.on('error', () => undefined)
      one.on('close', () => {
        sockets.delete(one)
        socket.destroy()
        upstream.destroy()
      })
    }
    socket.pipe(upstream).pipe(socket)
  })
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
  ends.push(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => relay.close(resolve))
  })
  const address = relay.address()
  if (typeof address !== 'object' || address === null) throw new Error('a relay has no port')
  return `http://127.0.0.1:${address.port}`
}

/** USD that the feed of a price answers first. @param key one of `initialFeedAnswers` */
function usdOf(key: string): number {
  const answer = Object.entries(initialFeedAnswers).find(([name]) => name === key)?.[1] ?? 0n
  return Number(answer) / 1e8
}
