import { type Hex, startDeadline } from '@causeway/core'
import { contractChain, leastBetweenReadsMs, paceMs } from '@causeway/core/config'
import {
  type AgreedClient,
  type AgreedGas,
  type AgreementReport,
  agreedContracts,
  agreeOnBlock,
  agreeOnEach,
  agreeOnGas,
  agreeOnHead,
  type ChainHead,
  type ContractTally,
  createAgreedClient,
  feeHistoryRequest,
  type HeadChain,
  multicallRequest,
  observeHead,
  type PollingClient,
  type PoolMirror,
} from '@causeway/families'
import { dearerStateOf, type EthereumFeeFacts, EthereumFees, gasUnits } from '@causeway/families/rules'
import type { ChainPlan } from '../plan.ts'
import type { AgreedHead, AgreedKind, ChainReading, ChainSource, FeeReading } from './chainReading.ts'
import { type ContractReads, type DataFees, planContractReads } from './contractReads.ts'
import type { UnitsMeter } from './unitsMeter.ts'

export type ChainSourceOptions = {
  readonly plan: ChainPlan
  readonly client: PollingClient
  readonly fillWallet?: Hex
  /** Makes the mirror of the chain's pools over a client whose answers are agreed; absent without pools. */
  readonly mirrorOf?: (client: AgreedClient) => PoolMirror
  /** Measures gas units of known transactions; absent where the units that the release assumes are right. */
  readonly meter?: UnitsMeter
  readonly batchTimeoutMs: number
  /** Milliseconds that a refresh waits for the mirror, whose work continues after that. */
  readonly poolsTimeoutMs: number
  /** Called with each count of votes, once every endpoint has answered or failed. */
  readonly onReport?: (kind: AgreedKind, report: AgreementReport) => void
  /** Unix milliseconds. */
  readonly now: () => number
}

/** Least time between two readings of data fees. */
const dataFeeIntervalMs = 5_000

/** Number of successive failures of the mirror after which the chain is published without pools. */
const mirrorFailuresMax = 3

/**
 * Part of `headMaxAgeMs` for which undecided contract answers of a head wait for an endpoint that is a block behind. It
 * is longer than blocks take to spread. Meanwhile the reading of the head before stays published.
 */
const behindShare = 1 / 4

/** A reading without its pools. */
type State = Omit<ChainReading, keyof PoolFacts>

/** A block that enough endpoints have shown, and whose state too few have reported so far. */
type AwaitedBlock = { readonly number: bigint; readonly sinceMs: number }

/**
 * Reads one chain by agreement: first the head that enough endpoints share, then everything at its hash. Data of one
 * block never changes, so an unchanged head costs one call per endpoint.
 *
 * If too few endpoints report a head's state, the same head is asked for again, and not the next one. Otherwise a lying
 * endpoint could stop the chain: it would show every new head together with the fastest honest endpoint, and then
 * withhold or dispute the state, always while another honest endpoint is a block behind. An endpoint that is behind
 * reaches the awaited block in time.
 * @source rule Q-178
 */
export function createChainSource(options: ChainSourceOptions): ChainSource {
  const { client, mirrorOf, batchTimeoutMs, poolsTimeoutMs, onReport, now } = options
  const { headMaxAgeMs, blockTimeMs } = options.plan.config
  /**
   * Blocks after the last reading that are read at once. A head farther ahead may wait, because reading each
   * of so many blocks would ask too often. Where a block takes less than half of `paceMs`, every new head may
   * wait.
   */
  const promptBlocks = paceMs({ blockTimeMs }) > 2 * blockTimeMs ? 0n : 1n
  const reportOn = (kind: AgreedKind) => (report: AgreementReport) => onReport?.(kind, report)
  const mirror = mirrorOf?.(createAgreedClient(client, { onReport: reportOn('pools') }))
  const readPools = mirror === undefined ? async () => noPools : keepPools(mirror, poolsTimeoutMs)
  const readState = createStateReader(options, reportOn('state'))
  /** Heads whose state was read, the newest last. */
  let heads: HeadChain | undefined
  let last: ChainReading | undefined
  /** Time of the last reading of a state. */
  let readAtMs = Number.NEGATIVE_INFINITY
  /** Set from the time a new head is shown until everything was read at it, or it is too old. */
  let awaited: AwaitedBlock | undefined
  /** The head that was shown last, read or not. */
  let agreed: AgreedHead | undefined

  const observe = (limits: { signal: AbortSignal; timeoutMs: number }): Promise<ChainHead> => {
    // A head older than `headMaxAgeMs` cannot be priced from, so it is no longer awaited.
    if (awaited !== undefined && now() - awaited.sinceMs > headMaxAgeMs) awaited = undefined
    return awaited === undefined
      ? agreeOnHead(client, { ...limits, onReport: reportOn('head') })
      : agreeOnBlock(client, awaited.number, limits)
  }

  /** True if a reading stays for this head. If its pools or fees are missing it never does. */
  const staysFor = (reading: ChainReading, head: ChainHead): boolean => {
    if (!reading.poolsLive || reading.fees.shown === undefined) return false
    if (reading.head.hash === head.hash) return true
    // If blocks come so fast that reading each would ask too often, it stays for `leastBetweenReadsMs`.
    const isFarAhead = head.number > reading.head.number + promptBlocks
    return isFarAhead && now() - readAtMs < leastBetweenReadsMs
  }

  return {
    async read(signal) {
      const limits = { signal, timeoutMs: batchTimeoutMs }
      const observed = await observe(limits)
      const { chain, change } = observeHead(heads, observed)
      // Endpoints that are behind do not take back a newer head that enough endpoints have shown.
      if (change === 'behind' && last !== undefined) return last
      const head = chain.head
      agreed = { number: head.number, hash: head.hash }
      if (last !== undefined && staysFor(last, head)) return last
      awaited ??= { number: head.number, sinceMs: now() }
      const mayWait = now() - awaited.sinceMs < headMaxAgeMs * behindShare
      const state = await readState(head, { ...limits, undecided: mayWait ? 'wait' : 'refuse' })
      // Set only after the state was read: a failed read repeats the observation of this head.
      heads = chain
      readAtMs = now()
      last = { ...state, ...(await readPools(head, signal)) }
      awaited = undefined
      return last
    },
    agreedHead: () => agreed,
  }
}

type StateLimits = { readonly signal: AbortSignal; readonly timeoutMs: number } & Pick<
  ContractTally,
  'undecided'
>

/** Reads everything but pools at one head: fees and contract calls, each by agreement. */
function createStateReader(
  { plan, client, fillWallet, meter, now }: ChainSourceOptions,
  onReport: (report: AgreementReport) => void,
): (head: ChainHead, limits: StateLimits) => Promise<State> {
  const { feeModel, multicall3 } = contractChain(plan.config)
  const { reading: readContracts, isDataFeeGas }: ContractReads = planContractReads(plan, fillWallet)
  let cached: { readonly dataFees: DataFees; readonly readAtMs: number } | undefined

  return async (head, { undecided, ...limits }) => {
    const { number, hash, timestampSeconds } = head
    const readAtMs = now()
    const withDataFees = cached === undefined || readAtMs - cached.readAtMs >= dataFeeIntervalMs
    const contracts = readContracts({ withDataFees })
    const [{ verdicts, votes }, shapes] = await Promise.all([
      agreeOnEach(
        client,
        [
          feeHistoryRequest(feeModel, number),
          multicallRequest({ multicall3, calls: contracts.calls, block: { hash } }),
        ],
        { ...limits, onReport },
      ),
      meter?.(),
    ])
    // Verdicts stand in the order of the requests: fee history, then contracts.
    const gas = await agreeOnGas(client, { model: feeModel, head, verdict: verdicts[0] }, limits)
    const answer = { verdict: verdicts[1], votes: votes[1] ?? [], undecided }
    const answers = agreedContracts(client, answer, contracts.calls.length)
    const { dataFees = cached?.dataFees, ...facts } = contracts.read(answers)
    if (dataFees === undefined) throw new Error('the first refresh asks for data fees')
    if (withDataFees) cached = { dataFees, readAtMs }
    // The surcharge where the network's new state takes more gas than the release assumes.
    const dearer = dearerStateOf(shapes ?? [], feeModel.unitsTimesMax)
    return {
      head: { number, hash, timestampSeconds },
      fees: feeReading(gas, { ...dataFees, isDataFeeGas, dearer }),
      ...(shapes !== undefined && { shapes }),
      ...facts,
      contractsAt: { block: number, timestampSeconds },
    }
  }
}

/**
 * Fees of a refresh. A gas price that the chain's own last blocks do not support is refused, however many endpoints
 * show it. @source rule Q-163
 */
export function feeReading(
  gas: AgreedGas | undefined,
  facts: DataFees & Pick<EthereumFeeFacts, 'isDataFeeGas' | 'dearer'>,
): FeeReading {
  if (gas === undefined) return { fees: { reason: 'gas_disputed' }, shown: undefined }
  const { price, ceilingWei, tipFrom } = gas
  const { expectedWei } = price
  const isSupported = expectedWei <= ceilingWei
  return {
    fees: isSupported
      ? new EthereumFees({ gasPrice: price, gasUnits, ...facts })
      : {
          reason: 'gas_above_ceiling',
          charge: 'Gas',
          cost: `costs ${expectedWei} wei`,
          ceiling: `${ceilingWei} wei that its last blocks give`,
        },
    shown: {
      expectedWei: expectedWei.toString(),
      maxFeePerGasWei: price.maxFeePerGasWei.toString(),
      maxPriorityFeePerGasWei: price.maxPriorityFeePerGasWei.toString(),
      ceilingWei: ceilingWei.toString(),
      tipFrom,
    },
  }
}

type PoolFacts = Pick<ChainReading, 'pools' | 'poolsLive' | 'poolProblems'>

const noPools: PoolFacts = { pools: [], poolsLive: true, poolProblems: new Map() }

/**
 * Reads pools at each head. A single failure fails the whole refresh, so that the last complete reading
 * stays. From `mirrorFailuresMax` failures in a row on, and until the mirror's first success, the chain is
 * published without pools, so that gas and prices do not wait for them.
 */
function keepPools(
  mirror: PoolMirror,
  timeoutMs: number,
): (head: ChainHead, signal: AbortSignal) => Promise<PoolFacts> {
  let wasLive = false
  let failures = 0
  return async (head, signal) => {
    const deadline = startDeadline(signal, timeoutMs)
    try {
      const pools = await mirror.refresh(head, deadline.signal)
      wasLive = true
      failures = 0
      return { pools, poolsLive: true, poolProblems: mirror.problems() }
    } catch (error) {
      failures += 1
      if (signal.aborted || (wasLive && failures < mirrorFailuresMax)) throw error
      return { pools: [], poolsLive: false, poolProblems: mirror.problems() }
    } finally {
      deadline.release()
    }
  }
}
