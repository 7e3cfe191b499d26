// Costs of a price and a quote that no slower machine makes larger: `npm test` refuses dearer ones, this tells how dear they are.
import { keptKiB, measureRequestCosts } from '../apps/quote-api/test/serviceSupport/requestCost.ts'
import type { BenchRow } from './row.ts'

/** State of a user, and trials of his deposit and of his payment. */
const callsOfNewUser = 3

export async function benchRequestCosts(): Promise<readonly BenchRow[]> {
  const { priceKiB, quoteKiB, quoteCalls, callsPerUserAndBlock } = await measureRequestCosts()
  const rowOf = (id: string, name: string, measured: number, most: number): BenchRow => ({
    id: `cost-${id}`,
    name,
    value: measured.toFixed(2),
    limit: `<= ${most}`,
    ratio: measured / most,
    goal: 1,
    atLeast: false,
  })
  const kibOf = 'KiB allocated beyond constant bytes, unoptimised code: one'
  return [
    rowOf('price', `${kibOf} price`, priceKiB, keptKiB.price),
    rowOf('quote', `${kibOf} quote`, quoteKiB, keptKiB.quote),
    rowOf('calls', "calls to chains for a new user's quote", quoteCalls.first, callsOfNewUser),
    rowOf('calls-block', 'calls to chains per block and user who asks again', callsPerUserAndBlock, 0.25),
  ]
}
