import type { Logger } from 'pino'
import type { Handled } from '../filling/handled.ts'
import { newest } from '../wallet/signedRecord.ts'
import type { WorkItem } from '../work/workItems.ts'

/** Logs the outcome of one look at a work item. */
export function logHandled(
  logger: Logger,
  { id, kind, requestId, orderId }: WorkItem,
  { handled, traceId }: { readonly handled: Handled; readonly traceId: string | undefined },
): void {
  const fields = { event: `item_${handled.kind}`, item: id, kind, requestId, orderId, traceId }
  if (handled.kind === 'signed') {
    const { transactions, chainId } = handled.record
    const transactionHash = newest<{ readonly hash: string }>(transactions)?.hash
    logger.info({ ...fields, chainId, transactionHash }, `${kind} is signed`)
    return
  }
  if (handled.kind === 'entered') {
    logger.info({ ...fields, key: handled.key }, `${kind} is entered on the hub`)
    return
  }
  const { reason } = handled
  logger[handled.kind === 'refused' ? 'warn' : 'debug'](
    { ...fields, reason },
    `${kind} ${id}: ${handled.kind}, ${reason}`,
  )
}

/** Makes a function that logs settings in which quote-api and this solver differ, each time that these change. */
export function logDifferences(logger: Logger): (differences: readonly string[]) => void {
  let lastText = ''
  return (differences) => {
    const text = differences.join('; ')
    if (text === lastText) return
    lastText = text
    if (text === '') logger.info({ event: 'terms_agree' }, 'quote-api and this solver agree')
    else
      logger.error(
        { event: 'terms_differ', differences },
        `quote-api and this solver differ, and nothing is sold that this solver would refuse: ${text}`,
      )
  }
}
