// Goal: the solver as an operator runs it fills orders of Base on Tron and pays claims there, in coin and in a token that
// nobody had allowed, once each, though it is killed again and again and the service's answers get lost; and gives the
// deposit of an order that it never filled back on Base once it has closed it on Tron. Method: real processes, nodes and
// deposits; a Tron of stand-ins; a scripted quote-api; what counts is what the chains hold at the end.
import { encodeFillExtraData, type Hex, type NetworkOf } from '@causeway/core'
import { createTronCodec, mainNetwork, tronAddress, tronHexAddress } from '@causeway/core/encodings'
import { type ChainBed, chainBedOn, startTestNetwork, waitUntil } from '@causeway/localnet'
import { createTronLedger, startTronFacade } from '@causeway/localnet/standIns/tron'
import { TronWeb } from 'tronweb'
import { encodeFunctionData, erc20Abi } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { claimOf, configsWithFamily, type FamilyPayment, orderPaidOn } from './support/familyOrders.ts'
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

const chainId = 728_126_428
/** Chain id of the local network's Tron, from its first block. */
const hubChainId = 1_414_680_398n
const key: Hex = `0x${'5e'.repeat(32)}`
const amount = 1_000_000n
const native = createTronCodec().nativeCurrency
const networkOf: NetworkOf = (name) => mainNetwork(name === 'tron' ? 'tron-vm' : 'ethereum-vm')
const wallet = String(TronWeb.address.fromPrivateKey(key.slice(2)))

let bed: SolverBed
let evm: ChainBed
let rpcUrl: string
let usdc: string
let fillContract: Hex
const ends: (() => unknown)[] = []

beforeAll(async () => {
  bed = await startSolverBed()
  evm = chainBedOn(await startTestNetwork({ blockTimeSeconds: 1 }), 'tron')
  const facade = await startTronFacade(evm, createTronLedger(evm), { chainId: hubChainId })
  ends.push(facade.stop, evm.stop)
  rpcUrl = facade.url
  usdc = tronAddress(evm.deployment.tokens.USDC)
  fillContract = `0x${evm.deployment.fillContract.slice(2).toLowerCase()}`
  const [rich] = evm.network.keys.users
  if (rich === undefined) throw new Error('no user')
  await evm.node('anvil_setBalance', [tronHexAddress(wallet), '0x5af3107a4000'])
  const args = [tronHexAddress(wallet), 1_000n * amount] as const
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
  await evm.send(rich, evm.deployment.tokens.USDC, data)
}, 120_000)
afterAll(async () => {
  for (const end of ends) await end()
  await bed?.stop()
})

/** Variables of a solver that pays on Tron too. */
const overrides = async (change: Readonly<Record<string, unknown>> = {}) => {
  const listed = { source: 'test', solver: true, decimals: 6 }
  const quoted = {
    chainId,
    name: 'tron',
    displayName: 'Tron',
    blockTimeMs: 1_000,
    headMaxAgeMs: 60_000,
    fillWallet: wallet,
    fillContract,
    feeModel: { kind: 'energy' },
    pinPolicy: [{ blocks: 0 }],
    currencies: [
      { ...listed, address: native, symbol: 'TRX', name: 'TRON', asset: 'trx' },
      { ...listed, address: usdc, symbol: 'USDC', name: 'USD Coin', asset: 'usdc' },
    ],
    ...change,
  }
  const policy = {
    maxFeePerGasWei: '500',
    gasPerHourWei: '10000000000',
    relayGasPerHourWei: '0',
    floors: [{ currency: native, amount: '100000000' }],
  }
  const asset = { id: 'trx', priceKey: 'USDC/USD' }
  return {
    TRON_RPC_URL: rpcUrl,
    TRON_PRIVATE_KEY: key,
    CONFIG_DIR: await configsWithFamily({ key: 'tron', asset, quoted, policy }),
  }
}

const somebody = () => tronAddress(`0x${privateKeyToAddress(generatePrivateKey()).slice(2).toLowerCase()}`)

async function held({ recipient, currency }: FamilyPayment): Promise<bigint> {
  const account = tronHexAddress(recipient)
  if (currency === native) return BigInt(String(await evm.node('eth_getBalance', [account, 'latest'])))
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [account] })
  return BigInt(String(await evm.node('eth_call', [{ to: evm.deployment.tokens.USDC, data }, 'latest'])))
}

const family = (): PaidFamily => ({
  bed,
  overrides,
  held,
  chain: { chainId, fillContract },
  currencies: [usdc, native],
  claimLifetimeSeconds: 3_600,
  freshPayment: (currency) => ({ recipient: somebody(), currency, amount }),
  order: (payment, refundTo) =>
    orderPaidOn(bed.network, {
      key: 'tron',
      networkOf,
      payment,
      refundTo,
      extraData: encodeFillExtraData(fillContract),
    }),
  settle: () => pause(5_000),
})

test('every order is paid once, in coin and in a token, however often its solver is killed', async () => {
  const { solver } = await paysEveryOrderOnce(family())
  expect(solver.output()).not.toContain(key.slice(2))
})

test('every claim is paid once, however often its solver is killed between sending and reporting', async () => {
  await paysEveryClaimOnce(family(), 3)
})

test('Q-62: a claim is tried, and nothing is signed for a recipient whose code refuses it', async () => {
  const recipient = somebody()
  await evm.node('anvil_setCode', [tronHexAddress(recipient), '0x5f5ffd'])
  const work = await startScriptedWork()
  const { environment } = await bed.bench.settings(work, await overrides())
  const solver = startSolver({ environment })
  await solver.ready()
  const place = { chainId, fillContract, deadline: Math.floor(Date.now() / 1_000) + 3_600 }
  const claim = claimOf({ recipient, currency: native, amount }, place)
  work.add(claim)
  await waitUntil('it is refused', () => work.failures.has(claim.id))
  expect(work.failures.get(claim.id)?.[0]).toMatch(/^EXECUTION_REVERTED: /)
  expect(work.reports.has(claim.id)).toBe(false)
  expect(await held({ recipient, currency: native, amount })).toBe(0n)
})

test('P-50, P-56: a recipient of more energy than was charged is not paid, and another is paid meanwhile', async () => {
  const [greedy, other] = [somebody(), somebody()]
  // Takes 1.7 million.
  await evm.node('anvil_setCode', [tronHexAddress(greedy), '0x61ffff5b600190038060035700'])
  const work = await startScriptedWork()
  const { environment } = await bed.bench.settings(work, await overrides())
  await startSolver({ environment }).ready()
  const place = { chainId, fillContract, deadline: Math.floor(Date.now() / 1_000) + 3_600 }
  const [dear, plain] = [greedy, other].map((recipient) =>
    claimOf({ recipient, currency: native, amount }, place),
  )
  if (dear === undefined || plain === undefined) throw new Error('there are two claims')
  work.add(dear)
  work.add(plain)
  await waitUntil('one is refused and one is paid', async () => {
    const paid = await held({ recipient: other, currency: native, amount })
    return work.failures.has(dear.id) && paid === amount
  })
  expect(work.failures.get(dear.id)?.[0]).toMatch(/^QUOTED_GAS_LIMIT_EXCEEDED: /)
  expect([work.reports.has(dear.id), await held({ recipient: greedy, currency: native, amount })]).toEqual([
    false,
    0n,
  ])
})

test('a deposit on Base goes back once its order is closed on Tron for good', async () => {
  await refundsOnceClosed(family())
})

test.each<[string, Readonly<Record<string, unknown>>, Readonly<Record<string, string>>]>([
  ['TRON_PRIVATE_KEY or TRON_PRIVATE_KEY_FILE is required', {}, { TRON_PRIVATE_KEY: '' }],
  ['is not the account of TRON_PRIVATE_KEY', {}, { TRON_PRIVATE_KEY: `0x${'5f'.repeat(32)}` }],
  ['fillContract is needed to pay there', { fillContract: undefined }, {}],
  ['fillContract is missing in chains: tron.fillContracts', { fillContract: `0x${'f1'.repeat(20)}` }, {}],
])('a start is refused: %s', async (reason, change, variables) => {
  const work = await startScriptedWork()
  const { environment } = await bed.bench.settings(work, { ...(await overrides(change)), ...variables })
  const solver = startSolver({ environment })
  await solver.ended
  expect(solver.output()).toContain(reason)
})
