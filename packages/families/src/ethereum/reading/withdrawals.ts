import type { Hex, WithdrawalStatus } from '@causeway/core'
import { decodeEvmWithdrawal, evmWithdrawalId, type WithdrawalCall } from '../rules/withdrawal.ts'
import { withdrawalTransfer } from '../rules/withdrawalTransfer.ts'
import type { EvmLog } from './answers.ts'
import { readRelayCallExecuted } from './events.ts'
import type { FinalHeight, FinalityRule } from './finality.ts'

/** Contents of the withdrawal bytes in a request for an attestation. Hex in lower case. */
export type WithdrawalTerms = {
  /** Key of the depository's `callRequests`. */
  readonly withdrawalId: Hex
  readonly expirationSeconds: bigint
  /** Exactly one. */
  readonly calls: readonly WithdrawalCall[]
  readonly currency: string
  readonly amount: bigint
  readonly recipient: string
}

const callRequestsSelector = '0xd52bfcc8'

/** @throws InvalidWithdrawalError @source rule P-112 */
export function readWithdrawalTerms(withdrawal: Hex): WithdrawalTerms {
  const request = decodeEvmWithdrawal(withdrawal)
  const { currency, amount, recipient } = withdrawalTransfer(request)
  const withdrawalId = evmWithdrawalId(request)
  return {
    withdrawalId,
    expirationSeconds: request.expiration,
    calls: request.calls,
    currency,
    amount,
    recipient,
  }
}

/** Calldata of `callRequests(bytes32)`. */
export function callRequestsData(withdrawalId: Hex): Hex {
  return `${callRequestsSelector}${withdrawalId.slice(2)}`
}

/**
 * The state of a withdrawal at the final height. A request may be executed up to and including the second of its
 * expiration, so it has expired only if a final block is later. The head's time must also be later by the rule's
 * seconds, so that one block with a timestamp far ahead does not decide. @source rule F-125
 */
export function withdrawalStatus(
  { expirationSeconds }: Pick<WithdrawalTerms, 'expirationSeconds'>,
  { rule, pin }: { readonly rule: FinalityRule; readonly pin: FinalHeight },
  state: { readonly isUsed: boolean; readonly finalBlockSeconds: bigint },
): WithdrawalStatus {
  if (state.isUsed) return 'executed'
  const hasExpired =
    state.finalBlockSeconds > expirationSeconds && pin.headSeconds - rule.seconds > expirationSeconds
  return hasExpired ? 'expired' : 'pending'
}

/**
 * True if these logs prove that the paying call of the withdrawal succeeded. That the request was used is no proof: a
 * call that may fail can have left the money in the depository. @source rule F-125
 */
export function provesExecution(
  logs: readonly EvmLog[],
  { withdrawalId, calls }: WithdrawalTerms,
  depository: string,
): boolean {
  return logs.some((log) => {
    const call = log.address === depository ? readRelayCallExecuted(log) : undefined
    if (call === undefined || call.id !== withdrawalId) return false
    return calls.some(({ to, data, value }) => call.to === to && call.data === data && call.value === value)
  })
}
