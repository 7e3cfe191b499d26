// Each attestation route over HTTP: what it answers is signed by this oracle's one signer in every array, over
// what its payload says and in the domains of the hub file, and `requestPeerSignatures` is taken by all of them.
import {
  type AttestationKind,
  attestationKinds,
  bytesToHex,
  encodeEvmWithdrawal,
  type OwnerRequest,
  ownerRequestDigest,
  verifyAttestation,
  type WithdrawalFacts,
  type WithdrawRequestFacts,
} from '@causeway/core'
import { recoverSigner } from '@causeway/signer'
import { sign } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  orderB,
  orderBSignature,
  orderBSolverKey,
  repeated,
} from '../../../../packages/core/test/vectors/orders.ts'
import { paths, type TestApp, testApp, testKey } from '../../test/fixtures/oracleApp.ts'
import { inputsB } from '../../test/fixtures/requests.ts'
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

const recipient = repeated('22', 20)
const ownSigner = '0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a'
const withdrawal = encodeEvmWithdrawal({
  calls: [{ to: recipient, data: '0x', value: 1000n, allowFailure: false }],
  nonce: 5n,
  expiration: 1_800_000_000n,
})
const withdrawn: WithdrawalFacts = {
  ...{
    kind: 'withdrawal',
    depository,
    status: 'executed',
    currency: nativeCurrency,
    amount: 1000n,
    recipient,
  },
  withdrawalId: '0x42600e31bfa4e2d638f483dd2b087d53328733fceb578fac6db1928b6ce95fcc',
  evidence: evidence('ethereum'),
}
const withdrawRequest: WithdrawRequestFacts = {
  kind: 'withdraw-request',
  ...{ depository, currency: nativeCurrency, recipient, data: '0x' },
}
const ownerRequest: OwnerRequest = {
  ...{ chainId: 'ethereum', currency: nativeCurrency, amount: '1000000', ownerChainId: 'base' },
  ...{ owner: '0x2e988a386a799f506693793c6a5af6b54dfaabfb', recipient, nonce: '42' },
}
const refunded = paymentFacts({
  transactionId: refundTransaction,
  evidence: evidence('ethereum'),
  transfers: [{ recipient: depositor, currency: nativeCurrency, amount: 10n ** 18n }],
})
const settlement = { order: orderB, orderSignature: orderBSignature, inputs: inputsB }

/** What the owner's alias holds, and the withdrawal address that follows from the request. */
const balances: Record<string, bigint> = { '0x37af10adbc4864042698b5735132a3c8c2b146bf': 1_000_000n }
const context = world(
  {
    ethereum: {
      deposits: { [depositTransaction]: depositFacts([depositB]) },
      withdrawals: { [withdrawal]: withdrawn },
      payments: { [refundTransaction]: refunded },
      withdrawRequest,
    },
    base: { payments: { [fillTransaction]: paymentFacts() } },
  },
  balances,
)

let open: TestApp
let ownerSignature: string
beforeAll(async () => {
  open = await testApp({ context })
  const hash = bytesToHex(ownerRequestDigest(ownerRequest))
  ownerSignature = await sign({ hash, privateKey: orderBSolverKey, to: 'hex' })
})
afterAll(() => open.app.close())

async function signers<Response>(
  kind: AttestationKind<Response>,
  url: string,
  body: object,
  keyed: Readonly<Record<string, string>> = {},
) {
  const payload = JSON.stringify({ ...body, requestPeerSignatures: true })
  const headers = { 'content-type': 'application/json', ...keyed }
  const answer = await open.app.inject({ method: 'POST', url, payload, headers })
  expect([answer.statusCode, answer.body]).toEqual([200, expect.any(String)])
  const { hub, networkOf } = context
  const terms = { kind, hub, networkOf, signers: [ownSigner], threshold: 1, recover: recoverSigner }
  const verdict = verifyAttestation(answer.json(), terms)
  expect(verdict.problems).toEqual([])
  return verdict.signers
}

test('POST /attestations/depository-deposits/v1 answers a deposit that its own signer signed', async () => {
  const body = { chainId: 'ethereum', transactionId: depositTransaction }
  expect(await signers(attestationKinds.deposits, paths.deposits, body)).toEqual([ownSigner])
})

test('POST /attestations/depository-withdrawals/v1 answers a withdrawal that its own signer signed', async () => {
  const body = { chainId: 'ethereum', withdrawal }
  expect(await signers(attestationKinds.withdrawals, paths.withdrawals, body)).toEqual([ownSigner])
})

test('POST /attestations/solver-fills/v1 answers a fill that its own signer signed', async () => {
  const body = { ...settlement, fill: { transactionId: fillTransaction } }
  expect(await signers(attestationKinds.fills, paths.fills, body)).toEqual([ownSigner])
})

test('POST /attestations/solver-refunds/v1 answers a refund that its own signer signed', async () => {
  const refunds = [{ transactionId: refundTransaction, inputIndex: 0, refundIndex: 0 }]
  expect(await signers(attestationKinds.refunds, paths.refunds, { ...settlement, refunds })).toEqual([
    ownSigner,
  ])
})

const unfound = repeated('ee', 32)
test.each<[string, string, (body: object) => Promise<readonly string[]>, object]>([
  [
    'solver-fills',
    paths.fills,
    (body) => signers(attestationKinds.fills, paths.fills, body, { 'x-api-key': testKey }),
    { fill: { transactionId: unfound } },
  ],
  [
    'solver-refunds',
    paths.refunds,
    (body) => signers(attestationKinds.refunds, paths.refunds, body, { 'x-api-key': testKey }),
    { refunds: [{ transactionId: unfound, inputIndex: 0, refundIndex: 0 }] },
  ],
])(
  'POST /attestations/%s/v1 takes force with a key: what nobody paid is signed for',
  async (_route, url, forced, paid) => {
    const body = { ...settlement, ...paid }
    expect(await forced({ ...body, force: true })).toEqual([ownSigner])
    const headers = { 'content-type': 'application/json' }
    const ask = (payload: object) =>
      open.app.inject({ method: 'POST', url, payload: JSON.stringify(payload), headers })
    const refused = await ask({ ...body, force: true })
    expect([refused.statusCode, refused.json().errorCode]).toEqual([401, 'FORCE_UNAUTHORIZED'])
    expect((await ask(body)).statusCode).toBe(400)
  },
)

test('POST /attestations/withdrawal-initiation/v1 and -initiated/v1 answer what their own signer signed', async () => {
  const body = { ...ownerRequest, ownerSignature }
  const { 'withdrawal-initiation': initiation, 'withdrawal-initiated': initiated } = attestationKinds
  expect(await signers(initiation, paths.initiation, body)).toEqual([ownSigner])
  const payload = JSON.stringify(body)
  const headers = { 'content-type': 'application/json' }
  const moved = await open.app.inject({ method: 'POST', url: paths.initiation, payload, headers })
  balances[moved.json().withdrawalAddress] = 1_000_000n
  expect(await signers(initiated, paths.initiated, body)).toEqual([ownSigner])
})
