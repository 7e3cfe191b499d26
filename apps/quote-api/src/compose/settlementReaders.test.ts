import { expect, test } from 'vitest'
import { createOrderSignatures } from '../requests/orders/orderSignatures.ts'
import { openRecoveries } from './settlementReaders.ts'

test('P-70: no promise is signed for an order whose solver chain is not configured any more, and the error names it', async () => {
  const solver = `0x${'50'.repeat(20)}` as const
  const key = {
    address: solver,
    async sign() {
      throw new Error('nothing is signed')
    },
  }
  const signatures = createOrderSignatures({ database: { query: async () => [] }, key })
  const chains = { environment: 'local', hub: undefined, chains: new Map() } as const
  // CAST: nothing of settlement is read.
  const { signPromise } = openRecoveries({ chains, signatures }, {} as never)
  const id = `0x${'1d'.repeat(32)}` as const
  // CAST: of an order only its solver is read.
  const order = { solver, solverChainId: 'left-chain' } as Parameters<typeof signPromise>[0]['order']
  await expect(signPromise({ requestId: id, orderId: id, order })).rejects.toThrow(
    'chain left-chain of the solver is not configured',
  )
})
