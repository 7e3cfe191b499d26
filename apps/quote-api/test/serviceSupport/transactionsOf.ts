import type { QuoteAnswer } from './callService.ts'

/**
 * The transactions that a quote of an EVM origin asks its user to send, in order, each with the id of its step.
 * @throws Error for steps of another family
 */
export function transactionsOf({ steps }: Pick<QuoteAnswer, 'steps'>) {
  return steps.flatMap((step) => {
    if (step.kind !== 'transaction') return []
    return step.items.map(({ data }) => {
      if (!('gas' in data)) throw new Error(`${step.id} is no transaction of an EVM chain`)
      return { id: step.id, ...data }
    })
  })
}
