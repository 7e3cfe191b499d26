import type { JsonRpcClient, RpcAnswer } from '@causeway/chains'
import { encodeSignedDeposit, UpstreamUnavailableError } from '@causeway/core'
import type { DepositTrial } from './takePermit.ts'

/** Far above what a deposit takes, and too little for a loop to be felt. */
const gasMax = 1_000_000
const timeoutMs = 3_000

/**
 * Runs the router's call on the newest state, by as many endpoints as a signature needs. The token itself
 * judges signature, nonce, time and balance.
 */
export function createDepositTrial(clientOf: (chainId: number) => JsonRpcClient | undefined): DepositTrial {
  return async (chainId, terms, signature) => {
    const client = clientOf(chainId)
    if (client === undefined) throw new UpstreamUnavailableError(`Chain ${chainId} cannot be read.`)
    const data = encodeSignedDeposit(terms.kind, terms, signature)
    const call = { to: terms.router.contract, data, gas: `0x${gasMax.toString(16)}` }
    const { answers } = await client.agree([{ method: 'eth_call', params: [call, 'latest'] }], {
      timeoutMs,
      // Nodes word their refusals differently; what must agree is yes or no.
      project: passes,
    })
    return passes(answers)
  }
}

function passes([answer]: readonly RpcAnswer[]): boolean {
  return answer?.ok === true
}
