import { appendFile, readFile, rm } from 'node:fs/promises'
import type { FamilyFacts } from '../../families/familySettings.ts'
import { solanaAccounts, solanaFunding } from '../../families/solanaAccounts.ts'
import { nextFreePorts } from '../../nodes/ports.ts'
import { describeEnd, type ProcessEnd, StartFailure } from '../../processes/processEnd.ts'
import { type FamilyProcess, startFamilyProcess } from '../familyProcess.ts'
import { localPaths } from '../localPaths.ts'
import { writeNetworkFile } from '../networkFile.ts'
import { stopOrphanedDatabases } from '../orphanedDatabases.ts'
import {
  type LocalNetwork,
  type LocalNetworkOptions,
  startLocalNetwork,
  type UnexpectedEnd,
} from '../startLocalNetwork.ts'
import { type DemoSponsor, prepareDemoSponsor } from './demoSponsor.ts'
import { oracleSigners } from './oracle.ts'
import type { FirstPorts, ServicePlan, ServicePorts } from './servicePlan.ts'
import { type RunningService, type ServiceOptions, startService } from './startService.ts'

export type SessionOptions = Omit<LocalNetworkOptions, 'report' | 'keeperLog' | 'beside'> & {
  /** Shows the chains of the other families too, from this port on; default: no. */
  readonly firstFamilyPort?: number
  readonly services: readonly ServicePlan[]
  readonly firstPorts: FirstPorts
  readonly repositoryRoot: string
  /** The JavaScript of a service's script, from the repository's root; default: the translated file. */
  readonly fileOf?: (script: string) => string
  /** What the services inherit. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly report: (line: string) => void
  /** Told when a part is up. */
  readonly stageDone: (name: string, about: string) => void
  /** Gives up the start. */
  readonly signal: AbortSignal
}

/** A whole local network: chains, keeper, services and the file that describes them. */
export type Session = {
  readonly network: LocalNetwork
  readonly services: readonly RunningService[]
  /** Chains of the other families; absent where they do not run. */
  readonly families: FamilyFacts | undefined
  /** Of the demo sponsor; absent when no quote-api runs. */
  readonly sponsorApiKey: string | undefined
  /** Resolves when a part ends on its own; never after `stop`. */
  readonly failed: Promise<ProcessEnd>
  /** Services first, in reverse order; then the keeper and the nodes. */
  stop(): Promise<void>
}

/** After this long a line says where to look. */
const slowMs = 8_000

/**
 * Starts the chains, then all services side by side, and stops it all again when one part fails.
 * @throws StartFailure naming the part and its log file; whatever `startLocalNetwork` throws
 */
export async function startSession(options: SessionOptions): Promise<Session> {
  const { report, stageDone } = options
  const paths = localPaths(options.directory)
  const { network, familyProcess } = await withNotice(startChains(options), () =>
    report(`Still waiting for the chains: see ${paths.logFile('anvil-*')} and ${paths.logFile('keeper')}`),
  )
  stageDone('chains', describeChains(network))
  const running: RunningService[] = []
  const nodeFailed = network.nodeEnded.then(describeNodeEnd)
  const nodeDown = new AbortController()
  void nodeFailed.then((end) => nodeDown.abort(new StartFailure(describeEnd(end))))
  const signal = AbortSignal.any([options.signal, nodeDown.signal])
  let stopping: Promise<void> | undefined
  let sponsorApiKey: string | undefined
  let families: FamilyFacts | undefined
  const stop = () => {
    stopping ??= stopAll(network, running, familyProcess)
    return stopping
  }
  try {
    const opened = openFamilies(options, network, familyProcess, signal)
    // Who needs them hears of a failure; nobody else has to.
    opened?.catch(() => undefined)
    await startServices({ ...options, signal }, { network, families: opened }, running)
    families = await opened
    signal.throwIfAborted()
    const sponsor = await sponsorOf(options, network, running, signal)
    await writeNetworkFile(network.paths.networkFile, {
      ...factsOf(network, running),
      ...(families !== undefined && { families }),
      ...(familyProcess !== undefined && { familyControlUrl: familyProcess.controlUrl }),
      ...(sponsor !== undefined && { sponsorApiKey: sponsor.apiKey }),
    })
    sponsorApiKey = sponsor?.apiKey
  } catch (error) {
    await stop()
    throw error
  }
  const failed = new Promise<ProcessEnd>((resolve) => {
    const tell = (end: ProcessEnd) => {
      if (stopping === undefined) resolve(end)
    }
    void nodeFailed.then(tell)
    const processes = [...running, ...(familyProcess === undefined ? [] : [familyProcess])]
    for (const { process } of processes) void process.ended.then((how) => tell(endOf(process, how)))
  })
  return { network, services: running, families, sponsorApiKey, failed, stop }
}

/** The nodes, and beside them the process of the other families where it is asked for. */
async function startChains(options: SessionOptions) {
  const { firstFamilyPort: firstPort, repositoryRoot, environment, fileOf } = options
  let familyProcess: FamilyProcess | undefined
  const network = await startLocalNetwork({
    ...options,
    keeperLog: keeperLogOf(options),
    ...(firstPort !== undefined && {
      async beside({ paths, runFile, ports: chainPorts }) {
        const started = await startFamilyProcess({
          paths,
          runFile,
          firstPort,
          chainPorts,
          repositoryRoot,
          environment,
          ...(fileOf !== undefined && { fileOf }),
        })
        familyProcess = started
        return () => started.process.stop()
      },
    }),
  })
  return { network, familyProcess }
}

function openFamilies(
  { report, stageDone }: SessionOptions,
  { chains, deployment, keys, paths }: LocalNetwork,
  familyProcess: FamilyProcess | undefined,
  signal: AbortSignal,
): Promise<FamilyFacts> | undefined {
  const depositor = keys.users.at(-1)
  if (familyProcess === undefined || depositor === undefined) return undefined
  const { url, chainId } = chains.base
  const { depository: evmDepository } = deployment.base
  const funding = { solanaFunding: solanaFunding(solanaAccounts(keys)) }
  const told = { node: { url, chainId }, evmDepository, depositor, tronFile: paths.tronFile, ...funding }
  return familyProcess.open(told, { report, signal }).then((families) => {
    stageDone('families', 'Solana, Bitcoin, Tron, Hyperliquid and Lighter as stand-ins show them')
    return families
  })
}

/** One failure ends the start of the others too; `running` holds what has to be stopped. */
async function startServices(
  options: SessionOptions,
  chains: Pick<ServiceOptions, 'network' | 'families'>,
  running: RunningService[],
): Promise<void> {
  const ports = await choosePorts(options.services, options.firstPorts)
  const oneFailed = new AbortController()
  const signal = AbortSignal.any([options.signal, oneFailed.signal])
  const start = async (plan: ServicePlan) => {
    try {
      signal.throwIfAborted()
      running.push(await startService(plan, { ...options, ...chains, ports, signal }))
      options.stageDone(plan.name, plan.about)
    } catch (error) {
      oneFailed.abort(error)
      throw error
    }
  }
  await Promise.allSettled(options.services.map(start))
  signal.throwIfAborted()
  const { services } = options
  running.sort((one, other) => services.indexOf(one.plan) - services.indexOf(other.plan))
}

async function sponsorOf(
  options: SessionOptions,
  network: LocalNetwork,
  running: readonly RunningService[],
  signal: AbortSignal,
): Promise<DemoSponsor | undefined> {
  const ports = running.find(({ plan }) => plan.name === 'quote-api')?.ports
  if (ports === undefined) return undefined
  const sponsor = await prepareDemoSponsor({
    network,
    quoteApiUrl: `http://127.0.0.1:${ports['http']}`,
    adminUrl: `http://127.0.0.1:${ports['admin']}`,
    adminKey: options.environment['ADMIN_API_KEY'] || undefined,
    signal,
  })
  options.stageDone('sponsor', 'its key is created, its wallet linked and its balance topped up')
  return sponsor
}

/** Gives notice of work that takes long. */
async function withNotice<T>(work: Promise<T>, notice: () => void): Promise<T> {
  const timer = setTimeout(notice, slowMs)
  try {
    return await work
  } finally {
    clearTimeout(timer)
  }
}

function endOf(process: RunningService['process'], how: string): ProcessEnd {
  const { name, logFile } = process
  return { name, how: `ended with ${how}`, logFile, lastOutput: process.lastOutput() }
}

async function stopAll(
  network: LocalNetwork,
  running: readonly RunningService[],
  familyProcess: FamilyProcess | undefined,
): Promise<void> {
  await rm(network.paths.networkFile, { force: true })
  // Nothing is lost where a reading of these chains is cut.
  const familiesStopped = familyProcess?.process.stop()
  for (const { process } of [...running].reverse()) await process.stop()
  await familiesStopped
  await stopOrphanedDatabases(network.paths.directory)
  await network.stop()
}

function describeChains({ chains, origin }: LocalNetwork): string {
  const { base, optimism, hub } = chains
  const state = origin === 'kept' ? 'continued from the last start' : 'contracts deployed, accounts funded'
  return `Base ${base.port}, Optimism ${optimism.port}, hub ${hub.port}: ${state}`
}

function factsOf(network: LocalNetwork, running: readonly RunningService[]) {
  const { deployment, keys, chains } = network
  const urlOf = (name: string) => {
    const port = running.find(({ plan }) => plan.name === name)?.ports['http']
    return port === undefined ? undefined : `http://127.0.0.1:${port}`
  }
  const quoteApiUrl = urlOf('quote-api')
  return {
    deployment,
    keys,
    rpcUrls: { base: chains.base.url, optimism: chains.optimism.url, hub: chains.hub.url },
    oracles: oracleSigners(keys).flatMap(({ name, signer }) => {
      const url = urlOf(name)
      return url === undefined ? [] : [{ url, signer }]
    }),
    ...(quoteApiUrl !== undefined && { quoteApiUrl }),
  }
}

async function describeNodeEnd({ name, how, logFile }: UnexpectedEnd): Promise<ProcessEnd> {
  const lastOutput = await readFile(logFile, 'utf8').catch(() => '')
  return { name, how: `ended with ${how}`, logFile, lastOutput }
}

/** The file is for people who look for a cause; a line that cannot be written is no reason to stop. */
function keeperLogOf({ directory, now = Date.now }: SessionOptions): (line: string) => void {
  const file = localPaths(directory).logFile('keeper')
  return (line) => {
    appendFile(file, `${new Date(now()).toISOString()} ${line}\n`).catch(() => undefined)
  }
}

/** The ports of all services before any of them starts, each the next free one from its first choice on. */
async function choosePorts(
  plans: readonly ServicePlan[],
  firstPorts: FirstPorts,
): Promise<ReadonlyMap<string, ServicePorts>> {
  const wanted = plans.flatMap((plan) =>
    Object.entries(plan.ports(firstPorts)).map(([use, first]) => ({ service: plan.name, use, first })),
  )
  const chosen = await nextFreePorts(wanted.map(({ first }) => first))
  return new Map(
    plans.map(({ name }) => [
      name,
      Object.fromEntries(
        wanted.flatMap(({ service, use }, index) => (service === name ? [[use, chosen[index] ?? 0]] : [])),
      ),
    ]),
  )
}
