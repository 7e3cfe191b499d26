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
  createAgreedClient,
  feeHistoryRequest,
  type HeadChain,
  multicallRequest,
  observeHead,
  type PollingClient,
  type PoolMirror,
  type SaidOfContracts,
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
  /** Absent on a chain without pools; its reads are agreed. */
  readonly mirrorOf?: (client: AgreedClient) => PoolMirror
  /** Tells what known transactions take; absent where they take what the release counts on. */
  readonly meter?: UnitsMeter
  readonly batchTimeoutMs: number
  /** Milliseconds that a refresh waits for the mirror, whose work continues after that. */
  readonly poolsTimeoutMs: number
  /** Told of each count of votes, once every endpoint has spoken. */
  readonly onReport?: (kind: AgreedKind, report: AgreementReport) => void
  /** Unix milliseconds. */
  readonly now: () => number
}

/** @source pricing-engine.md 6.1 */
const dataFeeIntervalMs = 5_000

/** Number of successive failures of the mirror after which the chain is published without pools. */
const mirrorFailuresMax = 3

/**
 * The part of a head's greatest age in which an endpoint that is a block behind may still decide what contracts
 * said. Longer than blocks take to spread; what is published meanwhile is the head before.
 */
const behindShare = 1 / 4

type State = Omit<ChainReading, keyof PoolFacts>

/** A block that enough endpoints showed and too few told the state of, and since when that is so. */
type AwaitedBlock = { readonly number: bigint; readonly sinceMs: number }

/**
 * Reads one chain by agreement: first the head that enough endpoints share, then everything at its hash. Data of one
 * block never changes, so an unchanged head costs one call per endpoint.
 *
 * If too few endpoints report a head's state, the same head is asked for again, and not the next one. Otherwise a liar
 * that shows every new head with the fastest honest endpoint, and withholds or disputes its state, could stop the chain
 * or a part of it while another honest endpoint is a block behind. Endpoints that are behind reach the block that is
 * waited for.
 * @source rule Q-178
 */
export function createChainSource(options: ChainSourceOptions): ChainSource {
  const { client, mirrorOf, batchTimeoutMs, poolsTimeoutMs, onReport, now } = options
  const { headMaxAgeMs, blockTimeMs } = options.plan.config
  /** As many new blocks are read when they are there; none where the file says that they come fast. */
  const soonBlocks = paceMs({ blockTimeMs }) > 2 * blockTimeMs ? 0n : 1n
  const reportOn = (kind: AgreedKind) => (report: AgreementReport) => onReport?.(kind, report)
  const mirror = mirrorOf?.(createAgreedClient(client, { onReport: reportOn('pools') }))
  const readPools = mirror === undefined ? async () => noPools : keepPools(mirror, poolsTimeoutMs)
  const readState = createStateReader(options, reportOn('state'))
  let heads: HeadChain | undefined
  let last: ChainReading | undefined
  let readAtMs = Number.NEGATIVE_INFINITY
  let awaited: AwaitedBlock | undefined
  let agreed: AgreedHead | undefined

  const observe = (limits: { signal: AbortSignal; timeoutMs: number }): Promise<ChainHead> => {
    // Older than that, nothing could be priced from it.
    if (awaited !== undefined && now() - awaited.sinceMs > headMaxAgeMs) awaited = undefined
    return awaited === undefined
      ? agreeOnHead(client, { ...limits, onReport: reportOn('head') })
      : agreeOnBlock(client, awaited.number, limits)
  }

  return {
    async read(signal) {
      const limits = { signal, timeoutMs: batchTimeoutMs }
      const observed = await observe(limits)
      const { chain, change } = observeHead(heads, observed)
      // Enough endpoints have shown the newer head: that some do not have it yet takes nothing back.
      if (change === 'behind' && last !== undefined) return last
      const head = chain.head
      agreed = { number: head.number, hash: head.hash }
      const isKnown = last?.head.hash === head.hash
      const isFast = last !== undefined && head.number > last.head.number + soonBlocks
      const mayStay = isKnown || (isFast && now() - readAtMs < leastBetweenReadsMs)
      if (mayStay && last?.poolsLive === true && last.fees.shown !== undefined) return last
      awaited ??= { number: head.number, sinceMs: now() }
      const isYoung = now() - awaited.sinceMs < headMaxAgeMs * behindShare
      const state = await readState(head, { ...limits, undecided: isYoung ? 'wait' : 'refuse' })
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
  SaidOfContracts,
  'undecided'
>

/** Everything but pools, at one head. */
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
    const gas = await agreeOnGas(client, { model: feeModel, head, verdict: verdicts[0] }, limits)
    const answer = { verdict: verdicts[1], votes: votes[1] ?? [], undecided }
    const answers = agreedContracts(client, answer, contracts.calls.length)
    const { dataFees = cached?.dataFees, ...facts } = contracts.read(answers)
    if (dataFees === undefined) throw new Error('the first refresh asks for data fees')
    if (withDataFees) cached = { dataFees, readAtMs }
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
  const isBorneOut = expectedWei <= ceilingWei
  return {
    fees: isBorneOut
      ? new EthereumFees({ gasPrice: price, gasUnits, ...facts })
      : {
          ...{ reason: 'gas_above_ceiling', charge: 'Gas' },
          ...{ cost: `costs ${expectedWei} wei`, ceiling: `${ceilingWei} wei that its last blocks give` },
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
 * Pools as of each head. A passing fault fails the refresh, which keeps the last complete reading; a
 * lasting one, or a first load that takes long, must not keep gas and prices back.
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
