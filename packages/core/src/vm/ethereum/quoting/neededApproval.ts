import { minBigint } from '../../../money/mulDiv.ts'
import type { KnownState, OriginRoute } from '../../quotingFamily.ts'

export const maxUint256 = 2n ** 256n - 1n

/**
 * What has to be allowed before the route's first transaction; undefined where what is allowed covers it and what other
 * open quotes take. A token that changes its allowance from zero alone gets no more than its own amount there: what is
 * left for another quote would fail that quote's own approval.
 * @source
 */
export function neededApproval(
  { currencyIn, amountInMax }: Pick<OriginRoute, 'currencyIn' | 'amountInMax'>,
  { allowance, openSpending = 0n }: Pick<KnownState, 'allowance' | 'openSpending'>,
): bigint | undefined {
  const all = minBigint(amountInMax + openSpending, maxUint256)
  if (allowance !== undefined && allowance >= all) return undefined
  return currencyIn.resetsAllowance && allowance === 0n ? amountInMax : all
}
