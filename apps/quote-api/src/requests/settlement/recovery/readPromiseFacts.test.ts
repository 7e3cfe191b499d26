import { expect, test } from 'vitest'
import { promiseObstacle } from './promiseRule.ts'
import { readPromiseFacts } from './readPromiseFacts.ts'

const deadlineSeconds = 1_000
/** Later than any payment of the order could become final. */
const finalSeconds = 1_000_000

/** Facts of an order on a chain whose contracts record no payment, by the state of its fill's work item. */
function factsOf(state: string) {
  const item = { kind: 'fill', subject: '', state, fill_contract: null, deadline: BigInt(deadlineSeconds) }
  const database = { query: async (sql: string) => (sql.includes('from work_item') ? [item] : []) }
  const config = { blockTimeMs: 1_000, pinPolicy: [{ confirmations: 1 }] }
  const chain = { chain: { key: 'lighter', config }, payers: ['7'], finalSeconds: async () => finalSeconds }
  const context = { database, chains: new Map([[1, chain]]), hub: undefined }
  const request = { requestId: '0x01', orderId: '0x02', deadlineSeconds, destinationChainId: 1 }
  // CAST: nothing else is read of a chain without records, nor of an order without deposits.
  const [of, asked] = [context as never, request as never]
  return readPromiseFacts(of, asked, new AbortController().signal)
}

test.each([
  ['done', 'PAID_OUT'],
  ['cancelled', undefined],
])('P-70: on a chain without records a fill that is %s counts as such for good', async (state, obstacle) => {
  const held = { id: 1n, isFinal: true, isSettled: false, isBound: true, isRefunded: false, refunds: [] }
  expect(promiseObstacle({ ...(await factsOf(state)), deposits: [held] })).toBe(obstacle)
})
