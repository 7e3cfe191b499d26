// Goal: every order is paid exactly once and as it says, over kill -9 at any moment, lost answers, paused and second
// processes, replaced and dropped transactions. Method: the solver as an operator runs it, on real nodes with real
// deposits; a scripted quote-api lists the work; what counts is what the chains hold at the end. CAUSEWAY_FAULTS=1
// runs the long form.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from '@causeway/core'
import { startTestNetwork, type TestNetwork, wrappedNativeAbi } from '@causeway/localnet'
import { encodeFunctionData, erc20Abi, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  claimItem,
  fillItem,
  freshAddress,
  type Item,
  type OrderWishes,
  paidOrder,
  paidOrders,
  refundItem,
} from './support/paidOrders.ts'
import { startScriptedWork } from './support/scriptedWork.ts'
import {
  querySolver,
  runSolverCommand,
  type SolverBench,
  startSolver,
  startSolverBench,
  surviveKills,
  type UserChain,
  watchFills,
} from './support/solverBench.ts'
import { until } from './support/until.ts'

const kills = process.env['CAUSEWAY_FAULTS'] === '1' ? 100 : 5
const itemsPerKill = 6
let network: TestNetwork
let bench: SolverBench

beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  bench = await startSolverBench(network)
})
afterAll(async () => {
  await bench?.stop()
  await network?.stop()
})

const usdcOf = (chain: UserChain) => network.deployment[chain].tokens.USDC
const nativeBalance = (chain: UserChain, address: Hex) =>
  network.chains[chain].chain.client.getBalance({ address })
const tokenBalance = (chain: UserChain, token: Hex, holder: Hex) =>
  network.chains[chain].chain.client.readContract({
    ...{ address: token, abi: erc20Abi, functionName: 'balanceOf', args: [holder] },
  })

async function start(overrides: Readonly<Record<string, string>> = {}) {
  const work = await startScriptedWork()
  const settings = await bench.settings(work, overrides)
  const solver = startSolver(settings)
  await solver.ready()
  return { work, settings, solver }
}

/** Orders of both directions that pay `1000` of something each. */
const manyWishes = (count: number): OrderWishes[] =>
  Array.from({ length: count }, (_, index) => ({
    from: index % 2 === 0 ? ('base' as const) : ('optimism' as const),
    payments: [{ amount: 1_000n, ...(index % 3 === 0 && { currency: zeroAddress }) }],
  }))

describe('the solver', () => {
  test('pays native coin, tokens, a gas top-up, calls, refunds and claims as the items say, and reports them', async () => {
    const { work, solver } = await start()
    const [native, both, called, refunded, wrapped, claimed] = Array.from({ length: 6 }, freshAddress)
    if (!native || !both || !called || !refunded || !wrapped || !claimed) throw new Error('no addresses')
    const weth = network.deployment.optimism.wrappedNative
    const wrap = {
      ...{ to: weth, value: 9n },
      data: encodeFunctionData({ abi: wrappedNativeAbi, functionName: 'deposit' }),
    }
    const [first, second, third, fourth, back] = await paidOrders(network, [
      { payments: [{ recipient: native, currency: zeroAddress, amount: 1000n }] },
      {
        payments: [
          { recipient: both, amount: 2500n },
          { recipient: both, currency: zeroAddress, amount: 77n },
        ],
      },
      { payments: [{ recipient: called, amount: 3n }], calls: [wrap] },
      { payments: [{ recipient: wrapped, currency: weth, amount: 55n }] },
      { refundTo: refunded },
    ])
    if (!first || !second || !third || !fourth || !back) throw new Error('no orders')
    const items = [
      fillItem(network, first),
      fillItem(network, second),
      fillItem(network, third, { calls: [{ ...wrap, value: '9' }] }),
      fillItem(network, fourth),
      refundItem(network, back, { amount: '4321' }),
      claimItem(network, 'base', { recipient: claimed, currency: usdcOf('base'), amount: 777n }),
    ]
    for (const each of items) work.add(each)
    await until('all are reported', () => items.every(({ id }) => work.reports.has(id)))
    await settled(items)
    expect(solver.output()).not.toContain(network.keys.fillWallet.privateKey.slice(2))
    expect(await nativeBalance('optimism', native)).toBe(1000n)
    expect(await tokenBalance('optimism', usdcOf('optimism'), both)).toBe(2500n)
    expect(await nativeBalance('optimism', both)).toBe(77n)
    expect(await tokenBalance('optimism', usdcOf('optimism'), called)).toBe(3n)
    expect(await nativeBalance('base', refunded)).toBe(4321n)
    expect(await tokenBalance('optimism', weth, wrapped)).toBe(55n)
    expect(await tokenBalance('base', usdcOf('base'), claimed)).toBe(777n)
    solver.kill('SIGTERM')
    expect(await solver.ended).toBe('exit code 0')
  })

  test('tells what its wallet holds and what to move where', async () => {
    const settings = await bench.settings(await startScriptedWork())
    const report = await runSolverCommand(settings, ['inventory'])
    expect(report).toMatch(/^base +ETH +[0-9.]+ +floor 0.01$/m)
    expect(report).toMatch(/^optimism +ETH +[0-9.]+ +floor 0.01$/m)
    expect(report).toMatch(/move|Nothing needs to be moved/)
    await expect(runSolverCommand(settings, ['pay', 'me'])).rejects.toThrow('Commands: ')
  })

  test('refuses what it must not pay, and says why', async () => {
    const { work } = await start()
    const past = Math.floor(Date.now() / 1_000) - 60
    const deadCall = { to: usdcOf('optimism'), data: '0xdeadbeef' as const }
    const [paid, overdue, failing] = await paidOrders(network, [
      {},
      { deadline: past },
      { calls: [{ ...deadCall, value: 0n }] },
    ])
    if (!paid || !overdue || !failing) throw new Error('no orders')
    const refused = [
      fillItem(network, overdue),
      fillItem(network, paid, { chainId: 1 }),
      fillItem(network, paid, { payments: [{ recipient: 'nobody', currency: zeroAddress, amount: '1' }] }),
      fillItem(network, failing, { calls: [{ ...deadCall, value: '0' }] }),
    ]
    for (const each of refused) work.add(each)
    await until('all are refused', () => refused.every(({ id }) => work.failures.has(id)))
    expect(refused.map(({ id }) => work.failures.get(id)?.[0])).toEqual([
      'the deadline has passed',
      "chain 1 is none of this solver's",
      expect.stringContaining('payments.0.recipient'),
      'the transaction would revert',
    ])
    expect(work.reports.size).toBe(0)

    const first = fillItem(network, paid)
    work.add(first)
    await until('the order is filled', () => work.reports.has(first.id))
    const again = fillItem(network, paid)
    work.add(again)
    await until('a second item for it is refused', () => work.failures.has(again.id))
    expect(work.failures.get(again.id)).toEqual(['another item filled the order'])
    await settled([first])
    const back = refundItem(network, paid)
    work.add(back)
    await until('its refund is refused', () => work.failures.has(back.id))
    expect(work.failures.get(back.id)).toEqual(['the fill has used the deposit'])
  })

  test('sends nothing for an item that was closed meanwhile, and pays it when it is listed again', async () => {
    const { work, solver } = await start()
    const [one, two] = await paidOrders(network, manyWishes(2))
    if (!one || !two) throw new Error('no orders')
    const [closed, next] = [fillItem(network, one), fillItem(network, two)]
    const recipient = one.order.output.payments[0]?.recipient as Hex
    work.refuseReports(1)
    work.add(closed)
    await until('its nonce is taken for good', () => /record_settled.*cancelled/.test(solver.output()))
    expect(await nativeBalance('optimism', recipient)).toBe(0n)
    work.add(next)
    await until('the next one is paid', () => work.reports.has(next.id))
    expect(work.reports.has(closed.id)).toBe(false)
    work.reopen(closed.id)
    await until('it is paid at last', async () => (await nativeBalance('optimism', recipient)) === 1_000n)
    await settled([closed, next])
  })

  test('signs nothing while the stop switch is thrown, nor in a dry run', async () => {
    const { work, settings } = await start({ DRY_RUN: 'on' })
    const item = fillItem(network, await paidOrder(network))
    work.add(item)
    await sleep(2_000)
    expect(await querySolver(settings, 'select 1 from signed_record')).toEqual([])
    const { work: other, settings: stopped } = await start()
    expect(await runSolverCommand(stopped, ['stop', 'a', 'test'])).toContain('Stopped: a test.')
    await sleep(500)
    other.add(item)
    await sleep(2_000)
    expect(await querySolver(stopped, 'select 1 from signed_record')).toEqual([])
    expect(await runSolverCommand(stopped, ['status'])).toContain('Stopped: a test.')
    expect(await runSolverCommand(stopped, ['resume'])).toContain('may sign')
    await until('it is paid', () => other.reports.has(item.id))
    expect(work.reports.size + work.failures.size).toBe(0)
  })

  test(`pays every order once through ${kills} kills at random moments, and lost answers`, async () => {
    const work = await startScriptedWork()
    const settings = await bench.settings(work)
    const orders = await paidOrders(network, manyWishes(itemsPerKill * kills))
    const items = orders.map((order) => fillItem(network, order))
    const left = [...items]
    const last = await surviveKills(settings, { work, kills }, async () => {
      for (const item of left.splice(0, itemsPerKill)) work.add(item)
    })
    await until('all are reported', () => items.every(({ id }) => work.reports.has(id)))
    await settled(items, last.output)
    for (const { id, orderId, chain } of items) {
      const [hash] = (await fillsOf(chain)).get(orderId) ?? []
      await until('the mined one was told last', () => work.reports.get(id)?.at(-1) === hash)
    }
    expect(work.failures.size).toBe(0)
  }, 1_800_000)

  test('a process that slept past its lease signs nothing more; another one has gone on', async () => {
    const { work, settings, solver } = await start()
    const orders = await paidOrders(network, manyWishes(12))
    const items = orders.map((order) => fillItem(network, order))
    for (const item of items.slice(0, 6)) work.add(item)
    await until('some are begun', () => work.reports.size > 0)
    solver.kill('SIGSTOP')
    const second = startSolver(settings)
    await until(
      'the second one has the leases',
      () => (second.output().match(/lease_won/g) ?? []).length >= 2,
    )
    for (const item of items.slice(6)) work.add(item)
    solver.kill('SIGCONT')
    await until('all are reported', () => items.every(({ id }) => work.reports.has(id)))
    await settled(items, () => `${solver.output()}\n---\n${second.output()}`)
    const twice = await querySolver(
      settings,
      'select wallet, chain_id, nonce from signed_record group by 1, 2, 3 having count(*) > 1',
    )
    expect(twice).toEqual([])
  })

  test('a database restored to before fills, refunds and claims costs gas and nothing else', async () => {
    const { work, solver } = await start()
    const [paid, back] = await paidOrders(network, manyWishes(2))
    if (!paid || !back) throw new Error('no orders')
    const payment = { recipient: freshAddress(), currency: usdcOf('base'), amount: 777n }
    const claim = claimItem(network, 'base', payment)
    const done = [fillItem(network, paid), refundItem(network, back), claim]
    for (const item of done) work.add(item)
    await until('all are reported', () => done.every(({ id }) => work.reports.has(id)))
    await settled(done)
    solver.kill('SIGTERM')
    await solver.ended
    const wallet = network.keys.fillWallet.address
    const stock = () =>
      Promise.all((['base', 'optimism'] as const).map((key) => tokenBalance(key, usdcOf(key), wallet)))
    const before = await stock()

    const { work: offered } = await start()
    const again = [
      fillItem(network, paid),
      refundItem(network, paid),
      refundItem(network, back),
      fillItem(network, back),
      { ...claimItem(network, 'base', payment), payload: claim.payload },
    ]
    for (const item of again) offered.add(item)
    await until('all are refused', () => again.every(({ id }) => offered.failures.has(id)))
    expect(again.map(({ id }) => offered.failures.get(id)?.[0])).toEqual([
      'the transaction would revert',
      'the order was filled',
      'the transaction would revert',
      'the transaction would revert',
      'the transaction would revert',
    ])
    expect(offered.reports.size).toBe(0)
    expect(await stock()).toEqual(before)
  })

  test('two of them share the work: one writes, and the other goes on when it ends', async () => {
    const { work, settings, solver } = await start()
    const second = startSolver(settings)
    await second.ready()
    const orders = await paidOrders(network, manyWishes(10))
    const items = orders.map((order) => fillItem(network, order))
    for (const item of items.slice(0, 5)) work.add(item)
    await until('half are reported', () => items.slice(0, 5).every(({ id }) => work.reports.has(id)))
    solver.kill('SIGKILL')
    await solver.ended
    for (const item of items.slice(5)) work.add(item)
    await until('all are reported', () => items.every(({ id }) => work.reports.has(id)))
    await settled(items, () => `${solver.output()}\n---\n${second.output()}`)
  })

  test('two with wallets and databases of their own share a market: an order belongs to the one that reports first', async () => {
    const other = network.keys.users[4]
    if (!other) throw new Error('a network has users')
    const { work, solver } = await start()
    const second = startSolver(await bench.settings(work, { ECDSA_PRIVATE_KEY: other.privateKey }))
    await second.ready()
    const orders = await paidOrders(network, manyWishes(8))
    const items = orders.map((order) => fillItem(network, order))
    for (const item of items) work.add(item)
    await until('all are reported', () => items.every(({ id }) => work.reports.has(id)))
    await settled(items, () => `${solver.output()}\n---\n${second.output()}`)
  })

  test('a nonce that somebody else used, and a transaction that its node dropped', async () => {
    const { node, client } = network.chains.optimism.chain
    const { work, solver } = await start()
    const { address, privateKey } = network.keys.fillWallet
    await node.setIntervalMining({ interval: 0 })
    await node.setAutomine(false)
    try {
      const [one, two] = await paidOrders(
        network,
        manyWishes(4).filter(({ from }) => from === 'base'),
      )
      if (!one || !two) throw new Error('no orders')
      const [replaced, dropped] = [fillItem(network, one), fillItem(network, two)]
      work.add(replaced)
      await until('it was told', () => work.reports.has(replaced.id))
      const told = work.reports.get(replaced.id)?.[0] as Hex
      await until('the node has it', async () => (await pending(told)) !== undefined)
      const { nonce } = await client.getTransaction({ hash: told })
      const wallet = network.chains.optimism.chain.as({ address, privateKey }).walletClient
      await wallet.sendTransaction({
        ...{ to: address, value: 0n, nonce, gas: 21_000n },
        ...{ maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n },
      })
      work.add(dropped)
      await until('the next one was told', () => work.reports.has(dropped.id))
      const second = work.reports.get(dropped.id)?.[0] as Hex
      await until('the node has it', async () => (await pending(second)) !== undefined)
      await node.dropTransaction({ hash: second })
      await until('it is sent again', async () => (await pending(second)) !== undefined)
      await node.setIntervalMining({ interval: 1 })
      await until('the first one has failed for good', () =>
        /record_settled.*"lost"|"lost".*record_settled/.test(solver.output()),
      )
      work.reopen(replaced.id)
      await settled([replaced, dropped], solver.output)
    } finally {
      await node.setAutomine(true)
      await node.setIntervalMining({ interval: 1 })
    }

    async function pending(hash: Hex) {
      return client.getTransaction({ hash }).catch(() => undefined)
    }
  })

  test('offers more for what is not mined, never beyond the ceiling, and tells the service which one counts', async () => {
    const { node } = network.chains.optimism.chain
    const { work, settings, solver } = await start()
    const [one] = await paidOrders(network, manyWishes(1))
    if (!one) throw new Error('no order')
    const item = fillItem(network, one)
    await node.setIntervalMining({ interval: 0 })
    await node.setAutomine(false)
    try {
      work.add(item)
      await until('it was offered for more', () => (work.reports.get(item.id) ?? []).length >= 2)
    } finally {
      await node.setAutomine(true)
      await node.setIntervalMining({ interval: 1 })
    }
    await settled([item], solver.output)
    const hashes = (await fillsOf('optimism')).get(item.orderId)
    await until('the mined one was told last', () => work.reports.get(item.id)?.at(-1) === hashes?.[0])
    const [row] = await querySolver(settings, 'select record from signed_record order by created_at limit 1')
    expect(row?.['record']).toMatchObject({ transactions: [{}, {}] })
  })
})

const watchers = new Map<UserChain, ReturnType<typeof watchFills>>()

function fillsOf(key: UserChain) {
  const watcher = watchers.get(key) ?? watchFills(network, key)
  watchers.set(key, watcher)
  return watcher()
}

/** Waits until every item's order is on its chain, lets whatever else was sent come too, and finds each paid once. */
async function settled(items: readonly Item[], output: () => string = () => ''): Promise<void> {
  const chains = [...new Set(items.map(({ chain }) => chain))]
  for (const key of chains) {
    const own = items.filter(({ chain }) => chain === key)
    await until('all are mined', async () => {
      const fills = await fillsOf(key)
      return own.every(({ orderId }) => fills.has(orderId))
    })
    const { client } = network.chains[key].chain
    const head = await client.getBlockNumber({ cacheTime: 0 })
    await until(
      'further blocks are mined',
      async () => (await client.getBlockNumber({ cacheTime: 0 })) >= head + 3n,
    )
    const fills = await fillsOf(key)
    for (const { id, orderId } of own) expect(fills.get(orderId), `${id}\n${output()}`).toHaveLength(1)
  }
}
