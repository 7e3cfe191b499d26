import { minBigint } from '@causeway/core'
import type { OriginRoute } from '../../../rules/originRoute.ts'
import type { KnownState } from '../../../rules/plannedTransaction.ts'

export const maxUint256 = 2n ** 256n - 1n

/**
 * The allowance that the user must set before the route's first transaction: this route's input and that of other open
 * quotes. Undefined if the current allowance covers both; an unknown one covers nothing. @source Q-53
 */
export function neededApproval(
  { amountInMax }: Pick<OriginRoute, 'amountInMax'>,
  { allowance, openSpending = 0n }: Pick<KnownState, 'allowance' | 'openSpending'>,
): bigint | undefined {
  const neededAllowance = minBigint(amountInMax + openSpending, maxUint256)
  return allowance !== undefined && allowance >= neededAllowance ? undefined : neededAllowance
}
