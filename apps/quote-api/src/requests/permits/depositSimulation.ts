import {
  decodeAggregate3,
  encodeAggregate3,
  type JsonRpcClient,
  MalformedAnswerError,
  type RpcAnswer,
} from '@causeway/chains'
import { encodeSignedDeposit, type Hex, UpstreamUnavailableError } from '@causeway/core'
import type { SimulateDeposit } from './takePermit.ts'

/** Far above what a deposit takes, and too little for a loop to be felt. */
const gasMax = 1_000_000
const timeoutMs = 3_000

/**
 * Runs the router's call on the newest state, by as many endpoints as a signature needs. The token itself
 * judges signature, nonce, time and balance. It runs inside a multicall, so that a failure of the call is
 * told apart from one of the node; anybody may submit it, so it matters to nobody who does.
 */
export function createDepositSimulation(
  chainOf: (chainId: number) => { readonly client: JsonRpcClient; readonly multicall3: Hex } | undefined,
): SimulateDeposit {
  return async (chainId, terms, signature) => {
    const chain = chainOf(chainId)
    if (chain === undefined) throw unreadable(chainId)
    const callData = encodeSignedDeposit(terms.kind, terms, signature)
    const data = encodeAggregate3([{ target: terms.router.contract, callData }])
    const call = { to: chain.multicall3, data, gas: `0x${gasMax.toString(16)}` }
    const { answers } = await chain.client.agree([{ method: 'eth_call', params: [call, 'latest'] }], {
      timeoutMs,
      project: outcomeOf,
    })
    const outcome = outcomeOf(answers)
    if (outcome === 'no answer') throw unreadable(chainId)
    return outcome === 'passes'
  }
}

function outcomeOf([answer]: readonly RpcAnswer[]): 'passes' | 'fails' | 'no answer' {
  if (answer?.ok !== true) return 'no answer'
  try {
    return decodeAggregate3(answer.result, 1)[0]?.success === true ? 'passes' : 'fails'
  } catch (error) {
    if (error instanceof MalformedAnswerError) return 'no answer'
    throw error
  }
}

function unreadable(chainId: number): UpstreamUnavailableError {
  return new UpstreamUnavailableError(`Chain ${chainId} cannot be read at the moment.`)
}
