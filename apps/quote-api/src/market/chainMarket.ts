import {
  type ChainHead,
  decodeAggregate3,
  estimateGasPrice,
  feeHistoryRequest,
  type HeadChain,
  headRequest,
  type JsonRpcClient,
  multicallRequest,
  observeHead,
  type PoolMirror,
  parseFeeHistory,
  parseHead,
  type RpcAnswer,
} from '@causeway/chains'
import { type Hex, startDeadline, UpstreamUnavailableError } from '@causeway/core'
import type { ChainReading, ChainSource } from './chainReading.ts'
import { planContractReads } from './contractReads.ts'
import type { ChainPlan } from './plan.ts'

export type ChainSourceOptions = {
  readonly plan: ChainPlan
  readonly client: JsonRpcClient
  readonly fillWallet?: Hex
  /** Absent on a chain without pools. */
  readonly mirror?: PoolMirror
  readonly batchTimeoutMs: number
  /** How long a refresh waits for the mirror; its work goes on beyond that. */
  readonly poolsTimeoutMs: number
  /** Unix milliseconds. */
  readonly now: () => number
}

/** @source pricing-engine.md 6.1 */
const dataFeeIntervalMs = 5_000

/** How often in a row the mirror may fail before the chain is published without pools. */
const mirrorFailuresMax = 3

/**
 * Reads one chain: one JSON-RPC batch, and the pools only when the head moved.
 * @source design.md 5.4, pricing-engine.md 6.1
 */
export function createChainSource(options: ChainSourceOptions): ChainSource {
  const { plan, client, fillWallet, mirror, batchTimeoutMs, poolsTimeoutMs, now } = options
  const { feeModel, multicall3 } = plan.config
  const readContracts = planContractReads(plan, fillWallet)
  const readPools = mirror === undefined ? async () => noPools : keepPools(mirror, poolsTimeoutMs)
  let heads: HeadChain | undefined
  let fees: { readonly l1DataFeeWei: ChainReading['l1DataFeeWei']; readonly readAtMs: number } | undefined

  return {
    async read(signal) {
      const readAtMs = now()
      const withDataFees = fees === undefined || readAtMs - fees.readAtMs >= dataFeeIntervalMs
      const contracts = readContracts({ withDataFees })
      const requests = [
        headRequest(),
        feeHistoryRequest(feeModel),
        multicallRequest({ multicall3, calls: contracts.calls, block: 'latest' }),
      ]
      const [headAnswer, feeAnswer, contractAnswer] = await client.batch(requests, {
        signal,
        timeoutMs: batchTimeoutMs,
      })
      const head = parseHead(resultOf(headAnswer, plan))
      const { chain, change } = observeHead(heads, head)
      if (change === 'behind') throw unavailable(plan, 'an endpoint is behind')
      heads = chain
      const gasPrice = estimateGasPrice(parseFeeHistory(resultOf(feeAnswer, plan)), feeModel)
      const answers = decodeAggregate3(resultOf(contractAnswer, plan), contracts.calls.length)
      const { l1DataFeeWei = fees?.l1DataFeeWei, ...facts } = contracts.read(answers)
      if (l1DataFeeWei === undefined) throw new Error('the first refresh asks for data fees')
      if (withDataFees) fees = { l1DataFeeWei, readAtMs }
      const { number, hash, timestampSeconds } = head
      return {
        head: { number, hash, timestampSeconds },
        gasPrice,
        ...facts,
        l1DataFeeWei,
        ...(await readPools(head, signal)),
      }
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

function resultOf(answer: RpcAnswer | undefined, plan: ChainPlan): unknown {
  if (answer?.ok === true) return answer.result
  throw unavailable(plan, answer === undefined ? 'no answer' : `node error ${answer.code}`)
}

function unavailable({ chainKey }: ChainPlan, why: string): UpstreamUnavailableError {
  return new UpstreamUnavailableError(`Chain ${chainKey} cannot be read at the moment.`, {
    code: 'RPC_HTTP_ERROR',
    data: { chainId: chainKey },
    cause: new Error(why),
  })
}
