// Goal: every item is paid exactly once and as it says, over kill -9 at any moment and lost answers.
// Method: the solver as `npm start` runs it, on real nodes; a scripted quote-api lists the work;
// what counts is what the chains hold at the end. CAUSEWAY_FAULTS=1 runs the
// long form.
import type { Hex } from '@causeway/core'
import { encodeFunctionData, erc20Abi, zeroAddress } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wrappedNativeAbi } from '../../../packages/localnet/src/contracts/abis.generated.ts'
import { startTestNetwork, type TestNetwork } from '../../../packages/localnet/src/network/testNetwork/startTestNetwork.ts'
import { until } from '../../../packages/localnet/test/support/networkBench.ts'
import { type ScriptedItem, startScriptedWork } from './support/scriptedWork.ts'
import {
  startSolver,
  surviveKills,
  type UserChain,
  watchFills,
  writeSolverFile,
} from './support/solverBench.ts'

const kills = process.env['CAUSEWAY_FAULTS'] === '1' ? 20 : 5
const itemsPerKill = 6
let network: TestNetwork

beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 1 })
})
afterAll(() => network?.stop())

const freshAddress = () => privateKeyToAddress(generatePrivateKey())
// CAST: 32 random bytes in hex.
const freshOrderId = () => generatePrivateKey() as Hex
let lastItem = 0

type Fill = ScriptedItem & { readonly orderId: Hex; readonly chain: UserChain }

function item(kind: 'fill' | 'refund' | 'claim', chain: UserChain, more: object): Fill {
  lastItem += 1
  const orderId = freshOrderId()
  const { chainId, fillContract } = network.deployment[chain]
  const deadline = Math.floor(Date.now() / 1_000) + 3_600
  return {
    id: `00000000-0000-4000-8000-${String(lastItem).padStart(12, '0')}`,
    kind,
    orderId,
    chain,
    payload: { orderId, claimId: orderId, chainId, fillContract, deadline, ...more },
  }
}

const usdcOf = (chain: UserChain) => network.deployment[chain].tokens.USDC
const nativeBalance = (chain: UserChain, address: Hex) =>
  network.chains[chain].chain.client.getBalance({ address })
const tokenBalance = (chain: UserChain, token: Hex, holder: Hex) =>
  network.chains[chain].chain.client.readContract({
    ...{ address: token, abi: erc20Abi, functionName: 'balanceOf', args: [holder] },
  })

async function start() {
  const work = await startScriptedWork()
  const { path, file } = await writeSolverFile(network, work)
  const solver = startSolver(path)
  await solver.ready()
  return { work, path, file, solver }
}

describe('the reference solver', () => {
  test('says that it is a development part, in its log and in its health', async () => {
    const { solver } = await start()
    expect(solver.output()).toContain('development part')
    const port = /ready on port ([0-9]+)/.exec(solver.output())?.[1]
    const answer = await fetch(`http://127.0.0.1:${port}/ready`)
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({
      notice: expect.stringContaining('development part'),
      wallet: expect.stringMatching(new RegExp(network.keys.fillWallet.address, 'i')),
    })
    expect((await fetch(`http://127.0.0.1:${port}/other`)).status).toBe(404)
    solver.kill('SIGTERM')
    expect(await solver.ended).toBe('exit code 0')
  })

  test('pays native coin, tokens, a gas top-up, calls, refunds and claims as the items say, and reports them', async () => {
    const { work } = await start()
    const [native, both, called, refunded, wrapped, claimed] = Array.from({ length: 6 }, freshAddress)
    const usdc = usdcOf('optimism')
    const weth = network.deployment.optimism.wrappedNative
    const wrap = {
      to: weth,
      data: encodeFunctionData({ abi: wrappedNativeAbi, functionName: 'deposit' }),
      value: '9',
    }
    const payment = (recipient: Hex | undefined, currency: Hex, amount: string) => ({
      recipient,
      currency,
      amount,
    })
    const items = [
      item('fill', 'optimism', { payments: [payment(native, zeroAddress, '1000')], calls: [] }),
      item('fill', 'optimism', {
        payments: [payment(both, usdc, '2500'), payment(both, zeroAddress, '77')],
        calls: [],
      }),
      item('fill', 'optimism', { payments: [payment(called, usdc, '3')], calls: [wrap] }),
      item('refund', 'base', { recipient: refunded, currency: usdcOf('base'), amount: '4321' }),
      item('fill', 'optimism', { payments: [payment(wrapped, weth, '55')], calls: [] }),
      item('claim', 'base', { recipient: claimed, currency: usdcOf('base'), amount: '777' }),
    ]
    for (const each of items) work.add(each)
    await until('all are reported', () => items.every(({ id }) => work.reports.has(id)))
    const fills = { base: await settled('base', items), optimism: await settled('optimism', items) }
    for (const { id, chain, orderId } of items)
      expect(fills[chain].get(orderId), id).toEqual([work.reports.get(id)?.[0]])
    if (!native || !both || !called || !refunded || !wrapped || !claimed) throw new Error('no addresses')
    expect(await nativeBalance('optimism', native)).toBe(1000n)
    expect(await tokenBalance('optimism', usdc, both)).toBe(2500n)
    expect(await nativeBalance('optimism', both)).toBe(77n)
    expect(await tokenBalance('optimism', usdc, called)).toBe(3n)
    expect(await tokenBalance('base', usdcOf('base'), refunded)).toBe(4321n)
    expect(await tokenBalance('optimism', weth, wrapped)).toBe(55n)
    expect(await tokenBalance('base', usdcOf('base'), claimed)).toBe(777n)
  })

  test('refuses what it must not pay, and says why', async () => {
    const { work } = await start()
    const token = usdcOf('base')
    const payments = [{ recipient: freshAddress(), currency: token, amount: '1' }]
    const late = item('fill', 'base', { payments, deadline: Math.floor(Date.now() / 1_000) - 60 })
    const elsewhere = item('fill', 'base', { payments, fillContract: token })
    const unknownChain = item('fill', 'base', { payments, chainId: 1 })
    const broken = item('fill', 'base', { payments: [{ recipient: 'nobody', currency: token, amount: '1' }] })
    const failing = item('fill', 'base', { payments, calls: [{ to: token, data: '0xdeadbeef', value: '0' }] })
    const refused = [late, elsewhere, unknownChain, broken, failing]
    for (const each of refused) work.add(each)
    await until('all are refused', () => refused.every(({ id }) => work.failures.has(id)))
    expect(refused.map(({ id }) => work.failures.get(id)?.[0])).toEqual([
      'the deadline has passed',
      'the fill contract is another one',
      "chain 1 is none of this solver's",
      expect.stringContaining('payments.0.recipient'),
      'the transaction would revert',
    ])
    expect(work.reports.size).toBe(0)

    const first = item('fill', 'base', { payments })
    work.add(first)
    await until('the order is filled', () => work.reports.has(first.id))
    const again: Fill = { ...item('fill', 'base', {}), payload: first.payload, orderId: first.orderId }
    work.add(again)
    await until('a second item for it is refused', () => work.failures.has(again.id))
    expect(work.failures.get(again.id)).toEqual(['another item filled the order'])

    const payout = { recipient: freshAddress(), currency: token, amount: '1' }
    const claim = item('claim', 'base', payout)
    work.add(claim)
    await until('the claim is paid', () => work.reports.has(claim.id))
    const twice: Fill = { ...item('claim', 'base', payout), payload: claim.payload, orderId: claim.orderId }
    work.add(twice)
    await until('a second item for it is refused', () => work.failures.has(twice.id))
    expect(work.failures.get(twice.id)).toEqual(['another item paid the claim'])
  })

  test('sends nothing for an item that was closed meanwhile, and pays it when it is listed again', async () => {
    const { work, solver } = await start()
    const [first, other] = [freshAddress(), freshAddress()]
    const fillOf = (recipient: Hex) =>
      item('fill', 'base', { payments: [{ recipient, currency: zeroAddress, amount: '5' }] })
    const closed = fillOf(first)
    work.refuseReports(1)
    work.add(closed)
    await until('its nonce is taken for good', () => solver.output().includes(`fill ${closed.id}: cancelled`))
    expect(await nativeBalance('base', first)).toBe(0n)
    const next = fillOf(other)
    work.add(next)
    await until('the next one is paid', async () => (await nativeBalance('base', other)) === 5n)
    expect(await nativeBalance('base', first)).toBe(0n)
    expect(work.reports.has(closed.id)).toBe(false)

    work.reopen(closed.id)
    await until('it is paid at last', async () => (await nativeBalance('base', first)) === 5n)
    const fills = await settled('base', [closed, next])
    expect(fills.get(closed.orderId)).toEqual(work.reports.get(closed.id))
    expect(fills.get(next.orderId)).toEqual(work.reports.get(next.id))
  })

  test('refunds instead of a fill only when the fill can never be mined', async () => {
    const { work } = await start()
    const recipient = freshAddress()
    const payment = { recipient, currency: usdcOf('base'), amount: '7' }
    const fill = item('fill', 'base', { payments: [payment] })
    work.add(fill)
    await until('the fill is reported', () => work.reports.has(fill.id))
    await settled('base', [fill])
    const replaces = work.reports.get(fill.id)?.[0]
    const refund = item('refund', 'base', { ...payment, orderId: fill.orderId, replaces })
    work.add(refund)
    await until('the refund is refused', () => work.failures.has(refund.id))
    expect(work.failures.get(refund.id)).toEqual(['the fill that it replaces was mined'])
    expect(await tokenBalance('base', usdcOf('base'), recipient)).toBe(7n)
  })

  test('lets no second process work in its folder', async () => {
    const { path } = await start()
    const second = startSolver(path)
    expect(await second.ended).toBe('exit code 1')
    expect(second.output()).toContain('a solver already runs here')
    expect(second.output()).not.toContain(network.keys.fillWallet.privateKey.slice(2))
  })

  test(`pays every order once through ${kills} kills at random moments, and lost answers`, async () => {
    const work = await startScriptedWork()
    const { path } = await writeSolverFile(network, work)
    const items: Fill[] = []
    const last = await surviveKills(path, { work, kills }, async () => {
      for (let count = 0; count < itemsPerKill; count += 1) {
        const chain = count % 2 === 0 ? 'base' : 'optimism'
        const recipient = freshAddress()
        const currency = count % 3 === 0 ? zeroAddress : usdcOf(chain)
        const fill = item('fill', chain, { payments: [{ recipient, currency, amount: '1000' }], calls: [] })
        items.push(fill)
        work.add(fill)
      }
    })
    await until('all are reported', () => items.every(({ id }) => work.reports.has(id)))
    const fills = { base: await settled('base', items), optimism: await settled('optimism', items) }
    for (const { id, orderId, chain } of items) {
      expect(fills[chain].get(orderId), `${id}\n${last.output()}`).toHaveLength(1)
      expect(new Set(work.reports.get(id))).toEqual(new Set(fills[chain].get(orderId)))
    }
    expect(work.failures.size).toBe(0)
  }, 400_000)
})

/** Waits until every item's order is on its chain, and lets whatever else was sent come too. */
async function settled(key: UserChain, items: readonly Fill[]) {
  const own = items.filter(({ chain }) => chain === key)
  const readFills = watchFills(network, key)
  await until('all are mined', async () => {
    const fills = await readFills()
    return own.every(({ orderId }) => fills.has(orderId))
  })
  const { client } = network.chains[key].chain
  const head = await client.getBlockNumber({ cacheTime: 0 })
  await until(
    'further blocks are mined',
    async () => (await client.getBlockNumber({ cacheTime: 0 })) >= head + 3n,
  )
  return readFills()
}
