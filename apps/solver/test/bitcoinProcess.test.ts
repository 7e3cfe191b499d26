// Goal: the solver as an operator runs it fills orders of Base on Bitcoin and pays claims there, once each, though it is
// killed again and again and the service's answers get lost; and gives the deposit of an order that it never filled back
// on Base once it has closed it on Bitcoin. Method: real processes, nodes and deposits; a stand-in of a Bitcoin node
// with the mempool rules of real ones; a scripted quote-api; what counts is what the chains hold at the end.
import { setInterval } from 'node:timers'
import { type Hex, hexToBytes, type NetworkOf } from '@causeway/core'
import { bitcoinNetworkOf, createBitcoinCodec } from '@causeway/core/encodings'
import { lineWallet, outputScript } from '@causeway/families/rules'
import { ConstructedChain, fundingTransaction, startBitcoinNode } from '@causeway/localnet/standIns/bitcoin'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { recipientOf } from './support/bitcoinBench.ts'
import { configsWithFamily, orderPaidOn } from './support/familyOrders.ts'
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

const chainId = 8_253_038
const key: Hex = `0x${'5e'.repeat(32)}`
const amount = 10_000n
const network = bitcoinNetworkOf('regtest')
const native = createBitcoinCodec(network).nativeCurrency
const wallet = lineWallet(hexToBytes(key), network)
const networkOf: NetworkOf = (name) =>
  name === 'bitcoin'
    ? { vmType: 'bitcoin-vm', network: 'regtest' }
    : { vmType: 'ethereum-vm', network: undefined }
const nowSeconds = () => Math.floor(Date.now() / 1_000)

let bed: SolverBed
let chain: ConstructedChain
let rpcUrl: string
let firstOutput: string
const ends: (() => unknown)[] = []

beforeAll(async () => {
  bed = await startSolverBed()
  // Blocks are ten minutes apart, and the test mines many: they begin long ago.
  chain = new ConstructedChain(nowSeconds() - 600 * 2_000)
  const coins = fundingTransaction({ script: wallet.script, value: 10n ** 8n })
  chain.mine(coins)
  chain.mineEmpty(1_900)
  firstOutput = `${coins.getId()}:0`
  const node = await startBitcoinNode(chain)
  const mining = setInterval(() => chain.mineWaiting(), 2_000)
  ends.push(() => clearInterval(mining), node.stop)
  rpcUrl = node.url('node')
})
afterAll(async () => {
  for (const end of ends) await end()
  await bed?.stop()
})

/** The local configuration, with Bitcoin quoted and paid on; a bitcoin has the price of an ether. */
function withBitcoin({
  depositAddressKey,
  ...change
}: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const listed = {
    source: 'test',
    solver: true,
    address: native,
    symbol: 'BTC',
    name: 'Bitcoin',
    decimals: 8,
  }
  return configsWithFamily({
    key: 'bitcoin',
    asset: { id: 'btc', priceKey: 'ETH/USD' },
    quoted: {
      chainId,
      name: 'bitcoin',
      displayName: 'Bitcoin',
      blockTimeMs: 600_000,
      headMaxAgeMs: 86_400_000,
      fillWallet: wallet.address,
      feeModel: { kind: 'feerate' },
      depositAddressKey,
      pinPolicy: [{ confirmations: 1 }],
      currencies: [{ ...listed, asset: 'btc' }],
    },
    policy: {
      maxFeePerGasWei: '50000',
      bumpAfterSeconds: 1,
      gasPerHourWei: '1000000',
      relayGasPerHourWei: '0',
      firstOutput,
      floors: [{ currency: native, amount: '100000' }],
      ...change,
    },
  })
}

/** Variables of a solver that pays on Bitcoin too. */
const overrides = async (change: Readonly<Record<string, unknown>> = {}) => ({
  BITCOIN_RPC_URL: rpcUrl,
  BITCOIN_PRIVATE_KEY: key,
  CONFIG_DIR: await withBitcoin(change),
})

let payees = 0

const family = (): PaidFamily => ({
  bed,
  overrides,
  chain: { chainId },
  currencies: [native],
  claimLifetimeSeconds: 86_400,
  freshPayment(currency) {
    payees += 1
    return { recipient: recipientOf(`payee ${payees}`).address, currency, amount }
  },
  order: (payment, refundTo) =>
    orderPaidOn(bed.network, {
      key: 'bitcoin',
      networkOf,
      payment,
      deadline: nowSeconds() + 86_400,
      refundTo,
    }),
  held: ({ recipient }) =>
    chain.unspentOf(outputScript(recipient, network)).reduce((sum, { value }) => sum + value, 0n),
  async settle() {
    chain.mineWaiting()
    await pause(3_000)
    chain.mineWaiting()
  },
})

test('every order is paid once, however often its solver is killed and its fees are raised', async () => {
  const { solver } = await paysEveryOrderOnce(family())
  expect(solver.output()).not.toContain(key.slice(2))
})

test('every claim is paid once, however often its solver is killed between sending and reporting', async () => {
  await paysEveryClaimOnce(family(), 3)
})

test('a deposit on Base goes back once its order is closed on Bitcoin for good', async () => {
  await refundsOnceClosed(family())
})

test.each<[string, Readonly<Record<string, unknown>>, Readonly<Record<string, string>>]>([
  ['BITCOIN_PRIVATE_KEY or BITCOIN_PRIVATE_KEY_FILE is required', {}, { BITCOIN_PRIVATE_KEY: '' }],
  ['has no firstOutput', { firstOutput: undefined }, {}],
  [
    `is not the public key of BITCOIN_PRIVATE_KEY, 0x${Buffer.from(wallet.publicKey).toString('hex')}`,
    { depositAddressKey: '0x02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5' },
    {},
  ],
  ['is not the account of BITCOIN_PRIVATE_KEY', {}, { BITCOIN_PRIVATE_KEY: `0x${'5f'.repeat(32)}` }],
])('a start is refused: %s', async (reason, change, variables) => {
  const work = await startScriptedWork()
  const { environment } = await bed.bench.settings(work, { ...(await overrides(change)), ...variables })
  const solver = startSolver({ environment })
  await solver.ended
  expect(solver.output()).toContain(reason)
})
