import { minBigint } from '@causeway/core'
import type { KnownState, OriginRoute } from '../../../rules/quotingFamily.ts'

export const maxUint256 = 2n ** 256n - 1n

/**
 * The allowance that is needed before the route's first transaction; undefined where what is allowed covers it and what other
 * open quotes take of that. @source Q-53
 */
export function neededApproval(
  { amountInMax }: Pick<OriginRoute, 'amountInMax'>,
  { allowance, openSpending = 0n }: Pick<KnownState, 'allowance' | 'openSpending'>,
): bigint | undefined {
  const all = minBigint(amountInMax + openSpending, maxUint256)
  return allowance !== undefined && allowance >= all ? undefined : all
}
