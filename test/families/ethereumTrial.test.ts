// Goal: no payment is signed that its chain, or an oracle, would refuse. Attackers: a recipient whose code tells a trial from
// the real transaction, one endpoint of three that lies. Method: a real node behind three proxies.
import type { Hex } from '@causeway/core'
import { readHead, type TriedTransaction, tryTransaction } from '@causeway/families'
import { type FaultMode, type LocalAccount, type SeenCall, tokenAbi, waitUntil } from '@causeway/localnet'
import { createJsonRpcClient } from '@causeway/rpc'
import { encodeFunctionData, parseEther, toHex } from 'viem'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { ethereumQuotingChain } from '../../packages/families/src/ethereum/quoting/ethereumQuotingChain.ts'
import type { PaymentTrial, SimulatedFill } from '../../packages/families/src/shared/quotingChain.ts'
import { type ChainBed, proxiesOf, startChainBed } from './ethereumSupport/chainBed.ts'

let bed: ChainBed
let payer: LocalAccount
beforeAll(async () => {
  bed = await startChainBed()
  payer = bed.network.keys.fillWallet
})
afterAll(() => bed?.stop())

const at: Hex = `0x${'a7'.repeat(20)}`
const gasMax = 2n ** 24n
const limits = { transactionGasMax: gasMax, affordableGas: gasMax }
const bid = { maxFeePerGasWei: 5_000_000_000n, maxPriorityFeePerGasWei: 1_000_000n }
const payment = (change: Partial<TriedTransaction> = {}): TriedTransaction => ({
  from: payer.address,
  to: at,
  data: '0x',
  valueWei: 1_000n,
  ...bid,
  ...change,
})

/** Three endpoints of which two must say the same. */
async function threeEndpoints() {
  const proxies = await proxiesOf(bed, 3)
  const client = createJsonRpcClient({
    chainId: 'base',
    endpoints: proxies.map(({ url }) => ({ url })),
  })
  onTestFinished(() => client.close())
  return { proxies, client }
}

async function tried(code: Hex, change: Partial<TriedTransaction> = {}) {
  await bed.node('anvil_setCode', [at, code])
  const { client } = await threeEndpoints()
  return tryTransaction(client, payment(change), limits)
}

const fails = { kind: 'fails', reason: 'the transaction would revert' }

/** GASPRICE, or 30,000 GAS GT; PUSH1 JUMPI STOP JUMPDEST PUSH0 PUSH0 REVERT. */
const revertUnless = { pricedGas: '0x3a600557005b5f5ffd', littleGas: '0x6175305a11600957005b5f5ffd' } as const

test.each<[string, Hex, object]>([
  ['without code', '0x', { kind: 'succeeds' }],
  ['that refuses where gas has a price', revertUnless.pricedGas, fails],
  ['that refuses where more gas is left than it needs', revertUnless.littleGas, fails],
  ['that refuses every payment', '0x5f5ffd', fails],
  ['that burns all gas', '0x5b5f56', fails],
])('P-46: a payment to a recipient %s', async (_recipient, code, outcome) => {
  expect(await tried(code)).toMatchObject(outcome)
})

test.each<[string, Hex, boolean]>([
  ['without code', '0x', true],
  ['that burns 1.7 million gas', '0x61ffff5b600190038060035700', true],
  ['that refuses where gas has a price', revertUnless.pricedGas, false],
  ['that refuses where more gas is left than it needs', revertUnless.littleGas, false],
  ['that refuses every payment', '0x5f5ffd', false],
  ['that burns all gas', '0x5b5f56', false],
])(
  'Q-62, P-46: the quote and the payer find the same of a recipient %s',
  async (_recipient, code, isPaid) => {
    expect((await tried(code)).kind).toBe(isPaid ? 'succeeds' : 'fails')
    const trial = await quotedTrial(code, { kind: 'pass' })
    expect(trial).toMatchObject({ refusal: isPaid ? undefined : expect.any(String) })
  },
)

test('P-50: one that takes more gas than it may have is not signed, and none gets a higher limit', async () => {
  const { proxies, client } = await threeEndpoints()
  await bed.node('anvil_setCode', [at, '0x'])
  expect(await tryTransaction(client, payment(), { ...limits, affordableGas: 50_000n })).toEqual({
    kind: 'succeeds',
    gas: 50_000n,
  })
  expect(await tryTransaction(client, payment(), { ...limits, affordableGas: 20_999n })).toEqual({
    kind: 'dear',
    gas: 21_000n,
  })
  for (const proxy of proxies) await proxy.set({ kind: 'lie', rewrite: estimates(toHex(gasMax + 1n)) })
  expect(await tryTransaction(client, payment(), limits)).toEqual({ kind: 'dear', gas: gasMax + 1n })
})

test('P-46: the limit is at least what nodes ask for the bytes of its data', async () => {
  const data: Hex = `0x${'01'.repeat(5_000)}`
  expect(await tried('0x', { data })).toMatchObject({ kind: 'succeeds', gas: 21_000n + 64n * 5_000n })
})

test('P-46: coin that does not reach for value and gas at its price is no refusal of the payment', async () => {
  expect(await tried('0x', { maxFeePerGasWei: parseEther('1') })).toEqual({ kind: 'short' })
})

const estimates = (gas: Hex) => (call: SeenCall, result: unknown) =>
  call.method === 'eth_estimateGas' ? gas : result

test.each<[string, (call: SeenCall, result: unknown) => unknown]>([
  ['that too little gas is enough', estimates('0x5208')],
  ['that any amount of gas is needed', estimates('0xffffffffffff')],
])('P-46: one endpoint of three that says %s changes nothing', async (_lie, rewrite) => {
  const { proxies, client } = await threeEndpoints()
  const { deployment } = bed
  const transfer = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [at, 1n] })
  const asked = payment({ to: deployment.tokens.USDC, data: transfer, valueWei: 0n })
  const honest = await tryTransaction(client, asked, limits)
  expect(honest.kind).toBe('succeeds')
  await proxies[0]?.set({ kind: 'lie', rewrite })
  expect(await tryTransaction(client, asked, limits)).toEqual(honest)
})

test.each([
  ['would fail', { code: 3, message: 'execution reverted' }],
  ['is too poor', { code: -32_000, message: 'insufficient funds for gas * price + value' }],
])('P-46: one endpoint of three that says that it %s stops no payment', async (_lie, error) => {
  await bed.node('anvil_setCode', [at, '0x'])
  const { proxies, client } = await threeEndpoints()
  await proxies[0]?.set({ kind: 'nodeError', ...error })
  expect(await tryTransaction(client, payment(), limits)).toMatchObject({ kind: 'succeeds' })
})

test('P-46: one endpoint of three that says that everything succeeds has nothing signed that fails', async () => {
  await bed.node('anvil_setCode', [at, '0x'])
  const { proxies, client } = await threeEndpoints()
  const [, ...honest] = proxies
  for (const proxy of honest) await proxy.set({ kind: 'nodeError', code: 3, message: 'execution reverted' })
  expect(await tryTransaction(client, payment(), limits)).toEqual(fails)
})

/** The answer to a quote about a payment of coin to the account, by three endpoints of which the first one lies. */
async function quotedTrial(code: Hex, lie: FaultMode) {
  await bed.node('anvil_setCode', [at, code])
  await bed.node('anvil_mine', ['0x1'])
  const { proxies, client } = await threeEndpoints()
  const head = await readHead(client)
  await proxies[0]?.set(lie)
  const quoting = ethereumQuotingChain.open({
    client,
    multicall3: bed.deployment.multicall3,
    currentHead: () => head,
    now: Date.now,
    budgetMs: 5_000,
    neededWithinMs: 5_000,
    onFailure: () => {},
  })
  const fill: SimulatedFill = {
    from: payer.address,
    to: at,
    data: '0x',
    value: 1_000n,
    token: undefined,
    hasCalls: false,
    gasPriceWei: 1_000_000_000n,
  }
  // Two that contradict each other say nothing, while the third is slow.
  let trial: PaymentTrial | undefined
  await waitUntil('enough say the same', async () => {
    trial = await quoting.tryPayment?.({
      account: at,
      currency: `0x${'0'.repeat(40)}`,
      amount: 1_000n,
      fill: () => fill,
    })
    return trial !== undefined
  })
  return trial
}

/** Uses 1.7 million gas. */
const burning: Hex = '0x61ffff5b600190038060035700'
const gasUsed = (gas: Hex) => (call: SeenCall, result: unknown) =>
  call.method === 'eth_simulateV1'
    ? JSON.parse(JSON.stringify(result).replaceAll(/"gasUsed":"0x[0-9a-f]+"/g, `"gasUsed":"${gas}"`))
    : result
const codeIs = (code: Hex) => (call: SeenCall, result: unknown) =>
  call.method === 'eth_getCode' ? code : result

test.each<[string, FaultMode]>([
  ['says a high gas', { kind: 'lie', rewrite: gasUsed('0x989680') }],
  ['says a low gas', { kind: 'lie', rewrite: gasUsed('0x5208') }],
  ['says that there is no code', { kind: 'lie', rewrite: codeIs('0x') }],
  ['says that it fails', { kind: 'nodeError', code: 3, message: 'execution reverted' }],
  ['says nothing', { kind: 'http', status: 503 }],
])(
  'Q-48: one endpoint of three that %s changes neither what a payee is charged nor whether it is paid',
  async (_lie, lie) => {
    const honest = await quotedTrial(burning, { kind: 'pass' })
    expect(honest?.units).toBeGreaterThan(1_000_000n)
    expect(await quotedTrial(burning, lie)).toEqual(honest)
    expect(await quotedTrial('0x5f5ffd', lie)).toMatchObject({ refusal: expect.any(String) })
  },
)

test('Q-48: one endpoint of three that invents code, or its gas, charges a plain account nothing', async () => {
  for (const rewrite of [codeIs(burning), gasUsed('0x989680')])
    expect(await quotedTrial('0x', { kind: 'lie', rewrite })).toEqual({ refusal: undefined })
})
