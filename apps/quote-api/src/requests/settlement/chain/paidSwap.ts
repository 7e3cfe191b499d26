import type { Hex } from '@causeway/core'
import type { PaidSwap } from '@causeway/families'
import type { QuotedAmounts } from '../../history/quotedAmounts.ts'

/** A swap as it was quoted to one who executes it alone. */
export type QuotedSwap = {
  readonly requestId: Hex
  readonly recipient: string
  readonly quoted: Pick<
    QuotedAmounts,
    'operation' | 'originCurrency' | 'destinationCurrency' | 'amountOutMin'
  >
}

/**
 * The payment that is what was quoted: the whole output, in the quoted currencies, to the quoted recipient. Who sent
 * it does not matter, since the recipient has his money. Pure.
 * @source rule Q-201
 */
export function findPaidSwap(
  { requestId, recipient, quoted }: QuotedSwap,
  paid: readonly PaidSwap[],
): PaidSwap | undefined {
  if (quoted.operation !== 'swap') return undefined
  return paid.find(
    (swap) =>
      swap.requestId === requestId &&
      swap.recipient === recipient.toLowerCase() &&
      swap.tokenIn === quoted.originCurrency.toLowerCase() &&
      swap.tokenOut === quoted.destinationCurrency.toLowerCase() &&
      swap.amountOut >= quoted.amountOutMin,
  )
}
