// Goal: every order is paid exactly once over kill -9 at any moment, lost answers, paused and second processes, a
// restored database, replaced and dropped transactions. Method: the solver as an operator runs it, on real nodes with
// real deposits; a scripted quote-api lists the work; what counts is what the chains hold at the end.
// CAUSEWAY_FAULTS=1 runs the long form.
import type { Hex } from '@causeway/core'
import { startFaultProxy, waitUntil } from '@causeway/localnet'
import { zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  claimItem,
  deposit,
  fillItem,
  freshAddress,
  manyWishes,
  paidOrders,
  refundItem,
  signOrder,
} from './support/paidOrders.ts'
import { startScriptedWork } from './support/scriptedWork.ts'
import { type SolverBed, startSolverBed } from './support/solverBed.ts'
import {
  changedConfigs,
  querySolver,
  runSolverCommand,
  startSolver,
  surviveKills,
} from './support/solverBench.ts'

const kills = process.env['CAUSEWAY_FAULTS'] === '1' ? 100 : 5
const itemsPerKill = 6
let bed: SolverBed
let network: SolverBed['network']
let bench: SolverBed['bench']

beforeAll(async () => {
  bed = await startSolverBed()
  network = bed.network
  bench = bed.bench
})
afterAll(() => bed?.stop())

/** While a test holds blocks back, the head of the chain is no reason to have no price of gas. */
const patientConfigs = () =>
  changedConfigs('quote.local.json', (text) =>
    text.replace(/"headMaxAgeMs": \d+/g, '"headMaxAgeMs": 3600000'),
  )

describe('the solver', () => {
  test(`pays every order once through ${kills} kills at random moments, and lost answers`, async () => {
    const work = await startScriptedWork()
    const settings = await bench.settings(work)
    const orders = await paidOrders(network, manyWishes(itemsPerKill * kills))
    const items = orders.map((order) => fillItem(network, order))
    const left = [...items]
    const last = await surviveKills(settings, { work, kills }, async () => {
      for (const item of left.splice(0, itemsPerKill)) work.add(item)
    })
    await waitUntil('all are reported', () => items.every(({ id }) => work.reports.has(id)))
    await bed.settled(items, last.output)
    for (const { id, orderId, chain } of items) {
      const [hash] = (await bed.fillsOf(chain)).get(orderId) ?? []
      await waitUntil('the mined one was told last', () => work.reports.get(id)?.at(-1) === hash)
    }
    expect(work.failures.size).toBe(0)
  }, 1_800_000)

  test('Q-225: a process that slept past its lease signs nothing more; another one has gone on', async () => {
    const { work, settings, solver } = await bed.start()
    const orders = await paidOrders(network, manyWishes(12))
    const items = orders.map((order) => fillItem(network, order))
    for (const item of items.slice(0, 6)) work.add(item)
    await waitUntil('some are begun', () => work.reports.size > 0)
    solver.kill('SIGSTOP')
    const second = startSolver(settings)
    await waitUntil(
      'the second one has the leases',
      () => (second.output().match(/lease_won/g) ?? []).length >= 2,
    )
    for (const item of items.slice(6)) work.add(item)
    solver.kill('SIGCONT')
    await waitUntil('all are reported', () => items.every(({ id }) => work.reports.has(id)))
    await bed.settled(items, () => `${solver.output()}\n---\n${second.output()}`)
    const twice = await querySolver(
      settings,
      'select wallet, chain_id, nonce from signed_record group by 1, 2, 3 having count(*) > 1',
    )
    expect(twice).toEqual([])
  })

  test('Q-224: a database restored to before fills, refunds and claims costs gas and nothing else', async () => {
    const { work, solver } = await bed.start()
    const [paid, back] = await paidOrders(network, manyWishes(2))
    if (!paid || !back) throw new Error('no orders')
    const payment = { recipient: freshAddress(), currency: bed.usdcOf('base'), amount: 777n }
    const claim = claimItem(network, 'base', payment)
    const done = [fillItem(network, paid), refundItem(network, back), claim]
    for (const item of done) work.add(item)
    await waitUntil('all are reported', () => done.every(({ id }) => work.reports.has(id)))
    await bed.settled(done)
    solver.kill('SIGTERM')
    await solver.ended
    const wallet = network.keys.fillWallet.address
    const stock = () =>
      Promise.all(
        (['base', 'optimism'] as const).map((key) => bed.tokenBalance(key, bed.usdcOf(key), wallet)),
      )
    const before = await stock()

    const { work: offered } = await bed.start()
    const again = [
      fillItem(network, paid),
      refundItem(network, paid),
      refundItem(network, back),
      fillItem(network, back),
      { ...claimItem(network, 'base', payment), payload: claim.payload },
    ]
    for (const item of again) offered.add(item)
    await waitUntil('all are refused', () => again.every(({ id }) => offered.failures.has(id)))
    expect(again.map(({ id }) => offered.failures.get(id)?.[0])).toEqual([
      'EXECUTION_REVERTED: the transaction would revert',
      'the order was filled',
      'EXECUTION_REVERTED: the transaction would revert',
      'EXECUTION_REVERTED: the transaction would revert',
      'EXECUTION_REVERTED: the transaction would revert',
    ])
    expect(offered.reports.size).toBe(0)
    expect(await stock()).toEqual(before)
  })

  test('two of them share the work: one writes, and the other goes on when it ends', async () => {
    const { work, settings, solver } = await bed.start()
    const second = startSolver(settings)
    await second.ready()
    const orders = await paidOrders(network, manyWishes(10))
    const items = orders.map((order) => fillItem(network, order))
    for (const item of items.slice(0, 5)) work.add(item)
    await waitUntil('half are reported', () => items.slice(0, 5).every(({ id }) => work.reports.has(id)))
    solver.kill('SIGKILL')
    await solver.ended
    for (const item of items.slice(5)) work.add(item)
    await waitUntil('all are reported', () => items.every(({ id }) => work.reports.has(id)))
    await bed.settled(items, () => `${solver.output()}\n---\n${second.output()}`)
  })

  test('two with wallets and databases of their own share a market: an order belongs to the one that reports first', async () => {
    const other = network.keys.users[4]
    if (!other) throw new Error('a network has users')
    const { work, solver } = await bed.start()
    const second = startSolver(await bench.settings(work, { ECDSA_PRIVATE_KEY: other.privateKey }))
    await second.ready()
    const orders = await paidOrders(network, manyWishes(8))
    const items = orders.map((order) => fillItem(network, order))
    for (const item of items) work.add(item)
    await waitUntil('all are reported', () => items.every(({ id }) => work.reports.has(id)))
    await bed.settled(items, () => `${solver.output()}\n---\n${second.output()}`)
  })

  test('Q-227: two that share a market pay an order once, though a service offers it to both, and go on where one is gone', async () => {
    const other = network.keys.users[4]
    if (!other) throw new Error('a network has users')
    const wallets = [network.keys.fillWallet.address, other.address]
    const sharing = { fillWallets: wallets, turnSeconds: 600 }
    const CONFIG_DIR = await changedConfigs('solver.local.json', (text) =>
      JSON.stringify({ ...JSON.parse(text), sharing }),
    )
    const { work, solver } = await bed.start({ CONFIG_DIR })
    const lying = await startScriptedWork()
    const second = startSolver(
      await bench.settings(lying, { CONFIG_DIR, ECDSA_PRIVATE_KEY: other.privateKey }),
    )
    await second.ready()
    // The first wallet's turn for the hasty ones is over before they come, as if that wallet were gone.
    const inMinutes = Math.floor(Date.now() / 1_000) + 500
    const hasty = manyWishes(6).map((wish) => ({ ...wish, deadline: inMinutes }))
    const orders = await paidOrders(network, [...manyWishes(6), ...hasty])
    const items = orders.map((order) => fillItem(network, order))
    for (const item of items) {
      work.add(item)
      lying.add(item)
    }
    const output = () => `${solver.output()}\n---\n${second.output()}`
    await waitUntil('all are reported', () =>
      items.every(({ id }) => work.reports.has(id) || lying.reports.has(id)),
    )
    await bed.settled(items, output)
    expect(items.filter(({ id }) => work.reports.has(id) && lying.reports.has(id))).toEqual([])
    expect([...work.failures, ...lying.failures], output()).toEqual([])
  })

  test('a nonce that somebody else used, and a transaction that its node dropped', async () => {
    const { node, client } = network.chains.optimism.chain
    const { work, settings, solver } = await bed.start({ CONFIG_DIR: await patientConfigs() })
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
      await waitUntil('it was told', () => work.reports.has(replaced.id))
      const nonce = await nonceOf(replaced.id)
      const wallet = network.chains.optimism.chain.as({ address, privateKey }).walletClient
      await wallet.sendTransaction({
        to: address,
        value: 0n,
        nonce,
        gas: 21_000n,
        maxFeePerGas: 10n ** 12n,
        maxPriorityFeePerGas: 10n ** 11n,
      })
      work.add(dropped)
      await waitUntil('the next one was told', () => work.reports.has(dropped.id))
      await nonceOf(dropped.id)
      // CAST: the bed reports hashes.
      const hash = work.reports.get(dropped.id)?.at(-1) as Hex
      await node.dropTransaction({ hash })
      // Sent again, possibly with higher fees.
      await nonceOf(dropped.id)
      await node.setIntervalMining({ interval: 1 })
      await waitUntil('the first one has failed for good', () =>
        /record_settled.*"lost"|"lost".*record_settled/.test(solver.output()),
      )
      // The reported failure ends the item; only then it is offered again.
      await waitUntil('the service was told so', async () => {
        const rows = await querySolver(
          settings,
          `select record from signed_record where id = '${replaced.id}'`,
        )
        return rows.some(({ record }) => JSON.stringify(record).includes('"failureReported":true'))
      })
      work.reopen(replaced.id)
      await bed.settled([replaced, dropped], solver.output)
    } finally {
      await node.setAutomine(true)
      await node.setIntervalMining({ interval: 1 })
    }

    /** Once its newest transaction waits at the node. */
    async function nonceOf(id: string): Promise<number> {
      let nonce: number | undefined
      await waitUntil('the node has it', async () => {
        // CAST: the bed reports hashes.
        const hash = work.reports.get(id)?.at(-1) as Hex
        nonce = await client.getTransaction({ hash }).then(
          (found) => found.nonce,
          () => undefined,
        )
        return nonce !== undefined
      })
      return nonce ?? 0
    }
  }, 400_000)

  test('P-51: what no node will ever take gives its nonce back at once, and keeps no other payment', async () => {
    const proxy = await startFaultProxy({ targetUrl: network.chains.optimism.url })
    onTestFinished(() => proxy.stop())
    const { work, solver } = await bed.start({ OPTIMISM_RPC_URL: proxy.url })
    const [one, two] = await paidOrders(
      network,
      manyWishes(4).filter(({ from }) => from === 'base'),
    )
    if (!one || !two) throw new Error('no orders')
    const [hungry, other] = [fillItem(network, one), fillItem(network, two)]
    await proxy.set({
      kind: 'unsupported',
      methods: ['eth_sendRawTransaction'],
      code: -32_000,
      message: 'exceeds block gas limit',
    })
    work.add(hungry)
    await waitUntil('its nonce goes to a cancellation', () => solver.output().includes('record_cancelling'))
    await proxy.set({ kind: 'pass' })
    work.add(other)
    await bed.settled([other], solver.output)
    await waitUntil('the service was told that it failed', () => work.reports.has(hungry.id))
    work.reopen(hungry.id)
    await bed.settled([hungry, other], solver.output)
  })

  test('P-55: what is sent goes to the submit endpoint alone, which frees no nonce, and stops nothing once it is back', async () => {
    const [proxy, submit] = await Promise.all(
      [1, 2].map(() => startFaultProxy({ targetUrl: network.chains.optimism.url })),
    )
    if (!proxy || !submit) throw new Error('no proxies')
    onTestFinished(async () => void (await Promise.all([proxy.stop(), submit.stop()])))
    const secret = 'a-key-of-a-relay'
    const { work, solver, settings } = await bed.start({
      OPTIMISM_RPC_URL: proxy.url,
      OPTIMISM_SUBMIT_RPC_URL: `${submit.url}/${secret}`,
    })
    const sent = (to: typeof proxy) => to.counters().callsByMethod['eth_sendRawTransaction'] ?? 0
    const wishes = manyWishes(8).filter(({ from }) => from === 'base')
    const [refused, swallowed, garbled, cut] = (await paidOrders(network, wishes)).map((order) =>
      fillItem(network, order),
    )
    if (!refused || !swallowed || !garbled || !cut) throw new Error('no orders')

    // Refused with words that would free the nonce if enough nodes said them.
    const refusal = { code: -32_000, message: 'exceeds block gas limit' }
    await submit.set({ kind: 'unsupported', methods: ['eth_sendRawTransaction'], ...refusal })
    work.add(refused)
    await waitUntil('it is refused', () => solver.output().includes('record_not_taken'))
    await submit.set({ kind: 'pass' })
    await bed.settled([refused], solver.output)
    expect(solver.output()).not.toContain('record_cancelling')

    // Taken and told to nobody.
    await submit.set({
      kind: 'unsupported',
      methods: ['eth_sendRawTransaction'],
      code: 1,
      message: 'already known',
    })
    work.add(swallowed)
    await waitUntil('it is swallowed', () => sent(submit) > 2 && work.reports.has(swallowed.id))
    await submit.set({ kind: 'pass' })
    await bed.settled([swallowed], solver.output)

    for (const [item, mode] of [
      [garbled, { kind: 'garbage' }],
      [cut, { kind: 'refuse' }],
    ] as const) {
      await submit.set(mode)
      const before = solver.output().length
      work.add(item)
      await waitUntil('it waits with its reason', () =>
        solver.output().slice(before).includes('The submit endpoint of chain optimism does not answer.'),
      )
      const [, ops = ''] = /"opsUrl":"([^"]+)"/.exec(solver.output()) ?? []
      const ready = await fetch(`${ops}/ready`).then((answer) => answer.json())
      expect(ready).toMatchObject({ ready: true, checks: { 'submit-optimism': 'failed' } })
      const report = await runSolverCommand(settings, ['doctor']).catch(
        (error: { stdout: string }) => error.stdout,
      )
      expect(report).toContain('"endpoint-silent","severity":"degrades","setting":"submitRpcUrl of optimism"')
      expect(work.reports.has(item.id)).toBe(false)
      await submit.set({ kind: 'pass' })
      await bed.settled([item], solver.output)
    }
    expect(sent(proxy)).toBe(0)
    expect(solver.output()).not.toContain(secret)
  }, 300_000)

  test('P-52: a payment to code that passed its trial and reverted on chain is not tried again', async () => {
    const { node } = network.chains.optimism.chain
    const { work, settings, solver } = await bed.start({ CONFIG_DIR: await patientConfigs() })
    const recipient = freshAddress()
    await node.setCode({ address: recipient, bytecode: '0x00' })
    const [order] = await paidOrders(network, [
      { payments: [{ recipient, currency: zeroAddress, amount: 7n }] },
    ])
    if (!order) throw new Error('no order')
    const item = fillItem(network, order)
    await node.setIntervalMining({ interval: 0 })
    await node.setAutomine(false)
    try {
      work.add(item)
      await waitUntil('it waits at the node', async () => (await node.getTxpoolStatus()).pending > 0)
      await node.setCode({ address: recipient, bytecode: '0x5f5ffd' })
    } finally {
      await node.setAutomine(true)
      await node.setIntervalMining({ interval: 1 })
    }
    await waitUntil('the service was told that it failed for good', async () => {
      const rows = await querySolver(settings, `select record from signed_record where id = '${item.id}'`)
      return (
        solver.output().includes('"outcome":"reverted"') &&
        JSON.stringify(rows).includes('"failureReported":true')
      )
    })
    // It would take the payment now.
    await node.setCode({ address: recipient, bytecode: '0x00' })
    work.reopen(item.id)
    await waitUntil(
      'it is refused',
      () => work.failures.get(item.id)?.at(-1)?.includes('it reverted on chain') === true,
    )
    expect(
      await querySolver(settings, `select attempt from signed_record where id = '${item.id}'`),
    ).toHaveLength(1)
  })

  test('P-53: refunds of one order that are not paid for share one allowance', async () => {
    const { work, settings } = await bed.start()
    const signed = await signOrder(network, { from: 'optimism' })
    const [first, second] = [await deposit(network, [signed], 10n), await deposit(network, [signed], 11n)]
    const [other] = await deposit(network, [await signOrder(network, { from: 'optimism' })], 10n)
    if (!first[0] || !second[0] || !other) throw new Error('no orders')
    const [one, two, third] = [
      refundItem(network, first[0], { amount: '10', endsOrder: false }),
      refundItem(network, second[0], { amount: '11', endsOrder: false }),
      refundItem(network, other, { amount: '10', endsOrder: false }),
    ]
    work.add(one)
    await waitUntil('the first is paid', () => work.reports.has(one.id))
    await querySolver(
      settings,
      `insert into budget_entry (budget, amount, record_id, attempt) values ('refund-gas:10:${signed.orderId}', 1e30, 'more', 0)`,
    )
    for (const item of [two, third]) work.add(item)
    await waitUntil('that of another order is paid', () => work.reports.has(third.id))
    expect(work.reports.has(two.id)).toBe(false)
    expect(work.failures.has(two.id)).toBe(false)
  })

  test('offers more for what is not mined, never beyond the ceiling, and tells the service which one counts', async () => {
    const { node } = network.chains.optimism.chain
    const { work, settings, solver } = await bed.start({ CONFIG_DIR: await patientConfigs() })
    const [one] = await paidOrders(network, manyWishes(1))
    if (!one) throw new Error('no order')
    const item = fillItem(network, one)
    await node.setIntervalMining({ interval: 0 })
    await node.setAutomine(false)
    try {
      work.add(item)
      await waitUntil('it was offered for more', () => (work.reports.get(item.id) ?? []).length >= 2)
    } finally {
      await node.setAutomine(true)
      await node.setIntervalMining({ interval: 1 })
    }
    await bed.settled([item], solver.output)
    const hashes = (await bed.fillsOf('optimism')).get(item.orderId)
    await waitUntil('the mined one was told last', () => work.reports.get(item.id)?.at(-1) === hashes?.[0])
    const [row] = await querySolver(settings, 'select record from signed_record order by created_at limit 1')
    expect(row?.['record']).toMatchObject({ transactions: [{}, {}] })
  }, 400_000)

  test('a refund that fills wait behind is offered for more at their cost, once its own budget is spent', async () => {
    const { node } = network.chains.optimism.chain
    const { work, settings, solver } = await bed.start({ CONFIG_DIR: await patientConfigs() })
    const [dusted] = await deposit(network, [await signOrder(network, { from: 'optimism' })], 10n)
    if (!dusted) throw new Error('no order')
    const item = refundItem(network, dusted, { amount: '10', endsOrder: false })
    // Its deposit is deep enough before blocks are held back.
    await node.mine({ blocks: 5 })
    await node.setIntervalMining({ interval: 0 })
    await node.setAutomine(false)
    try {
      work.add(item)
      await waitUntil('it was told', () => work.reports.has(item.id))
      await querySolver(
        settings,
        `insert into budget_entry (budget, amount, record_id, attempt) values ('refund-gas:10', 1e30, 'others', 0)`,
      )
      await waitUntil('it was offered for more', () => (work.reports.get(item.id) ?? []).length >= 2)
    } finally {
      await node.setAutomine(true)
      await node.setIntervalMining({ interval: 1 })
    }
    await bed.settled([item], solver.output)
    const charged = await querySolver(
      settings,
      `select budget from budget_entry where record_id = '${item.id}' order by budget`,
    )
    expect(charged).toEqual([
      { budget: 'gas:10' },
      { budget: 'refund-gas:10' },
      { budget: `refund-gas:10:${dusted.orderId}` },
    ])
  }, 400_000)

  test('a service that heard of a higher offer, and could not say so, hears which one was mined', async () => {
    const { node } = network.chains.optimism.chain
    const { work, settings, solver } = await bed.start({ CONFIG_DIR: await patientConfigs() })
    const [one] = await paidOrders(network, manyWishes(1))
    if (!one) throw new Error('no order')
    const item = fillItem(network, one)
    await node.setIntervalMining({ interval: 0 })
    await node.setAutomine(false)
    try {
      work.add(item)
      await waitUntil('it was told', () => work.reports.has(item.id))
      work.dropReports(Number.MAX_SAFE_INTEGER)
      await waitUntil('a higher offer was told', () => (work.reports.get(item.id) ?? []).length >= 2)
      solver.kill('SIGKILL')
      await solver.ended
      work.dropReports(0)
    } finally {
      await node.setAutomine(true)
      await node.setIntervalMining({ interval: 1 })
    }
    // The node has only the first of the sent transactions.
    const second = startSolver(settings)
    await bed.settled([item], second.output)
    const hashes = (await bed.fillsOf('optimism')).get(item.orderId)
    await waitUntil('the mined one was told last', () => work.reports.get(item.id)?.at(-1) === hashes?.[0])
    expect(work.reports.get(item.id)?.[0]).toBe(hashes?.[0])
  }, 400_000)
})
