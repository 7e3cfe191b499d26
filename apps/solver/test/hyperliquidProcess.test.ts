// Goal: the solver as an operator runs it fills orders of Base on Hyperliquid and pays claims there, from both parts of its
// account, once each, though it is killed again and again and the service's answers get lost; takes deposits on Hyperliquid for
// what the hub says they are; and gives the deposit of an order that it never filled back on Base once it has closed it on
// Hyperliquid. Method: real processes, nodes and deposits, real oracles that vouch, the hub's own contract; a Hyperliquid of
// a stand-in; a scripted quote-api; what counts is what the accounts hold at the end.
import { type Hex, orderId as hashOf, type NetworkOf, type Order } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { freeLoopbackPort, type SpawnedService, spawnOracle, waitUntil } from '@causeway/localnet'
import type { FaultyService } from '@causeway/localnet/standIns/http'
import {
  type ExchangeLedger,
  type HyperliquidVenue,
  startExchange,
} from '@causeway/localnet/standIns/hyperliquid'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type HubMappings, startHubMappings } from '../../../packages/chains/test/fixtures/hubMappings.ts'
import { configsWithFamily, orderPaidOn } from './support/familyOrders.ts'
import {
  hyperliquidChainId as chainId,
  depositAt,
  exchangeWithWallet,
  hyperliquidWallet,
  hyperliquidWalletKey,
  perps,
  spotDollars,
} from './support/hyperliquidBench.ts'
import {
  type PaidFamily,
  pause,
  paysEveryClaimOnce,
  paysEveryOrderOnce,
  refundsOnceClosed,
} from './support/paidFamily.ts'
import { fillItem, freshAccount, freshAddress, signOrder } from './support/paidOrders.ts'
import { startScriptedWork } from './support/scriptedWork.ts'
import { type SolverBed, startSolverBed } from './support/solverBed.ts'
import { startSolver } from './support/solverBench.ts'

const amount = 1_000_000n
const networkOf: NetworkOf = (name) => mainNetwork(name === 'hyperliquid' ? 'hyperliquid-vm' : 'ethereum-vm')

let bed: SolverBed
let ledger: ExchangeLedger
let venue: HyperliquidVenue
let node: FaultyService
let hub: HubMappings
let oracles: readonly { readonly setting: string; readonly process: SpawnedService }[]

beforeAll(async () => {
  bed = await startSolverBed()
  const exchange = exchangeWithWallet()
  ledger = exchange.ledger
  venue = exchange.venue
  node = await startExchange(ledger)
  hub = startHubMappings(bed.network, { id: 'hyperliquid', vmType: 'hyperliquid-vm' })
  oracles = await Promise.all(bed.network.keys.oracles.map(startOracle))
}, 120_000)
afterAll(async () => {
  for (const { process } of oracles ?? []) process.kill('SIGKILL')
  await Promise.all([node?.stop(), hub?.stop()])
  await bed?.stop()
})

async function startOracle({ address, privateKey }: { readonly address: Hex; readonly privateKey: Hex }) {
  const port = await freeLoopbackPort()
  const { chains } = bed.network
  const process = spawnOracle({
    ENVIRONMENT: 'local',
    HTTP_HOST: '127.0.0.1',
    HTTP_PORT: `${port}`,
    OPS_PORT: '0',
    BASE_RPC_URL: chains.base.url,
    OPTIMISM_RPC_URL: chains.optimism.url,
    RELAY_RPC_URL: chains.hub.url,
    HYPERLIQUID_RPC_URL: node.url,
    SIGNING_MODULE: 'raw-private-key',
    ECDSA_PRIVATE_KEY: privateKey,
    AHEAD: 'off',
  })
  await process.ready()
  return { process, setting: `http://127.0.0.1:${port}||${address}` }
}

/** Variables of a solver that pays on Hyperliquid too. */
const overrides = async (change: Readonly<Record<string, unknown>> = {}) => {
  const listed = { source: 'test', solver: true, asset: 'usdc', decimals: 8, symbol: 'USDC' }
  const quoted = {
    chainId,
    name: 'hyperliquid',
    displayName: 'Hyperliquid',
    blockTimeMs: 1_000,
    headMaxAgeMs: 60_000,
    fillWallet: hyperliquidWallet,
    feeModel: { kind: 'flat' },
    pinPolicy: [{ finalized: true }],
    currencies: [
      { ...listed, address: perps, name: 'USD Coin (perps)' },
      { ...listed, address: spotDollars, name: 'USD Coin (spot)' },
    ],
    ...change,
  }
  const policy = {
    maxFeePerGasWei: '200000000',
    gasPerHourWei: '100000000000',
    relayGasPerHourWei: '0',
    floors: [{ currency: perps, amount: '100000000' }],
  }
  const asset = { id: 'unused', priceKey: 'USDC/USD' }
  return {
    HYPERLIQUID_RPC_URL: node.url,
    HYPERLIQUID_PRIVATE_KEY: hyperliquidWalletKey,
    ORACLES: oracles.map(({ setting }) => setting).join(';'),
    ORACLES_THRESHOLD: '2',
    HUB_ECDSA_PRIVATE_KEY: bed.network.keys.keeper.privateKey,
    CONFIG_DIR: await configsWithFamily({ key: 'hyperliquid', asset, quoted, policy }),
  }
}

function somebody(): Hex {
  const { address } = freshAccount()
  venue.fund(address, {})
  return address
}

const family = (): PaidFamily => ({
  bed,
  overrides,
  chain: { chainId },
  currencies: [perps, spotDollars],
  claimLifetimeSeconds: 3_600,
  freshPayment: (currency) => ({ recipient: somebody(), currency, amount }),
  order: (payment, refundTo) =>
    orderPaidOn(bed.network, { key: 'hyperliquid', networkOf, payment, refundTo }),
  held: ({ recipient, currency }) => venue.balanceOf(recipient, currency === perps ? '' : currency),
  settle: () => pause(5_000),
})

test('every order is paid once, from both parts of the account, however often its solver is killed', async () => {
  const { work, solver, fills } = await paysEveryOrderOnce(family())
  // The service finally follows the exchange's own hash of the transfer.
  for (const [id, { payment }] of fills) {
    const listed = ledger.transactions.find(
      ({ action }) => 'destination' in action && action.destination.toLowerCase() === payment.recipient,
    )
    await waitUntil('it is told', () => work.reports.get(id)?.at(-1) === listed?.hash)
  }
  expect(solver.output()).not.toContain(hyperliquidWalletKey.slice(2))
})

test('every claim is paid once, however often its solver is killed between sending and reporting', async () => {
  await paysEveryClaimOnce(family(), 2)
})

test('a deposit on Base goes back once its order is closed on Hyperliquid for good', async () => {
  await refundsOnceClosed(family())
})

test('a deposit on Hyperliquid is paid for on Optimism, once the hub says what it is for', async () => {
  const { work, solver } = await bed.start(await overrides())
  const signed = await signOrder(bed.network, { payments: [{ amount: 1_000n }] })
  const [input] = signed.order.inputs
  if (input === undefined) throw new Error('an order has an input')
  const paidIn = { ...input.payment, chainId: 'hyperliquid', currency: perps, amount: '300000000' }
  const refunds = [
    {
      ...input.refunds[0],
      chainId: 'hyperliquid',
      recipient: freshAddress(),
      currency: perps,
      extraData: '0x',
    },
  ]
  // CAST: members of a real order, on another chain.
  const order = { ...signed.order, inputs: [{ payment: paidIn, refunds }] } as Order
  const orderId = hashOf(order, networkOf)
  const signer: PrivateKeyAccount = privateKeyToAccount(bed.network.keys.orderSigner.privateKey)
  const orderSignature = await signer.signMessage({ message: { raw: orderId } })
  const { nonce, transactionId, user } = await depositAt({ venue, ledger }, 300_000_000n)
  const deposits = [{ chainId, transactionId, onchainIndex: '0' }]
  const item = fillItem(bed.network, { ...signed, order, orderId, orderSignature, deposits })
  work.add(item)
  // Nobody has said yet what it is for.
  await pause(3_000)
  expect(work.reports.has(item.id)).toBe(false)
  const saying = { wallet: user.address.toLowerCase() as Hex, nonce, id: orderId } // CAST: hex in lower case.
  await hub.mappings.write({ ...saying, depositor: saying.wallet }, (data) => user.signTypedData(data))
  await bed.settled([item], () => solver.output())
})

test.each<[string, Readonly<Record<string, unknown>>, Readonly<Record<string, string>>]>([
  [
    'HYPERLIQUID_PRIVATE_KEY or HYPERLIQUID_PRIVATE_KEY_FILE is required',
    {},
    { HYPERLIQUID_PRIVATE_KEY: '' },
  ],
  ['needs genericMappingAddress of the hub', {}, { RELAY_RPC_URL: '' }],
  ['they need ORACLES', {}, { ORACLES: '', ORACLES_THRESHOLD: '' }],
  ['they need HUB_ECDSA_PRIVATE_KEY', {}, { HUB_ECDSA_PRIVATE_KEY: '' }],
  ['must be a key of its own', {}, { HUB_ECDSA_PRIVATE_KEY: hyperliquidWalletKey }],
  ['fillWallet is not the account of', { fillWallet: `0x${'ab'.repeat(20)}` }, {}],
])('a start is refused: %s', async (reason, change, variables) => {
  const work = await startScriptedWork()
  const whole = await overrides(change)
  const { environment } = await bed.bench.settings(work, { ...whole, ...variables })
  const solver = startSolver({ environment })
  await solver.ended
  expect(solver.output()).toContain(reason)
})
