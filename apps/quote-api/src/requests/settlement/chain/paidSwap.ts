import type { Hex } from '@causeway/core'
import type { PaidSwap } from '@causeway/families'
import type { QuotedAmounts } from '../../history/quotedAmounts.ts'

/** A swap that was quoted to a user who executes it alone. */
export type QuotedSwap = {
  readonly requestId: Hex
  readonly recipient: string
  readonly quoted: Pick<
    QuotedAmounts,
    'operation' | 'originCurrency' | 'destinationCurrency' | 'amountOutMin'
  >
}

/**
 * Finds, among the events of our swap router, the one that pays a quoted swap: at least the minimum output, in the quoted
 * currencies, to the quoted recipient. The sender does not matter, because the recipient has the money. Pure.
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
