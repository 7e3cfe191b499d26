import { type Hex, UpstreamUnavailableError } from '@causeway/core'
import { parseBytes, type RpcAnswer, unlessUnreadable } from '@causeway/rpc'
import type { PermitTerms } from '../../rules/permitTerms.ts'
import type { PermitTrial, SignedDepositsFamily } from '../../shared/signedDeposits.ts'
import { isExecutionFailure } from '../agreement/comparableAnswer.ts'
import { readUintResult } from '../contracts/abiReader.ts'
import { balanceOfCall } from '../contracts/erc20Calls.ts'
import { decodeAggregate3, encodeAggregate3 } from '../contracts/multicall.ts'
import { encodePermit } from '../rules/permit.ts'

/** Far above the gas of a deposit, and low enough to end an endless loop quickly. */
const gasMax = 2_000_000
const timeoutMs = 3_000

/**
 * Simulates the deposit by a signed permit on the newest state. As many endpoints must agree as for an attestation. The
 * token itself checks signature, nonce, time and balance. A deposit that anybody may submit runs inside a multicall, so
 * that a revert differs from an error of the node; else it runs from the account that may submit it.
 */
export async function tryPermit(
  { client, chainId, multicall3 }: Parameters<SignedDepositsFamily>[0],
  terms: PermitTerms,
  signature: Hex,
): Promise<PermitTrial> {
  const { to, data: callData, from } = encodePermit(terms, signature)
  const gas = `0x${gasMax.toString(16)}`
  const deposit =
    from === undefined
      ? { to: multicall3, data: encodeAggregate3([{ target: to, callData }]), gas }
      : { from, to, data: callData, gas }
  const { target, callData: data } = balanceOfCall(terms.token, terms.owner)
  const balance = { to: target, data }
  const calls = [deposit, balance].map((call) => ({ method: 'eth_call', params: [call, 'latest'] }))
  const project = (answers: readonly RpcAnswer[]) => outcomeOf(answers, terms, from !== undefined)
  const { answers } = await client.agree(calls, { timeoutMs, project })
  const outcome = project(answers)
  // Endpoints can also agree that none of them ran the call.
  if (outcome === undefined)
    throw new UpstreamUnavailableError(`Chain ${chainId} cannot be read at the moment.`)
  return outcome
}

/**
 * `short`: the deposit fails, and the owner's balance is too low. Undefined if the node could not run the call.
 * @param isDirect true if the deposit was a call of its own, false if it ran inside a multicall
 */
function outcomeOf(
  [deposit, balance]: readonly RpcAnswer[],
  { amount }: PermitTerms,
  isDirect: boolean,
): PermitTrial | undefined {
  return unlessUnreadable(() => {
    const passes = deposit && (isDirect ? passedDirectly(deposit) : passedInside(deposit))
    if (passes === true) return 'passes'
    if (passes === undefined || balance?.ok !== true) return undefined
    return readUintResult(parseBytes(balance.result, 'balanceOf'), 'balanceOf') < amount ? 'short' : 'fails'
  })
}

/** True if the deposit passed inside a multicall; `undefined` for an error of the node. */
function passedInside(answer: RpcAnswer): boolean | undefined {
  return answer.ok ? decodeAggregate3(answer.result, 1)[0]?.success : undefined
}

/** True if the deposit passed as a call of its own; `undefined` for an error of the node. */
function passedDirectly(answer: RpcAnswer): boolean | undefined {
  if (answer.ok) return true
  return isExecutionFailure(answer) ? false : undefined
}
