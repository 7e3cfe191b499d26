import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import {
  checkLocalNodes,
  codeProblems,
  countHosts,
  createFinalStateReader,
  createJsonRpcClient,
  createQuorumOver,
  defaultThreshold,
  examineClock,
  examineEndpoints,
  expectedCodes,
  type KnownCode,
  type QuorumClient,
  type RegisteredHub,
  readHead,
  verifyEvmEndpoints,
  warnOfUncheckedCode,
} from '@causeway/chains'
import { isKnownCode } from '@causeway/contracts/codes'
import { ConfigurationError, type Findings, type Hex, UpstreamUnavailableError } from '@causeway/core'
import {
  createOpsListener,
  createReadiness,
  openListener,
  type Readiness,
  standardErrorPolicy,
} from '@causeway/http'
import { type Closer, createEndpointMetrics, createLogger, createServiceMetrics } from '@causeway/service'
import {
  type ConfiguredSigner,
  createCapJournal,
  createConfiguredSigner,
  createHeldStore,
  createSigningCaps,
  noHeldStore,
  noJournal,
  readPrivateKeySetting,
  type SigningCaps,
  takeStateDirectory,
} from '@causeway/signer'
import type { Logger } from 'pino'
import { type AllocatorContract, createAllocatorContract } from '../hub/allocatorContract.ts'
import { createServiceStops, noServiceStops } from '../hub/serviceStops.ts'
import { createSignatureStore } from '../hub/signatureStore.ts'
import { createPayloadKeys } from '../keys/payloadKeys.ts'
import { type AllocatorRound, createAllocatorRound } from '../rounds/allocatorRound.ts'
import { createMemoryState, createStateFiles } from '../state/stateFiles.ts'
import { type AllocatorConfig, keyPrefix } from './config.ts'
import { type LoadedFiles, loadFiles, type OwnHub } from './files.ts'
import { createAllocatorMetrics } from './metrics.ts'
import { startRounds } from './startRounds.ts'

type Variables = Readonly<Record<string, string | undefined>>

export type Allocator = {
  /** Lower-case address that signs. */
  readonly signer: string
  readonly logger: Logger
  readonly readiness: Readiness
  /** Opens the operations listener and begins to work. */
  listen(): Promise<{ readonly opsUrl: string }>
  /** In the order in which they must be closed. */
  readonly closers: readonly Closer[]
}

const startTimeoutMs = 10_000
/** An executed signature is counted once as long as no more than so many others were signed since. */
const rememberedMax = 20_000

/**
 * Builds the allocator: reads its files, opens its keys, and compares both with the hub. Nothing is signed yet.
 * @param variables the environment with secrets merged in; files name variables of it
 * @throws ConfigurationError naming the setting that must not run
 */
export async function createAllocator(config: AllocatorConfig, variables: Variables): Promise<Allocator> {
  const logger = createLogger({ service: 'allocator', level: config.logLevel })
  const readFile = (path: string) => readFileSync(path, 'utf8')
  const signer = await createConfiguredSigner({
    environment: variables,
    prefix: keyPrefix,
    readFile,
    warn: (message) => logger.warn({ event: 'signer_setting' }, message),
    isThreaded: false,
  })
  const opened: Closer[] = [{ name: 'signer', close: () => signer.close() }]
  const closeOpened = async () => {
    for (const closer of opened) await closer.close()
  }
  try {
    const ed25519 = readPrivateKeySetting({
      ...{ environment: variables, name: `${keyPrefix}ED25519_PRIVATE_KEY`, readFile },
    })
    const { environment, configDirectory, stateDirectory } = config
    const files = await loadFiles({ environment, configDirectory, variables, signer: signer.address })
    const keys = createPayloadKeys({ signer, ed25519 }, files.places)
    warnOfUncheckedCode([files.hub], logger)
    const hub = openHub(files.hub)
    opened.unshift({ name: 'hub', close: () => hub.client.close() })
    await refuseContradictions(config, files.hub, hub, signer)
    if (stateDirectory !== undefined) {
      const unlock = await takeStateDirectory(stateDirectory, 'allocator')
      opened.push({ name: 'state directory', close: unlock })
    }
    return assemble({ config, logger, signer, files, keys, hub, opened })
  } catch (error) {
    await closeOpened()
    throw error
  }
}

type OpenHub = ReturnType<typeof openHub>

/** Opens no connection yet. */
function openHub(hub: OwnHub) {
  const { id, endpoints, hubAddress, auroraAllocatorAddress: allocator } = hub
  const threshold = Math.max(defaultThreshold(countHosts(endpoints)), 1)
  const now = () => Date.now()
  const client = createJsonRpcClient({
    chainId: id,
    endpoints: endpoints.map((url) => ({ url })),
    threshold,
    now,
  })
  const quorum: QuorumClient = createQuorumOver(client, { now })
  const reader = createFinalStateReader({ quorum, rule: ruleOf(hub) })
  const contract = createAllocatorContract({ reader, allocator, hub: hubAddress })
  return { client, quorum, contract, threshold }
}

/** Default: the chain's `finalized` block. */
function ruleOf({ auroraFinality, finality }: RegisteredHub) {
  const { mode = 'tag', tag = 'finalized', blocks = 0 } = auroraFinality ?? finality ?? {}
  return { mode, tag, blocks: BigInt(blocks), seconds: 0n } as const
}

/** @throws ConfigurationError */
async function refuseContradictions(
  { environment }: AllocatorConfig,
  hub: OwnHub,
  opened: OpenHub,
  { address }: ConfiguredSigner,
): Promise<void> {
  const problems = await contradictions(environment, hub, opened, address)
  if (problems.length > 0)
    throw ConfigurationError.listing('The hub contradicts the configuration:', problems)
}

/** @throws UpstreamUnavailableError when too few endpoints answer */
async function contradictions(
  environment: string,
  { evmChainId, hubAddress, auroraAllocatorAddress: address, codeHashes }: OwnHub,
  { client, contract, threshold }: OpenHub,
  own: Hex,
): Promise<readonly string[]> {
  const signal = AbortSignal.timeout(startTimeoutMs)
  const placed = { setting: 'hub: auroraAllocatorAddress', address }
  const problems = [
    ...(await checkLocalNodes(environment, client)),
    ...(await verifyEvmEndpoints(
      { client, chainId: BigInt(evmChainId), contract: placed, threshold },
      { signal },
    )),
  ]
  if (problems.length === 0) {
    const isKnown: KnownCode = ({ name }, code) => isKnownCode(name, code)
    const relied = [
      { name: 'Allocator', ...placed } as const,
      { name: 'Hub', setting: 'hub: hubAddress', address: hubAddress } as const,
    ]
    const expected = expectedCodes(relied, { isKnown, codeHashes })
    problems.push(...(await codeProblems({ client, expected, threshold }, { signal })))
  }
  // What a foreign contract says of itself means nothing.
  const named = problems.length === 0 ? await signerOf(contract, signal) : own
  if (named !== own)
    problems.push(`the allocator's contract takes signatures of ${named} alone, and the key is ${own}`)
  return problems
}

/** Compares the hub with the configuration, and closes what it opened. */
export async function examineHub(
  environment: string,
  hub: OwnHub,
  own: Hex,
  { nowMs, found }: { readonly nowMs: () => number; readonly found: Findings },
): Promise<void> {
  const opened = openHub(hub)
  const head = async () => (await readHead(opened.client)).timestampSeconds
  try {
    await Promise.all([
      examineEndpoints(opened.client, found),
      examineClock([head], nowMs, found),
      contradictions(environment, hub, opened, own).then(
        (problems) => found.problems(problems, 'chain-contradicts'),
        (error: unknown) => {
          // Which endpoints are silent is found beside.
          if (!(error instanceof UpstreamUnavailableError)) throw error
        },
      ),
    ])
  } finally {
    await opened.client.close()
  }
}

const namesNobody = 'nobody that it names'

const nobody = `0x${'0'.repeat(40)}`
/** A contract that was deployed a moment ago is initialized before it is so at a final block. */
const initializedWithinMs = 5_000
const pollMs = 250

async function signerOf(contract: AllocatorContract, signal: AbortSignal): Promise<string> {
  const giveUpAtMs = performance.now() + initializedWithinMs
  try {
    let named = await contract.signer({ signal })
    while (named === nobody && performance.now() < giveUpAtMs) {
      await setTimeout(pollMs, undefined, { signal })
      named = await contract.signer({ signal })
    }
    return named ?? namesNobody
  } catch (error) {
    if (!(error instanceof UpstreamUnavailableError)) throw error
    return namesNobody
  }
}

type Parts = {
  readonly config: AllocatorConfig
  readonly logger: Logger
  readonly signer: ConfiguredSigner
  readonly files: LoadedFiles
  readonly keys: ReturnType<typeof createPayloadKeys>
  readonly hub: OpenHub
  readonly opened: readonly Closer[]
}

function assemble({ config, logger, signer, files, keys, hub, opened }: Parts): Allocator {
  const { stateDirectory } = config
  const httpMetrics = createServiceMetrics('allocator')
  const chains = files.places.map(({ chain }) => chain)
  const metrics = createAllocatorMetrics(httpMetrics.registry, { signer: signer.address, chains })
  const now = steadyClock()
  let isLost = false
  const notKept = (error: unknown) => {
    isLost = true
    logger.fatal(
      { event: 'signed_value_not_kept', err: error },
      'what is signed cannot be written to STATE_DIR',
    )
  }
  const journal = stateDirectory === undefined ? noJournal : createCapJournal(stateDirectory, notKept)
  const counted = createSigningCaps({
    ...{ table: files.caps, isUnlistedHeld: !config.isLocal, now, journal, rememberedMax },
  })
  const caps: SigningCaps = {
    ...counted,
    admit(value) {
      const verdict = counted.admit(value)
      // The next start would forget a count that is not on disk: rather no signature at all.
      if (isLost) throw new Error('what is signed cannot be written to STATE_DIR')
      return verdict
    },
  }
  const state = stateDirectory === undefined ? createMemoryState() : createStateFiles(stateDirectory)
  const store = createSignatureStore({
    ...{ client: hub.client, chainId: files.hub.evmChainId, allocator: files.hub.auroraAllocatorAddress },
    ...{ signer, maxFeePerGasWei: files.maxFeePerGasWei },
  })
  const { stopsUrl: url } = config
  const stops =
    url === undefined
      ? noServiceStops
      : createServiceStops({
          ...{ url, chains: [...new Set(chains)], nowMs: () => performance.now() },
          onChange: (stopped, why) =>
            logger.warn({ event: 'service_stops', stopped, why }, 'nothing is signed for these chains'),
        })
  const round: AllocatorRound = createAllocatorRound({
    ...{ contract: hub.contract, store, keys, places: files.places, caps, state, stops, now },
    held: stateDirectory === undefined ? noHeldStore : createHeldStore(stateDirectory),
    firstBlock: files.firstBlock,
    report: {
      signed(payloadId, { chain }) {
        metrics.countSigned(chain)
        logger.info({ event: 'payload_signed', payloadId, chain }, 'a payload is signed')
      },
      refused(payloadId, reason) {
        metrics.countRefused()
        logger.warn({ event: 'payload_refused', payloadId, reason }, 'a payload is not signed')
      },
      held(payloadId, { chain }, reason) {
        logger.warn({ event: 'payload_held', payloadId, chain, reason }, 'a payload waits at a cap')
      },
      released(payloadId) {
        logger.warn({ event: 'payload_released', payloadId }, 'the operator released a payload')
      },
      rewritten({ number, hash }, found) {
        const fields = { event: 'final_block_changed', block: number.toString(), hash, found }
        logger.fatal(fields, 'a final block of the hub changed: nothing is signed any more')
      },
    },
  })
  const rounds = startRounds({
    ...{ round, state, stops, chains, logger, pollIntervalMs: config.pollIntervalMs },
    readGas: () => store.gasBalanceWei(),
    countFailed: () => metrics.countRoundFailed(),
  })
  const observerOf = createEndpointMetrics(httpMetrics)
  hub.quorum.observe((endpoint) => observerOf(files.hub.id, endpoint))
  metrics.watch({
    pending: () => round.pending(),
    readUpTo: () => round.readUpTo(),
    isStopped: () => rounds.isStopped(),
    gasBalanceWei: () => rounds.gasBalanceWei(),
    caps: () => caps.usage(),
    stoppedChains: () => stops.known().stopped,
    endpoints: () => hub.quorum.health(),
  })
  const readiness = createReadiness({
    checks: rounds.checks,
    onFailure: (name, error) => logger.debug({ check: name, err: error }, 'readiness check failed'),
  })
  const ops = createOpsListener({
    ...{ logger, errors: standardErrorPolicy, registry: httpMetrics.registry, readiness },
  })
  const closers: readonly Closer[] = [
    { name: 'rounds', close: () => rounds.stop() },
    { name: 'signing caps', close: async () => journal.close() },
    ...opened,
    { name: 'ops listener', close: () => ops.close() },
  ]
  return {
    ...{ signer: signer.address, logger, readiness, closers },
    async listen() {
      const opsUrl = await openListener(ops, config.ops, 'OPS_PORT')
      rounds.start()
      return { opsUrl }
    },
  }
}

/** The time of day when the process began, and what has passed since: setting the clock changes no window. */
function steadyClock(): () => number {
  const startedAt = Date.now() - performance.now()
  return () => startedAt + performance.now()
}
