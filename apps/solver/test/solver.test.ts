// Goal: every order is paid as it says, what must not be paid is refused with a reason, and an operator stops it.
// Method: the solver as an operator runs it, on real nodes with real deposits; a scripted quote-api lists the work;
// what counts is what the chains hold at the end.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Hex, hubAlias, hubTokenId } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { hubAbi, waitUntil, wrappedNativeAbi } from '@causeway/localnet'
import { encodeFunctionData, erc20Abi, keccak256, toHex, zeroAddress, zeroHash } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  claimItem,
  fillItem,
  freshAddress,
  manyWishes,
  paidOrder,
  paidOrders,
  refundItem,
} from './support/paidOrders.ts'
import { type SolverBed, startSolverBed } from './support/solverBed.ts'
import { changedConfigs, querySolver, runSolverCommand } from './support/solverBench.ts'

let bed: SolverBed
let network: SolverBed['network']

beforeAll(async () => {
  bed = await startSolverBed()
  network = bed.network
})
afterAll(() => bed?.stop())

/** A balance of the order signer, as settlements leave it there. */
async function mintOnHub(chain: 'optimism', currency: Hex, amount: bigint) {
  const family = mainNetwork('ethereum-vm')
  const { deployer, orderSigner } = network.keys
  const owner = { chain: 'base', account: orderSigner.address.toLowerCase() }
  const role = keccak256(toHex('OPERATOR_ROLE'))
  const holder = hubAlias({ chainId: owner.chain, ...family }, owner.account)
  const args = [holder, hubTokenId({ chainId: chain, ...family }, currency), amount] as const
  const data = [
    encodeFunctionData({ abi: hubAbi, functionName: 'grantRole', args: [role, deployer.address] }),
    encodeFunctionData({ abi: hubAbi, functionName: 'mint', args }),
  ]
  const { hub: to } = network.deployment.hub
  await network.chains.hub.chain.send(
    deployer,
    data.map((each, index) => ({ what: `hub call ${index}`, to, data: each })),
  )
  return { owner, amount }
}

describe('the solver', () => {
  test('Q-75: says why it does not begin an item, and leaves it open', async () => {
    const more = (text: string) =>
      text.replaceAll('"amount": "10000000000000000"', `"amount": "${10n ** 30n}"`)
    const { work, solver } = await bed.start({ CONFIG_DIR: await changedConfigs('solver.local.json', more) })
    const [order] = await paidOrders(network, [
      { payments: [{ recipient: freshAddress(), currency: zeroAddress, amount: 1000n }] },
    ])
    if (order === undefined) throw new Error('no order')
    const item = fillItem(network, order)
    work.add(item)
    const reasons = () => work.waits.get(item.id)
    await waitUntil('it says why', () => reasons() !== undefined, { circumstances: () => solver.output() })
    expect(reasons()).toEqual(['the inventory does not reach'])
    expect(work.failures.get(item.id)).toBeUndefined()
  })

  test('pays native coin, tokens, a gas top-up, calls, refunds and claims as the items say, and reports them', async () => {
    const { work, solver } = await bed.start()
    const [native, both, called, refunded, wrapped, claimed] = Array.from({ length: 6 }, freshAddress)
    if (!native || !both || !called || !refunded || !wrapped || !claimed) throw new Error('no addresses')
    const weth = network.deployment.optimism.wrappedNative
    const wrap = {
      to: weth,
      value: 9n,
      data: encodeFunctionData({ abi: wrappedNativeAbi, functionName: 'deposit' }),
    }
    const send = {
      to: weth,
      value: 0n,
      data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [called, 9n] }),
    }
    const [first, second, third, fourth, back] = await paidOrders(network, [
      { payments: [{ recipient: native, currency: zeroAddress, amount: 1000n }] },
      {
        payments: [
          { recipient: both, amount: 2500n },
          { recipient: both, currency: zeroAddress, amount: 77n },
        ],
      },
      {
        payments: [
          { recipient: called, amount: 3n },
          { currency: zeroAddress, amount: 9n },
        ],
        calls: [wrap, send],
      },
      { payments: [{ recipient: wrapped, currency: weth, amount: 55n }] },
      { refundTo: refunded },
    ])
    if (!first || !second || !third || !fourth || !back) throw new Error('no orders')
    const items = [
      fillItem(network, first),
      fillItem(network, second),
      fillItem(network, third),
      fillItem(network, fourth),
      refundItem(network, back, { amount: '4321' }),
      claimItem(network, 'base', { recipient: claimed, currency: bed.usdcOf('base'), amount: 777n }),
    ]
    for (const each of items) work.add(each)
    await waitUntil('all are reported', () => items.every(({ id }) => work.reports.has(id)))
    await bed.settled(items)
    expect(solver.output()).not.toContain(network.keys.fillWallet.privateKey.slice(2))
    expect(await bed.nativeBalance('optimism', native)).toBe(1000n)
    expect(await bed.tokenBalance('optimism', bed.usdcOf('optimism'), both)).toBe(2500n)
    expect(await bed.nativeBalance('optimism', both)).toBe(77n)
    expect(await bed.tokenBalance('optimism', bed.usdcOf('optimism'), called)).toBe(3n)
    expect(await bed.tokenBalance('optimism', weth, called)).toBe(9n)
    expect(await bed.nativeBalance('base', refunded)).toBe(4321n)
    expect(await bed.tokenBalance('optimism', weth, wrapped)).toBe(55n)
    expect(await bed.tokenBalance('base', bed.usdcOf('base'), claimed)).toBe(777n)
    solver.kill('SIGTERM')
    expect(await solver.ended).toBe('exit code 0')
  })

  test('O-96: tells what its wallet holds, what the hub owes, the flow of the day, and what to withdraw', async () => {
    const { work, settings } = await bed.start()
    const amount = 1_234n
    const order = await paidOrder(network, { payments: [{ recipient: freshAddress(), amount }] })
    const item = fillItem(network, order)
    work.add(item)
    await bed.settled([item])
    const isFinal = async () =>
      (await querySolver(settings, `select from payment where state = 'paid'`)).length
    await waitUntil('the fill is final', async () => (await isFinal()) === 1)
    const minted = await mintOnHub('optimism', bed.usdcOf('optimism'), 10n ** 15n)
    const report = await runSolverCommand(settings, ['inventory'])
    expect(report).toMatch(/^base +ETH +[0-9.]+ +floor 0.01 {2}not settled on the hub 0.001$/m)
    expect(report).toMatch(
      /^optimism +USDC +[0-9.]+ +floor [0-9.]+ {2}on the hub 1000000000.0 {2}lasts \d+ d at 0.001234 a day$/m,
    )
    expect(report).toContain('This command moved nothing')
    const { holdings, withdrawals } = JSON.parse(await runSolverCommand(settings, ['inventory', '--json']))
    const onOptimism = { chain: 'optimism', symbol: 'USDC' }
    const atHub = [{ ...minted.owner, amount: String(minted.amount) }]
    expect(holdings).toContainEqual(
      expect.objectContaining({ ...onOptimism, dayOutflow: String(amount), atHub, unsettled: '0' }),
    )
    const [first] = withdrawals
    expect(first).toMatchObject({ ...onOptimism, owner: minted.owner })
    const named = `optimism ${bed.usdcOf('optimism')} ${first.amount} ${minted.owner.chain}`
    expect(first.command).toContain(`withdrawEarned.ts ${named} `)
    expect(BigInt(first.amount)).toBeLessThanOrEqual(minted.amount)
    await expect(runSolverCommand(settings, ['inventory', 'now'])).rejects.toThrow('too many arguments')
    await expect(runSolverCommand(settings, ['pay', 'me'])).rejects.toThrow("unknown command 'pay'")
  })

  test('L-30: prints its final fills since a time, with what the service wants kept', async () => {
    const { work, settings } = await bed.start()
    const [noted, plain] = await paidOrders(network, [{}, {}])
    if (!noted || !plain) throw new Error('no orders')
    const items = [fillItem(network, noted, { booking: 'a note' }), fillItem(network, plain)]
    for (const each of items) work.add(each)
    await bed.settled(items)
    const lines = async (since: string) =>
      (await runSolverCommand(settings, ['fills', since])).split('\n').filter((line) => line !== '')
    await waitUntil('both are final', async () => (await lines('2026-01-01T00:00:00Z')).length === 2)
    const kept = (await lines('2026-01-01T00:00:00Z')).map((line) => JSON.parse(line))
    const { order, orderSignature, orderId, deposits } = noted
    const [transactionId] = work.reports.get(items[0]?.id ?? '') ?? []
    expect(kept.find((one) => one.orderId === orderId)).toMatchObject({
      order,
      orderSignature,
      chainId: 10,
      transactionId,
      booking: 'a note',
      inputs: [{ transactionId: deposits[0]?.transactionId, inputIndex: 0 }],
      deposited: order.inputs[0]?.payment.amount,
    })
    expect(kept.find((one) => one.orderId === plain.orderId)).not.toHaveProperty('booking')
    expect(await lines('2100-01-01T00:00:00Z')).toEqual([])
    await expect(runSolverCommand(settings, ['fills', 'yesterday'])).rejects.toThrow('fills needs a time')
  })

  test('P-50: nothing is paid that costs more gas than was charged, and others are paid meanwhile', async () => {
    // Gas is all that a payment costs: no data fee is charged beside it.
    for (const key of ['base', 'optimism'] as const)
      for (const index of [1, 2])
        await network.chains[key].chain.node.setStorageAt({
          address: network.deployment[key].gasPriceOracle,
          index,
          value: zeroHash,
        })
    const { work, solver } = await bed.start()
    const { node, client } = network.chains.optimism.chain
    const [burner, greedy] = [freshAddress(), freshAddress()]
    // Loops until it has used 3,000,000 gas.
    const bytecode = '0x5a5b805a9003622dc6c01160015700'
    for (const { chain } of [network.chains.base, network.chains.optimism])
      await chain.node.setCode({ address: burner, bytecode })
    // Succeeds with little, and leaves little of what it gets.
    await node.setCode({ address: greedy, bytecode: '0x5b5a612710105f57' })
    const native = { currency: zeroAddress, amount: 7n }
    const [first, burning, dear, late, eaten, plain] = await paidOrders(network, [
      { payments: [native] },
      { payments: [{ recipient: burner, ...native }] },
      { payments: [native] },
      { payments: [native], refundTo: burner },
      { payments: [{ recipient: greedy, ...native }] },
      { payments: [native] },
    ])
    if (!first || !burning || !dear || !late || !eaten || !plain) throw new Error('no orders')
    const receiptOf = async ({ orderId }: { readonly orderId: Hex }) => {
      const [hash = '0x'] = (await bed.fillsOf('optimism')).get(orderId) ?? []
      return client.getTransactionReceipt({ hash })
    }
    const usual = fillItem(network, first)
    work.add(usual)
    await bed.settled([usual], solver.output)
    const { gasUsed: units, effectiveGasPrice: price } = await receiptOf(usual)
    const charged = { gasCharged: (2n * units * price).toString() }
    const refused = [
      fillItem(network, burning, charged),
      // It was charged when gas cost next to nothing.
      fillItem(network, dear, { gasCharged: '1' }),
      refundItem(network, late),
    ]
    const paid = [fillItem(network, eaten, charged), fillItem(network, plain, charged)]
    for (const each of [...refused, ...paid]) work.add(each)
    await bed.settled(paid, solver.output)
    await waitUntil('the others are refused', () => refused.every(({ id }) => work.failures.has(id)))
    for (const { id } of refused) {
      expect(work.failures.get(id)?.[0]).toMatch(
        /^QUOTED_GAS_LIMIT_EXCEEDED: it takes \d+ gas, more than \d+$/,
      )
      expect(work.reports.has(id)).toBe(false)
    }
    // Margin, and what the price of the block may differ.
    for (const { orderId } of paid) expect((await receiptOf({ orderId })).gasUsed).toBeLessThan(4n * units)
  })

  test('P-56: a recipient of 25 M gas takes no nonce, whatever was charged for it, and another is paid next', async () => {
    const { work, solver } = await bed.start()
    const { node, client } = network.chains.optimism.chain
    const burner = freshAddress()
    // Loops until it has used 25,000,000 gas.
    await node.setCode({ address: burner, bytecode: '0x5a5b805a900363017d78401160015700' })
    const native = { currency: zeroAddress, amount: 7n }
    const [burning, other] = (
      await paidOrders(network, [{ payments: [{ recipient: burner, ...native }] }, { payments: [native] }])
    ).map((order) => fillItem(network, order, { gasCharged: (10n ** 18n).toString() }))
    if (!burning || !other) throw new Error('no orders')
    const { address } = network.keys.fillWallet
    const next = await client.getTransactionCount({ address })
    work.add(burning)
    await waitUntil('it is refused', () => work.failures.has(burning.id))
    work.add(other)
    await bed.settled([other], solver.output)
    const [hash = '0x'] = (await bed.fillsOf('optimism')).get(other.orderId) ?? []
    expect((await client.getTransaction({ hash })).nonce).toBe(next)
    expect(work.reports.has(burning.id)).toBe(false)
  })

  test('refuses what it must not pay, and says why', async () => {
    const { work } = await bed.start()
    const past = Math.floor(Date.now() / 1_000) - 60
    const deadCall = { to: bed.usdcOf('optimism'), data: '0xdeadbeef' as const }
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
      fillItem(network, failing),
    ]
    for (const each of refused) work.add(each)
    await waitUntil('all are refused', () => refused.every(({ id }) => work.failures.has(id)))
    expect(refused.map(({ id }) => work.failures.get(id)?.[0])).toEqual([
      'the deadline has passed',
      "ORDER_REFUSED: chain 1 is none of this solver's",
      expect.stringContaining('payments.0.recipient'),
      'EXECUTION_REVERTED: the transaction would revert',
    ])
    expect(work.reports.size).toBe(0)

    const first = fillItem(network, paid)
    work.add(first)
    await waitUntil('the order is filled', () => work.reports.has(first.id))
    const again = fillItem(network, paid)
    work.add(again)
    await waitUntil('a second item for it is refused', () => work.failures.has(again.id))
    expect(work.failures.get(again.id)).toEqual(['another item filled the order'])
    await bed.settled([first])
    const back = refundItem(network, paid)
    work.add(back)
    await waitUntil('its refund is refused', () => work.failures.has(back.id))
    expect(work.failures.get(back.id)).toEqual(['the fill has used the deposit'])
  })

  test('sends nothing for an item that was closed meanwhile, and pays it when it is listed again', async () => {
    const { work, solver } = await bed.start()
    const [one, two] = await paidOrders(network, manyWishes(2))
    if (!one || !two) throw new Error('no orders')
    const [closed, next] = [fillItem(network, one), fillItem(network, two)]
    // CAST: orders of the bed name EVM addresses.
    const recipient = one.order.output.payments[0]?.recipient as Hex
    work.refuseReports(1)
    work.add(closed)
    await waitUntil('its nonce is taken for good', () => /record_settled.*cancelled/.test(solver.output()))
    expect(await bed.nativeBalance('optimism', recipient)).toBe(0n)
    work.add(next)
    await waitUntil('the next one is paid', () => work.reports.has(next.id))
    expect(work.reports.has(closed.id)).toBe(false)
    work.reopen(closed.id)
    await waitUntil(
      'it is paid at last',
      async () => (await bed.nativeBalance('optimism', recipient)) === 1_000n,
    )
    await bed.settled([closed, next])
  })

  test('Q-225: signs nothing while the stop switch is thrown, nor in a dry run', async () => {
    const { work, settings } = await bed.start({ DRY_RUN: 'on' })
    const item = fillItem(network, await paidOrder(network))
    work.add(item)
    await sleep(2_000)
    expect(await querySolver(settings, 'select 1 from signed_record')).toEqual([])
    const { work: other, settings: stopped } = await bed.start()
    expect(await runSolverCommand(stopped, ['stop', 'a', 'test'])).toContain('Stopped: a test.')
    await sleep(500)
    other.add(item)
    await sleep(2_000)
    expect(await querySolver(stopped, 'select 1 from signed_record')).toEqual([])
    expect(await runSolverCommand(stopped, ['status'])).toContain('Stopped: a test.')
    expect(await runSolverCommand(stopped, ['resume'])).toContain('may sign')
    const audited = (await runSolverCommand(stopped, ['audit', 'list'])).trim().split('\n')
    expect(audited.map((line) => line.trimEnd().split('  ').slice(2))).toEqual([
      ['resume', '-', 'done'],
      ['stop', '-', 'done', 'a test'],
    ])
    await waitUntil('it is paid', () => other.reports.has(item.id))
    expect(work.reports.size + work.failures.size).toBe(0)
  })
})
