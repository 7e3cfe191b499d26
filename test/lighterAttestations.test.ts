// Goal: the routes attest what happened on Lighter like on any other chain, with the protocol's ids. Method: the
// whole HTTP surface over the real reader and the stand-in of the sequencer's API, with real signatures.
// CAUSEWAY_FAULTS=1 runs the long form of what endpoints say. @source rules P-89, P-127, F-159, F-161

import { type Hex, Secret, type WithdrawalStatus } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { encodeLighterWithdrawal, lighterWithdrawalId } from '@causeway/families/rules'
import { type LighterNode, startLighterNode, type TransferInfo } from '@causeway/localnet/standIns/lighter'
import { encodeAbiParameters, parseAbiParameters } from 'viem'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { paths } from '../apps/oracle/test/fixtures/oracleApp.ts'
import { mutateText } from './families/bitcoinSupport/mutateText.ts'
import {
  additional,
  depository,
  keyOf,
  memoOf,
  noOrder,
  openChain,
  put,
  queuedAtMs,
  transfer,
  user,
  withdrawalOf,
} from './families/lighterSupport/lighterBed.ts'
import type { FamilySide, SeenWithdrawal } from './support/familyRoutes/familySide.ts'
import { issue } from './support/familyRoutes/issued.ts'
import { openOracle } from './support/familyRoutes/oracle.ts'
import { evmOwner } from './support/familyRoutes/owners.ts'
import { routeFuzz } from './support/familyRoutes/routeFuzz.ts'
import { depositCases, oracleOf, refused, settlementCases } from './support/familyRoutes/settlementCases.ts'
import { withdrawalBody, withdrawalCases } from './support/familyRoutes/withdrawalCases.ts'
import { withdrawalFlowCases } from './support/familyRoutes/withdrawalFlowCases.ts'

const [recipient, stranger, ownerAccount] = ['462197', '12', '555']
const farAway = 4_000_000_000_000n
const longAgo = 1_600_000_000_000n

let nodes: readonly LighterNode[]
beforeAll(async () => {
  nodes = await Promise.all([startLighterNode(), startLighterNode(), startLighterNode()])
  for (const node of nodes) {
    node.setAccount(ownerAccount, evmOwner.account)
    node.setAccount(stranger, keyOf('ab'))
  }
})
afterAll(() => Promise.all((nodes ?? []).map((node) => node.stop())))

let nonce = 0n

/** A transfer of perps USDC; no two are one withdrawal. */
function moving(change: Partial<TransferInfo>): TransferInfo {
  nonce += 1n
  return transfer({ Nonce: nonce, Memo: memoOf(noOrder), ExpiredAt: farAway, ...change })
}

const payout = (change: Partial<TransferInfo> = {}) =>
  moving({
    FromAccountIndex: BigInt(depository),
    ToAccountIndex: BigInt(recipient),
    Memo: memoOf('ab'.repeat(32)),
    ...change,
  })

function seen(
  info: TransferInfo,
  status: WithdrawalStatus,
  change: Partial<SeenWithdrawal> = {},
): SeenWithdrawal {
  const request = withdrawalOf(info)
  return {
    withdrawal: encodeLighterWithdrawal(request),
    withdrawalId: lighterWithdrawalId(request),
    status,
    currency: '0',
    recipient,
    amount: 1_000_000n,
    ...change,
  }
}

/** The transfer stands there with this status, and the caller names it. */
function named(status: WithdrawalStatus, info: TransferInfo, sequencerStatus: number, change = {}) {
  const transactionId = put(nodes, info, { status: sequencerStatus })
  const executing = status === 'executed' ? { executingTransactionId: transactionId } : {}
  return { ...seen(info, status, { ...executing, ...change }), transactionId }
}

const side: FamilySide = {
  chain: {
    id: 'lighter',
    ...mainNetwork('lighter-vm'),
    hubChainId: '57000',
    depository,
    additionalDepositories: [additional],
  },
  currency: '0',
  native: '0',
  recipient,
  stranger,
  hubToken: 33827477529693877703527191291502620172030107800276013854038216314513074192097n,
  missingTransactionId: 'ab'.repeat(40),
  openReader: (count) => openChain(nodes.slice(0, count)),
  async deposit(orderId = noOrder) {
    const transactionId = put(nodes, moving({ Amount: 1_000n, Memo: memoOf(orderId) }))
    const timestampSeconds = queuedAtMs / 1_000n
    return { transactionId, onchainIndex: '0', depositor: user, timestampSeconds }
  },
  async pay({ orderId = noOrder, amount, recipient: to }) {
    const change = { FromAccountIndex: 999n, ToAccountIndex: BigInt(to), Memo: memoOf(orderId) }
    return put(nodes, moving({ Amount: amount, ...change }))
  },
  withdraw: async () => named('executed', payout(), 3),
  lie: (seed) =>
    nodes[0]?.fault(
      seed === undefined ? undefined : (_path, truth) => ({ ...truth, text: mutateText(truth.text, seed) }),
    ),
  fail: () => nodes[0]?.fault(() => ({ status: 200, text: '<html>' })),
}

depositCases(() => side)

describe('a transfer', () => {
  const ask = async (transactionId: string) =>
    (await oracleOf(side)).post(paths.deposits, { chainId: 'lighter', transactionId })

  test.each([0, 1])('with status %i is not final, and asked for again', async (status) => {
    expect(await ask(put(nodes, moving({}), { status }))).toMatchObject({
      status: 400,
      body: { errorCode: 'TRANSACTION_NOT_FINAL', retryable: true },
    })
  })

  test.each([4, 5])('with status %i is none', async (status) => {
    expect(await ask(put(nodes, moving({}), { status }))).toMatchObject(refused('TRANSACTION_REVERTED'))
  })

  test('to an additional depository is a deposit there, one to somebody else is none', async () => {
    expect(await ask(put(nodes, moving({ ToAccountIndex: BigInt(additional) })))).toMatchObject({
      status: 200,
      body: { messages: [{ result: { depository: additional } }] },
    })
    expect(await ask(put(nodes, moving({ ToAccountIndex: 12n })))).toMatchObject({
      status: 200,
      body: { messages: [] },
    })
  })
})

settlementCases(() => side)
withdrawalCases(
  () => side,
  [
    ['that no transfer carries is pending', async () => seen(payout(), 'pending')],
    ['is burnt under the transfer that committed it', async () => named('executed', payout(), 2)],
    ['is burnt under the transfer that executed it', async () => named('executed', payout(), 3)],
    ['whose transfer failed is pending', async () => named('pending', payout(), 4)],
    ['whose transfer was rejected is pending', async () => named('pending', payout(), 5)],
    ['whose transfer waits is pending', async () => named('pending', payout(), 1)],
    [
      'whose transfer waited past its expiry is pending',
      async () => named('pending', payout({ ExpiredAt: longAgo }), 1),
    ],
    [
      'whose nonce another transfer took goes back to its owner',
      async () => {
        const info = payout()
        put(nodes, info, { status: 4 })
        return { ...seen(info, 'expired'), transactionId: put(nodes, { ...info, Amount: 1n }) }
      },
    ],
    [
      'of an additional depository is burnt from the address of that one',
      async () =>
        named('executed', payout({ FromAccountIndex: BigInt(additional) }), 3, { depository: additional }),
    ],
    [
      'of a spot asset is burnt in that asset',
      async () =>
        named('executed', payout({ AssetIndex: 1n, FromRouteType: 1n, ToRouteType: 1n }), 3, {
          currency: '1',
        }),
    ],
    [
      'that nobody names is pending without an explorer',
      async () => {
        const info = payout()
        put(nodes, info)
        return seen(info, 'pending')
      },
    ],
  ],
  { isFoundByNameAlone: true },
)

test('a withdrawal that nobody names is burnt where an explorer finds its transfer', async () => {
  const explorer = { explorerApiUrl: new Secret(nodes[0]?.explorerUrl ?? '') }
  const { reader } = openChain(nodes.slice(0, 1), { additionalData: explorer })
  const { post, issue: tell } = await openOracle(side.chain, () => reader)
  const withdrawn = named('executed', payout(), 3)
  issue(side, { issue: tell }, withdrawn)
  const { transactionId: _named, ...unnamed } = withdrawn
  const burnt = await post(paths.withdrawals, withdrawalBody(side, withdrawn))
  expect(burnt.body).toHaveProperty('execution')
  expect(await post(paths.withdrawals, withdrawalBody(side, unnamed))).toEqual(burnt)
})

test('a withdrawal of somebody else than a depository is refused', async () => {
  const { post } = await oracleOf(side)
  const foreign = named('executed', payout({ FromAccountIndex: 12n }), 3)
  expect(await post(paths.withdrawals, withdrawalBody(side, foreign))).toMatchObject(
    refused('DEPOSITORY_NOT_CONFIGURED'),
  )
})

const additionalData = {
  'lighter-vm': {
    nonce: 7,
    fromRouteType: 0,
    toRouteType: '1',
    apiKeyIndex: 4,
    usdcFee: '3000000',
    memo: '0xabcd',
    assetIndex: 3,
  },
}
const changed = (change: object) => ({
  additionalData: { 'lighter-vm': { ...additionalData['lighter-vm'], ...change } },
})
const memo: Hex = `0x${'abcd'.padEnd(64, '0')}`

withdrawalFlowCases(
  () => side,
  () => ({
    owner: { ...evmOwner, account: ownerAccount },
    currency: '0',
    recipient,
    additionalData,
    payload: {
      depository,
      currency: '3',
      recipient,
      data: encodeAbiParameters(
        parseAbiParameters('uint8, uint64, uint64, uint64, uint64, uint64, bytes32'),
        [0, 7n, 0n, 1n, 4n, 3_000_000n, memo],
      ),
    },
    hostile: [
      ['without additional data', { additionalData: undefined }, 'INVALID_WITHDRAW_REQUEST'],
      ['of another asset than it is paid with', changed({ assetIndex: 1 }), 'INVALID_WITHDRAW_REQUEST'],
      ['with a memo of 33 bytes', changed({ memo: 'ab'.repeat(33) }), 'INVALID_WITHDRAW_REQUEST'],
      ['with a memo that is no hex', changed({ memo: 'hello' }), 'INVALID_WITHDRAW_REQUEST'],
      ['above a uint64', changed({ nonce: '18446744073709551616' }), 'INVALID_WITHDRAW_REQUEST'],
      ['to an account that is none', { recipient: evmOwner.account }, 'INVALID_ADDRESS'],
    ],
  }),
)

describe('the key of an owner', () => {
  test('that nobody tells is refused by its own code', async () => {
    const { post } = await oracleOf(side)
    const ask = (owner: string) =>
      post(paths.initiation, {
        chainId: 'lighter',
        currency: '0',
        amount: '1',
        ownerChainId: 'lighter',
        owner,
        recipient,
        nonce: '1',
        ownerSignature: evmOwner.sign(new Uint8Array(32)),
      })
    expect(await ask('987654')).toMatchObject(refused('OWNER_ACCOUNT_NOT_FOUND'))
    expect(await ask('nobody')).toMatchObject(refused('INVALID_ADDRESS'))
    nodes[0]?.fault(() => ({ status: 500, text: '' }))
    onTestFinished(() => nodes[0]?.fault(undefined))
    expect(await ask(ownerAccount)).toMatchObject({ status: 503, body: { retryable: true } })
  })
})

routeFuzz(() => side)
