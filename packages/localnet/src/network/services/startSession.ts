import { appendFile, readFile, rm } from 'node:fs/promises'
import { familyFunding } from '../../families/familyFunding.ts'
import type { FamilyKey } from '../../families/familyPlans.ts'
import type { FamilyFacts, FamilyNetwork } from '../../families/familySettings.ts'
import type { PersonalityName } from '../../faultProxy/nodePersonalities.ts'
import { nextFreePorts } from '../../nodes/ports.ts'
import { describeEnd, type ProcessEnd, StartFailure } from '../../processes/processEnd.ts'
import { chainPlans } from '../chainPlan.ts'
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
import { openEndpoints, type SessionEndpoints } from './endpoints.ts'
import { oracleSigners } from './oracle.ts'
import { type OtherChains, openOtherChains } from './otherChains.ts'
import type { FirstPorts, ServicePlan, ServicePorts } from './servicePlan.ts'
import { type RunningService, type ServiceOptions, startService } from './startService.ts'
import { waitUntilQuoted } from './waitUntilQuoted.ts'

export type SessionOptions = Omit<LocalNetworkOptions, 'report' | 'keeperLog' | 'beside'> & {
  /** First port of the stand-ins for chains of other families; absent: they do not run. */
  readonly firstFamilyPort?: number
  readonly services: readonly ServicePlan[]
  /** Behaviour of hosted nodes through which services read the chains of its family. */
  readonly endpoints?: PersonalityName | undefined
  readonly firstPorts: FirstPorts
  readonly repositoryRoot: string
  /** Inherited environment of the services. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly report: (line: string) => void
  /** Called when a part is up. */
  readonly stageDone: (name: string, about: string) => void
  /** Aborts the start. */
  readonly signal: AbortSignal
}

/** A whole local network: chains, keeper, services and the file that describes them. */
export type Session = {
  readonly network: LocalNetwork
  readonly services: readonly RunningService[]
  /** Chains of the other families; absent where they do not run. The first is open, the others open later. */
  readonly families: OtherChains | undefined
  readonly endpoints: Pick<SessionEndpoints, 'changePersonality'>
  /** API key of the demo sponsor; absent when no quote-api runs. */
  readonly sponsorApiKey: string | undefined
  /** Resolves when a part ends on its own; never after `stop`. */
  readonly failed: Promise<ProcessEnd>
  /** Services first, in reverse order; then the keeper and the nodes. */
  stop(): Promise<void>
}

/** A start of the chains that takes longer is reported. */
const slowMs = 8_000
const quotedWithinMs = 20_000

/**
 * Starts the chains, then all services side by side, and stops everything again when one part fails. It waits for the
 * first chain of the other families only: the others open later, and one that cannot be opened is reported.
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
  let stopping: Promise<void> | undefined
  // The session goes on without the stand-ins: services treat them as endpoints that fall silent.
  void familyProcess?.process.ended.then((how) => {
    if (stopping === undefined) report(describeEnd(endOf(familyProcess.process, how)))
  })
  const nodeEnd = new AbortController()
  void nodeFailed.then((end) => nodeEnd.abort(new StartFailure(describeEnd(end))))
  const sessionEnd = new AbortController()
  const signal = AbortSignal.any([options.signal, nodeEnd.signal, sessionEnd.signal])
  let sponsorApiKey: string | undefined
  let families: OtherChains | undefined
  const endpoints = openEndpoints({ ...options, personality: options.endpoints })
  const stop = () => {
    sessionEnd.abort()
    stopping ??= stopAll(network, running, { familyProcess, endpoints, familiesSettled: families?.settled })
    return stopping
  }
  const facts = new Map<FamilyKey, FamilyFacts>()
  // Writes follow one another, so that an older content never replaces a newer one.
  let lastWrite: Promise<void> | undefined
  const rewriteNetworkFile = (): Promise<void> => {
    const write = () =>
      writeNetworkFile(network.paths.networkFile, {
        ...factsOf(network, running),
        ...(families !== undefined && { families: { ...families, facts } }),
        ...(sponsorApiKey !== undefined && { sponsorApiKey }),
      })
    lastWrite = lastWrite === undefined ? write() : lastWrite.then(write)
    return lastWrite
  }
  const quoteApiReady = deferred<string | undefined>()
  const servicesReady = deferred<void>()
  try {
    if (familyProcess !== undefined) {
      familyProcess.tell(networkOf(network))
      families = openOtherChains({
        process: familyProcess,
        servicesReady: servicesReady.promise,
        stageDone,
        report,
        signal,
        quoteApiUrl: quoteApiReady.promise,
        async onOpen(key, familyFacts) {
          facts.set(key, familyFacts)
          // Before the first write nothing is rewritten: that write holds all that is open by then.
          if (lastWrite !== undefined && !signal.aborted) await rewriteNetworkFile()
        },
      })
    }
    const chains = { network, families: familyProcess?.urls }
    await startServices({ ...options, signal }, { ...chains, endpoints }, running)
    signal.throwIfAborted()
    const quoteApiUrl = urlOf(running, 'quote-api')
    quoteApiReady.resolve(quoteApiUrl)
    if (quoteApiUrl !== undefined) await waitForQuotes(network, { quoteApiUrl, report, signal })
    sponsorApiKey = (await sponsorOf(options, network, running, signal))?.apiKey
    await rewriteNetworkFile()
    servicesReady.resolve()
    // Solana is the chain that opens first. `openOtherChains` reports the error.
    await families?.opened.solana.catch(() => undefined)
    signal.throwIfAborted()
  } catch (error) {
    // Whatever waits for these goes on and sees the aborted signal.
    quoteApiReady.resolve(undefined)
    servicesReady.resolve()
    await stop()
    throw error
  }
  const failed = new Promise<ProcessEnd>((resolve) => {
    const resolveUnlessStopping = (end: ProcessEnd) => {
      if (stopping === undefined) resolve(end)
    }
    void nodeFailed.then(resolveUnlessStopping)
    for (const { process } of running)
      void process.ended.then((how) => resolveUnlessStopping(endOf(process, how)))
  })
  return { network, services: running, families, endpoints, sponsorApiKey, failed, stop }
}

/** Starts the nodes and, where it is asked for, beside them the process of the stand-ins. */
async function startChains(options: SessionOptions) {
  const { firstFamilyPort: firstPort, repositoryRoot, environment } = options
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
        })
        familyProcess = started
        return () => started.process.stop()
      },
    }),
  })
  return { network, familyProcess }
}

/** The facts of the EVM chains that the stand-ins need. */
function networkOf({ chains, deployment, keys, paths }: LocalNetwork): FamilyNetwork {
  const depositor = keys.users.at(-1)
  if (depositor === undefined) throw new Error('the network has users')
  const { url, chainId } = chains.base
  const funding = familyFunding(keys)
  return {
    node: { url, chainId },
    tronDepository: deployment.tron.depository,
    depositor,
    tronUsdc: deployment.tron.usdc,
    stateFolder: paths.families,
    funding,
  }
}

/** Starts all services side by side. One failure aborts the others; `running` then holds those that have to be stopped. */
async function startServices(
  options: SessionOptions,
  chains: Pick<ServiceOptions, 'network' | 'families' | 'endpoints'>,
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

/** Waits until both chains are quoted, for `quotedWithinMs` at most: an operator may have stopped one. */
async function waitForQuotes(
  { chains }: LocalNetwork,
  options: {
    readonly quoteApiUrl: string
    readonly signal: AbortSignal
    readonly report: SessionOptions['report']
  },
): Promise<void> {
  const { report } = options
  const quoted = [chains.base, chains.optimism].map(({ key, chainId }) =>
    waitUntilQuoted({ name: chainPlans[key].name, chainId }, { ...options, timeoutMs: quotedWithinMs }).catch(
      (error: unknown) => {
        if (!(error instanceof StartFailure)) throw error
        report(error.message)
      },
    ),
  )
  await Promise.all(quoted)
}

/** Prepares the demo sponsor; undefined where no quote-api runs. */
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

/** Calls `notice` once when work takes longer than `slowMs`. */
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
  {
    familyProcess,
    endpoints,
    familiesSettled,
  }: {
    readonly familyProcess: FamilyProcess | undefined
    readonly endpoints: SessionEndpoints
    readonly familiesSettled: Promise<void> | undefined
  },
): Promise<void> {
  // A chain that still opens would write the file again.
  await familiesSettled
  await rm(network.paths.networkFile, { force: true })
  // The stand-ins may end before the services: an interrupted reading loses nothing.
  const familiesStopped = familyProcess?.process.stop()
  for (const { process } of [...running].reverse()) await process.stop()
  await endpoints.stop()
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
  const quoteApiUrl = urlOf(running, 'quote-api')
  return {
    deployment,
    keys,
    rpcUrls: { base: chains.base.url, optimism: chains.optimism.url, hub: chains.hub.url },
    oracles: oracleSigners(keys).flatMap(({ name, signer }) => {
      const url = urlOf(running, name)
      return url === undefined ? [] : [{ url, signer }]
    }),
    ...(quoteApiUrl !== undefined && { quoteApiUrl }),
  }
}

function urlOf(running: readonly RunningService[], name: string): string | undefined {
  const port = running.find(({ plan }) => plan.name === name)?.ports['http']
  return port === undefined ? undefined : `http://127.0.0.1:${port}`
}

/** A promise with the function that resolves it. */
function deferred<Value>() {
  let resolve: (value: Value) => void = () => undefined
  const promise = new Promise<Value>((resolveNow) => {
    resolve = resolveNow
  })
  return { promise, resolve }
}

async function describeNodeEnd({ name, how, logFile }: UnexpectedEnd): Promise<ProcessEnd> {
  const lastOutput = await readFile(logFile, 'utf8').catch(() => '')
  return { name, how: `ended with ${how}`, logFile, lastOutput }
}

/** Appends the keeper's lines to its log file, which is for people; a line that cannot be written is dropped. */
function keeperLogOf({ directory, now = Date.now }: SessionOptions): (line: string) => void {
  const file = localPaths(directory).logFile('keeper')
  return (line) => {
    appendFile(file, `${new Date(now()).toISOString()} ${line}\n`).catch(() => undefined)
  }
}

/** Chooses the ports of all services before any of them starts, each the next free one from its first choice on. */
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
