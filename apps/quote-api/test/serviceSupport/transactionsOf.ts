import type { QuoteAnswer } from './callService.ts'

/** The transactions that a quote asks its user to send, in order, each with the id of its step. */
export function transactionsOf({ steps }: Pick<QuoteAnswer, 'steps'>) {
  return steps.flatMap((step) =>
    step.kind === 'transaction' ? step.items.map(({ data }) => ({ id: step.id, ...data })) : [],
  )
}
