// Goal: the solver as an operator runs it fills orders of Base on Lighter and pays claims there, in dollars and in ether, once
// each, though it is killed again and again and the service's answers get lost; and gives the deposit of an order that it
// never filled back on Base once it has closed it on Lighter. Method: real processes, nodes and deposits; a Lighter of
// stand-ins; a scripted quote-api; what counts is what the accounts hold at the end.

import type { NetworkOf } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { makeLighterKey } from '@causeway/families'
import { type LighterExchange, type LighterNode, startLighterNode } from '@causeway/localnet/standIns/lighter'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { configsWithFamily, orderPaidOn } from './support/familyOrders.ts'
import {
  lighterChainId as chainId,
  lighterExchangeWithWallet,
  lighterKeyIndex,
  lighterWallet,
  lighterWalletKey,
} from './support/lighterBench.ts'
import {
  type PaidFamily,
  pause,
  paysEveryClaimOnce,
  paysEveryOrderOnce,
  refundsOnceClosed,
} from './support/paidFamily.ts'
import { startScriptedWork } from './support/scriptedWork.ts'
import { type SolverBed, startSolverBed } from './support/solverBed.ts'
import { startSolver } from './support/solverBench.ts'

const amount = 1_000_000n
const [dollars, ether] = ['0', '1']
const networkOf: NetworkOf = (name) => mainNetwork(name === 'lighter' ? 'lighter-vm' : 'ethereum-vm')

let bed: SolverBed
let exchange: LighterExchange
let node: LighterNode
let apiKey: string

beforeAll(async () => {
  bed = await startSolverBed()
  // The local configuration names the test network, and its depository.
  exchange = lighterExchangeWithWallet(300n)
  exchange.setAccount('900001', `0x${'aa'.repeat(20)}`)
  node = await startLighterNode(0, exchange)
  node.setContract(`0x${'1f'.repeat(20)}`)
  apiKey = await makeLighterKey()
}, 120_000)
afterAll(async () => {
  await node?.stop()
  await bed?.stop()
})

/** Variables of a solver that pays on Lighter too. */
const overrides = async (
  change: Readonly<Record<string, unknown>> = {},
  policyChange: Readonly<Record<string, unknown>> = {},
) => {
  const listed = { source: 'test', solver: true }
  const quoted = {
    chainId,
    name: 'lighter',
    displayName: 'Lighter',
    blockTimeMs: 1_000,
    headMaxAgeMs: 60_000,
    fillWallet: lighterWallet,
    feeModel: { kind: 'flat', transferFee: '3000000' },
    pinPolicy: [{ finalized: true }],
    currencies: [
      { ...listed, address: dollars, symbol: 'USDC', name: 'USD Coin', asset: 'usdc', decimals: 6 },
      { ...listed, address: ether, symbol: 'ETH', name: 'Ether', asset: 'eth', decimals: 8 },
    ],
    ...change,
  }
  const policy = {
    maxFeePerGasWei: '5000000',
    gasPerHourWei: '1000000000',
    relayGasPerHourWei: '0',
    apiKeyIndex: lighterKeyIndex,
    floors: [{ currency: dollars, amount: '100000000' }],
    ...policyChange,
  }
  const asset = { id: 'unused', priceKey: 'USDC/USD' }
  return {
    LIGHTER_RPC_URL: node.url,
    LIGHTER_PRIVATE_KEY: lighterWalletKey,
    LIGHTER_API_KEY: apiKey,
    CONFIG_DIR: await configsWithFamily({ key: 'lighter', asset, quoted, policy }),
  }
}

let accounts = 50_000
function somebody(): string {
  accounts += 1
  exchange.setAccount(`${accounts}`, `0x${'ab'.repeat(20)}`)
  return `${accounts}`
}

const family = (): PaidFamily => ({
  bed,
  overrides,
  chain: { chainId },
  currencies: [dollars, ether],
  claimLifetimeSeconds: 3_600,
  freshPayment: (currency) => ({ recipient: somebody(), currency, amount }),
  order: (payment, refundTo) => orderPaidOn(bed.network, { key: 'lighter', networkOf, payment, refundTo }),
  held: ({ recipient, currency }) => exchange.accounts.get(recipient)?.held.get(currency) ?? 0n,
  settle: () => pause(5_000),
})

test('every order is paid once, in dollars and in ether, however often its solver is killed', async () => {
  const { solver } = await paysEveryOrderOnce(family())
  expect(solver.output()).not.toContain(lighterWalletKey.slice(2))
  expect(solver.output()).not.toContain(apiKey.slice(2))
})

test('every claim is paid once, however often its solver is killed between sending and reporting', async () => {
  await paysEveryClaimOnce(family(), 2)
})

test('a deposit on Base goes back once its order is closed on Lighter for good', async () => {
  await refundsOnceClosed(family())
})

test.each<
  [
    string,
    Readonly<Record<string, unknown>>,
    Readonly<Record<string, unknown>>,
    Readonly<Record<string, string>>,
  ]
>([
  ['LIGHTER_PRIVATE_KEY or LIGHTER_PRIVATE_KEY_FILE is required', {}, {}, { LIGHTER_PRIVATE_KEY: '' }],
  ['LIGHTER_API_KEY or LIGHTER_API_KEY_FILE is required', {}, {}, { LIGHTER_API_KEY: '' }],
  ['apiKeyIndex is needed to pay there', {}, { apiKeyIndex: undefined }, {}],
  ['fillWallet is needed to pay there', { fillWallet: undefined }, {}, {}],
])('a start is refused: %s', async (reason, change, policyChange, variables) => {
  const work = await startScriptedWork()
  const { environment } = await bed.bench.settings(work, {
    ...(await overrides(change, policyChange)),
    ...variables,
  })
  const solver = startSolver({ environment })
  await solver.ended
  expect(solver.output()).toContain(reason)
})
