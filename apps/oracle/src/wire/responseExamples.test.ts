// Each documented answer is what the service answers to the documented request beside it.
import { type AttestationKindName, attestationKinds, hubAlias, mainNetwork } from '@causeway/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { repeated } from '../../../../packages/core/test/vectors/orders.ts'
import { type TestApp, testApp } from '../../test/fixtures/oracleApp.ts'
import {
  depositB,
  depositFacts,
  depositor,
  depository,
  depositTransaction,
  evidence,
  fillTransaction,
  nativeCurrency,
  paymentFacts,
  refundTransaction,
  world,
} from '../../test/fixtures/world.ts'
import {
  depositsExample,
  fillsExample,
  refundsExample,
  withdrawalFlowExample,
  withdrawalsExample,
} from './requestExamples.ts'
import { responseExamples } from './responseExamples.ts'

const refund = paymentFacts({
  transactionId: refundTransaction,
  transfers: [{ recipient: depositor, currency: nativeCurrency, amount: 990_000_000_000_000_000n }],
  evidence: evidence('ethereum'),
})
const scripts = {
  ethereum: {
    deposits: { [depositTransaction]: depositFacts([depositB]) },
    payments: { [refundTransaction]: refund },
    withdrawals: {
      [withdrawalsExample.withdrawal]: {
        kind: 'withdrawal',
        withdrawalId: '0x42600e31bfa4e2d638f483dd2b087d53328733fceb578fac6db1928b6ce95fcc',
        depository,
        status: 'executed',
        currency: nativeCurrency,
        amount: 1_000n,
        recipient: repeated('22', 20),
        executingTransactionId: withdrawalsExample.transactionId,
        evidence: evidence('ethereum'),
      },
    },
  },
  base: { payments: { [fillTransaction]: paymentFacts() } },
  solana: {
    withdrawRequest: {
      kind: 'withdraw-request',
      depository: '99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2',
      // The two accounts as 32 bytes each.
      currency: 'c6fa7af3bedbad3a3d65f36aabc97431b1bbe4c2d2f6e0e47ca60203452f5d61',
      recipient: '5ca06a33d6036ec8bc1c7431dc53b8ebf26313227c7642fa4704c07d4567746c',
      data: '0x',
    },
  },
} as const

const requests: Record<AttestationKindName, object> = {
  deposits: depositsExample,
  withdrawals: withdrawalsExample,
  fills: fillsExample,
  refunds: refundsExample,
  'withdrawal-initiation': withdrawalFlowExample,
  'withdrawal-initiated': withdrawalFlowExample,
}
const kinds = Object.values(attestationKinds)

let open: TestApp
beforeAll(async () => {
  const { owner, amount } = withdrawalFlowExample
  const spender = hubAlias({ chainId: 'ethereum', ...mainNetwork('ethereum-vm') }, owner)
  const { withdrawalAddress } = responseExamples['withdrawal-initiation']
  const balances = { [spender]: BigInt(amount), [withdrawalAddress]: BigInt(amount) }
  open = await testApp({ context: world(scripts, balances) })
})
afterAll(() => open.app.close())

test.each(kinds)('$name: the documented answer is the answer to the documented request', async (kind) => {
  const response = await open.app.inject({ method: 'POST', url: kind.path, payload: requests[kind.name] })
  expect(response.json()).toEqual(responseExamples[kind.name])
})

test.each(kinds)('$name: the documented answer is in the interface description', async ({ name, path }) => {
  const { paths } = (await open.app.inject({ method: 'GET', url: '/documentation/json' })).json()
  const { content } = paths[path].post.responses['200']
  expect(content['application/json'].examples.published.value).toEqual(responseExamples[name])
})
