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
  parseFeeHistory,
  parseHead,
  type RpcAnswer,
} from '@causeway/chains'
import { type Hex, type PoolState, UpstreamUnavailableError } from '@causeway/core'
import type { ChainSource } from './chainReading.ts'
import { planContractReads } from './contractReads.ts'
import type { ChainPlan } from './plan.ts'

/** Keeps copies of a chain's pools. `refresh` returns all of them as of `head`. */
export interface PoolMirror {
  refresh(head: ChainHead, signal: AbortSignal): Promise<readonly PoolState[]>
}

export type ChainSourceOptions = {
  readonly plan: ChainPlan
  readonly client: JsonRpcClient
  readonly fillWallet?: Hex
  /** Absent on a chain without pools. */
  readonly mirror?: PoolMirror
  /** Budget of the batch; the mirror has what the caller's signal leaves. */
  readonly timeoutMs: number
}

/** How often in a row the mirror may fail before the chain is published without pools. */
const mirrorFailuresMax = 3

/**
 * Reads one chain: one JSON-RPC batch, and the pools only when the head moved.
 * @source design.md 5.4, pricing-engine.md 6.1
 */
export function createChainSource(options: ChainSourceOptions): ChainSource {
  const { plan, client, fillWallet, mirror, timeoutMs } = options
  const { feeModel, multicall3 } = plan.config
  const contracts = planContractReads(plan, fillWallet)
  const readPools = mirror === undefined ? async () => [] : keepPools(mirror)
  let heads: HeadChain | undefined

  return {
    async read(signal) {
      const calls = contracts.calls()
      const requests = [
        headRequest(),
        feeHistoryRequest(feeModel),
        multicallRequest({ multicall3, calls, block: 'latest' }),
      ]
      const [headAnswer, feeAnswer, contractAnswer] = await client.batch(requests, { signal, timeoutMs })
      const head = parseHead(resultOf(headAnswer, plan))
      const { chain, change } = observeHead(heads, head)
      if (change === 'behind') throw unavailable(plan, 'an endpoint is behind')
      heads = chain
      const gasPrice = estimateGasPrice(parseFeeHistory(resultOf(feeAnswer, plan)), feeModel)
      const facts = contracts.read(decodeAggregate3(resultOf(contractAnswer, plan), calls.length))
      const { number, hash, timestampSeconds } = head
      return {
        head: { number, hash, timestampSeconds },
        gasPrice,
        ...facts,
        pools: await readPools(head, signal),
      }
    },
  }
}

/** Remembers the pools of the last head, so that a head that stands still costs nothing. */
function keepPools(
  mirror: PoolMirror,
): (head: ChainHead, signal: AbortSignal) => Promise<readonly PoolState[]> {
  let kept: { readonly hash: Hex; readonly pools: readonly PoolState[] } | undefined
  let failures = 0
  return async (head, signal) => {
    if (kept?.hash === head.hash) return kept.pools
    try {
      kept = { hash: head.hash, pools: await mirror.refresh(head, signal) }
      failures = 0
      return kept.pools
    } catch (error) {
      failures += 1
      // A passing fault keeps the last complete reading; a lasting one must not take gas and prices along.
      if (failures < mirrorFailuresMax) throw error
      return []
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
