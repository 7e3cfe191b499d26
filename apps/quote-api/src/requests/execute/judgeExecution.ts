import { DomainError, type Hex } from '@causeway/core'
import type { SimulatedCalls } from '@causeway/families'
import type { RequestStatus } from '../status/requestProgress.ts'

/** Messages of the reasons why calls are not submitted, most with their remedy. */
const reasons = {
  not_quoted: 'The request is not executed by a deposit of its own; quote with originGasOverhead.',
  no_gas: 'The quote charges no origin gas; quote with originGasOverhead above 0.',
  not_sponsored: 'Nobody sponsors the request; send subsidizeFees with the quote, not here.',
  other_key: 'The request was quoted for another API key.',
  other_chain: 'The calls are for another chain than the deposit.',
  expired: 'The quote has expired; quote again.',
  deposited: 'The request has its deposit already.',
  taken: 'Other calls were taken for the request; quote again.',
  value: 'No value is sent along: native coin comes from the account that runs the calls.',
  own_contract: 'Calls go to the account that signed them, or to its entry point.',
  authorization: 'The authorization is not of an account with this nonce on this chain.',
  reverted: 'The calls fail on the newest state.',
  no_deposit: 'The calls make no deposit of the order: send all transactions of the quote, in order.',
  gas: 'The calls use more gas than was quoted; quote with a higher originGasOverhead.',
  budget: 'Too many executions of this key failed in the last hour.',
} as const
export type ExecutionRefusal = keyof typeof reasons

/** Calls that are not submitted, with the reason and its numbers in `data`. @source rule Q-198 */
export class ExecutionRefusedError extends DomainError {
  readonly code = 'EXECUTION_REFUSED'
  readonly kind = 'invalid_request'

  constructor(reason: ExecutionRefusal, data: Readonly<Record<string, string | number>> = {}) {
    super(reasons[reason], { data: { reason, ...data } })
  }
}

/** Calls of a smart account that a caller asks the solver to submit. Addresses in lower case. */
export type Calls = {
  readonly chainId: number
  readonly to: Hex
  readonly data: Hex
  /** Native coin to send along; must be 0. */
  readonly valueWei: bigint
  /** True if the caller asks that a sponsor pays. */
  readonly isSponsored: boolean
}

/** The quoted request whose deposit the calls are to make. */
export type ExecutedRequest = {
  readonly orderId: Hex | undefined
  readonly originChainId: number
  readonly status: RequestStatus
  /** True if the user executes alone, signs a permit, or pays through a deposit address. */
  readonly isRelayedOtherwise: boolean
  readonly apiKeyId: string | undefined
  /** Gas units that the quote charges for the account's own code; 0 if it charges no origin gas at all. */
  readonly originGasOverhead: bigint
  readonly debitMicroUsd: bigint
  readonly expiresAtSeconds: number
}

/** Seconds that calls need to be mined before the quote expires. */
const submitSecondsMin = 15
/** Failed executions of one key per hour, since accounts that fail on purpose waste the solver's gas. */
export const failuresPerHourMax = 20

/**
 * First check of calls, before any chain is asked. Pure.
 * @param facts.keyId API key of the caller
 * @param facts.ownContracts in lower case; calls must not reach them in the solver's name
 * @returns undefined if they pass
 */
export function judgeRequest(
  request: ExecutedRequest,
  calls: Calls,
  facts: {
    readonly keyId: string
    readonly nowSeconds: number
    readonly ownContracts: ReadonlySet<string>
    readonly failuresLastHour: number
  },
): ExecutionRefusal | undefined {
  const { keyId, nowSeconds, ownContracts, failuresLastHour } = facts
  if (calls.valueWei !== 0n) return 'value'
  if (ownContracts.has(calls.to)) return 'own_contract'
  if (request.orderId === undefined || request.isRelayedOtherwise) return 'not_quoted'
  if (request.apiKeyId !== undefined && request.apiKeyId !== keyId) return 'other_key'
  if (request.originChainId !== calls.chainId) return 'other_chain'
  if (request.originGasOverhead === 0n) return 'no_gas'
  if (calls.isSponsored && request.debitMicroUsd === 0n) return 'not_sponsored'
  if (request.status !== 'waiting') return 'deposited'
  if (nowSeconds + submitSecondsMin > request.expiresAtSeconds) return 'expired'
  return failuresLastHour >= failuresPerHourMax ? 'budget' : undefined
}

/** Second check, of a trial: the calls must make the quoted deposit, within the gas that was charged. Pure. */
export function judgeSimulation(
  simulated: SimulatedCalls,
  order: { readonly id: Hex; readonly currency: string; readonly amount: bigint; readonly gasMax: bigint },
): ExecutionRefusal | undefined {
  if (!simulated.succeeds) return 'reverted'
  const hasDeposit = simulated.deposits.some(
    ({ id, currency, amount }) => id === order.id && currency === order.currency && amount >= order.amount,
  )
  if (!hasDeposit) return 'no_deposit'
  return simulated.gas > order.gasMax ? 'gas' : undefined
}
