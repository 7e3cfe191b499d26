// Each documented answer is what the service answers to the documented request beside it.
import { type AttestationKindName, attestationKinds } from '@causeway/attestations'
import { type Hex, hubAlias, withdrawRequestPayloadId } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { encodeSolanaWithdrawal, type RequestedWithdrawal, withdrawRequestOf } from '@causeway/families/rules'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { repeated } from '../../../../packages/core/test/vectors/orders.ts'
import { type TestApp, testApp } from '../../test/fixtures/oracleApp.ts'
import {
  chains,
  depositB,
  depositFacts,
  depositor,
  depository,
  depositTransaction,
  evidence,
  fillTransaction,
  nativeCurrency,
  orderAddressB,
  paymentFacts,
  promised,
  refundTransaction,
  world,
} from '../../test/fixtures/world.ts'
import {
  depositsExample,
  fillsExample,
  noFillOrRefundExample,
  nonceMappingExample,
  recoveryExample,
  refundsExample,
  requestedWithdrawalsExample,
  withdrawalFlowExample,
  withdrawalsExample,
} from './requestExamples.ts'
import { responseExamples } from './responseExamples.ts'

const refund = paymentFacts({
  transactionId: refundTransaction,
  transfers: [{ recipient: depositor, currency: nativeCurrency, amount: 990_000_000_000_000_000n }],
  evidence: evidence('ethereum'),
})
/** Payload that the allocator issued for the documented withdrawal to solana. */
const solanaPayload = encodeSolanaWithdrawal({
  domain: repeated('01', 32),
  vaultAddress: '99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2',
  recipient: withdrawalFlowExample.recipient,
  token: withdrawalFlowExample.currency,
  amount: BigInt(withdrawalFlowExample.amount),
  nonce: 7n,
  expiration: 1_800_000_000n,
})

/** Payloads of both documented withdrawals, by the requests that they were issued for. */
function issued(): Record<string, Hex> {
  const evm = withdrawalsExample.withdrawalAddressRequest
  const solana = withdrawalFlowExample
  const idOf = (
    chainId: string,
    withdrawal: Hex,
    asked: Omit<RequestedWithdrawal, 'spender'> & { readonly owner: string; readonly ownerChainId: string },
  ) => {
    const chain = chains.get(chainId)
    if (chain === undefined) throw new Error(`no ${chainId}`)
    const spender = hubAlias({ chainId: asked.ownerChainId, ...mainNetwork('ethereum-vm') }, asked.owner)
    return withdrawRequestPayloadId(withdrawRequestOf(chain, withdrawal, { ...asked, spender }))
  }
  // CAST: the documented withdrawal is hex.
  const evmPayload = withdrawalsExample.withdrawal as Hex
  return {
    [idOf('ethereum', evmPayload, {
      depository,
      currency: evm.currency,
      amount: 1_000n,
      recipient: evm.recipient,
      nonce: BigInt(evm.withdrawalNonce),
      owner: evm.withdrawer,
      ownerChainId: evm.withdrawerChainId,
    })]: evmPayload,
    [idOf('solana', solanaPayload, {
      depository: '99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2',
      currency: solana.currency,
      amount: BigInt(solana.amount),
      recipient: solana.recipient,
      nonce: BigInt(solana.nonce),
      owner: solana.owner,
      ownerChainId: solana.ownerChainId,
    })]: solanaPayload,
  }
}

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
    withdrawals: {
      [solanaPayload]: {
        kind: 'withdrawal',
        withdrawalId: repeated('5a', 32),
        depository: '99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2',
        status: 'executed',
        currency: withdrawalFlowExample.currency,
        amount: BigInt(withdrawalFlowExample.amount),
        recipient: withdrawalFlowExample.recipient,
        executingTransactionId: requestedWithdrawalsExample.transactionId,
        evidence: evidence('solana'),
      },
    },
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
  'withdrawals-v2': requestedWithdrawalsExample,
  'withdrawal-initiation-v2': withdrawalFlowExample,
  'withdrawal-initiated-v2': withdrawalFlowExample,
  recovery: recoveryExample,
  'no-fill-or-refund': noFillOrRefundExample,
  'nonce-mapping': nonceMappingExample,
}
const kinds = Object.values(attestationKinds)

let open: TestApp
beforeAll(async () => {
  const { owner, amount } = withdrawalFlowExample
  const spender = hubAlias({ chainId: 'ethereum', ...mainNetwork('ethereum-vm') }, owner)
  const { withdrawalAddress } = responseExamples['withdrawal-initiation']
  const balances = {
    [spender]: BigInt(amount),
    [withdrawalAddress]: BigInt(amount),
    [orderAddressB]: depositB.amount,
  }
  open = await testApp({ context: world(scripts, balances, issued(), promised()) })
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
