// Goal: whoever writes the work list decides nothing: the solver pays what an order signer signed, what lies in the
// depository and what it is worth, and nothing else. Adversary: a stolen solver key, a compromised quote-api or its
// database, which offer whatever they like. Method: the solver as an operator runs it, real nodes, real deposits; a
// scripted quote-api lists the work; what counts is what left the fill wallet.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from '@causeway/core'
import {
  depositoryAbi,
  type LocalAccount,
  startTestNetwork,
  type TestNetwork,
  waitUntil,
} from '@causeway/localnet'
import { encodeFunctionData, erc20Abi, zeroAddress } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  claimItem,
  deposit,
  fillItem,
  freshAddress,
  type Item,
  type PaidOrder,
  paidOrder,
  refundItem,
  signOrder,
} from './support/paidOrders.ts'
import { startScriptedWork } from './support/scriptedWork.ts'
import { changedConfigs, type SolverBench, startSolver, startSolverBench } from './support/solverBench.ts'

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

const usdc = () => network.deployment.optimism.tokens.USDC
const paidTo = (recipient: Hex) =>
  network.chains.optimism.chain.client.readContract({
    address: usdc(),
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [recipient],
  })
const inventoryOf = () => paidTo(network.keys.fillWallet.address)

/** Offers items, and behind them an honest one: once that is paid, each was looked at. */
async function offer(items: readonly Item[], overrides: Readonly<Record<string, string>> = {}) {
  const work = await startScriptedWork()
  const solver = startSolver(await bench.settings(work, overrides))
  await solver.ready()
  for (const item of items) work.add(item)
  await waitUntil('all are judged', () =>
    items.every(({ id }) => work.failures.has(id) || work.reports.has(id)),
  )
  return { work, solver, reasons: items.map(({ id }) => work.failures.get(id)?.[0]) }
}

describe('a fill contract of other code', () => {
  test.each(['another contract', 'no contract'])('is never paid through: %s', async (what) => {
    const { fillContract, multicall3 } = network.deployment.optimism
    const placed = what === 'no contract' ? `0x${'7a'.repeat(20)}` : multicall3
    const configs = await changedConfigs('chains.local.json', (text) => text.replaceAll(fillContract, placed))
    const quote = join(configs, 'quote.local.json')
    await writeFile(quote, (await readFile(quote, 'utf8')).replaceAll(fillContract, placed))
    const solver = startSolver(await bench.settings(await startScriptedWork(), { CONFIG_DIR: configs }))
    expect(await solver.ended).toBe('exit code 1')
    expect(solver.output()).toMatch(/shows (other code|no contract) at chains: optimism\.fillContracts/)
  })
})

describe('work that somebody forged', () => {
  test('is never paid: rows with invented orders and no deposit', async () => {
    const before = await inventoryOf()
    const orderId = generatePrivateKey()
    const honest = await signOrder(network)
    const recipient = freshAddress()
    const rich = { payments: [{ recipient, currency: usdc(), amount: '436724000000' }] }
    const bare = fillItem(network, honest, { orderId, ...rich, order: undefined, orderSignature: undefined })
    const renamed = fillItem(network, honest, { orderId, ...rich })
    const unpaid = fillItem(network, honest, {
      deposits: [{ chainId: 8453, transactionId: generatePrivateKey(), onchainIndex: '0' }],
    })
    const noPlace = fillItem(network, await signOrder(network), { deposits: [] })
    const { work, reasons } = await offer([bare, renamed, noPlace])
    expect(reasons).toEqual([
      'ORDER_REFUSED: the work names no order',
      'ORDER_REFUSED: the order has another id',
      'a fill is paid for by one deposit',
    ])
    work.add(unpaid)
    const later = fillItem(network, await paidOrder(network))
    work.add(later)
    await waitUntil('an honest one is paid', () => work.reports.has(later.id))
    expect(work.reports.has(unpaid.id)).toBe(false)
    expect(await paidTo(recipient)).toBe(0n)
    await waitUntil(
      'only the honest one left the wallet',
      async () => (await inventoryOf()) === before - 1_000n,
    )
  })

  test('Q-220: is never paid: real deposits with other payments, calls, deadlines, contracts or signers', async () => {
    const before = await inventoryOf()
    const paid = await paidOrder(network)
    const thief = freshAddress()
    const [honest] = paid.order.output.payments
    const payment = { recipient: honest?.recipient, currency: usdc(), amount: '1000' }
    // CAST: the zero address is one.
    const stranger = { privateKey: generatePrivateKey(), address: zeroAddress as Hex }
    const other = await paidOrder(network, {
      signer: { ...stranger, address: privateKeyToAddress(stranger.privateKey) },
    })
    const call = { to: usdc(), data: '0x', value: '1' }
    const forged = [
      fillItem(network, paid, { payments: [{ ...payment, recipient: thief }] }),
      fillItem(network, paid, { payments: [{ ...payment, amount: '1001' }] }),
      fillItem(network, paid, { payments: [payment, { ...payment, recipient: thief }] }),
      fillItem(network, paid, { calls: [call] }),
      fillItem(network, paid, { deadline: paid.order.output.deadline + 1 }),
      fillItem(network, paid, { fillContract: usdc() }),
      fillItem(network, paid, { orderSignature: other.orderSignature }),
      fillItem(network, other),
    ]
    const { reasons } = await offer(forged)
    expect(reasons).toEqual([
      'ORDER_REFUSED: the payments are not those of the order',
      'ORDER_REFUSED: the payments are not those of the order',
      'ORDER_REFUSED: the payments are not those of the order',
      'ORDER_REFUSED: the calls are not those of the order',
      'ORDER_REFUSED: the deadline is not that of the order',
      'ORDER_REFUSED: the fill contract is another one',
      'ORDER_REFUSED: the order is not signed',
      'ORDER_REFUSED: the order is signed by somebody else',
    ])
    expect(await paidTo(thief)).toBe(0n)
    expect(await inventoryOf()).toBe(before)
  })

  test('is never paid above its deposit, though an order signer signed it: a forged price', async () => {
    const before = await inventoryOf()
    const recipient = freshAddress()
    // A thousandth of an ether, some dollars, for 900 dollars.
    const dear = await paidOrder(network, { payments: [{ recipient, amount: 900_000_000n }] })
    const dust = await signOrder(network, {
      inputWei: 10n ** 18n,
      payments: [{ recipient, amount: 900_000_000n }],
    })
    const [short] = await deposit(network, [dust], 1n)
    const elsewhere = fillItem(network, dust, { deposits: dear.deposits })
    if (short === undefined) throw new Error('one order is one order')
    const { reasons } = await offer([fillItem(network, dear), fillItem(network, short), elsewhere])
    expect(reasons).toEqual([
      'it pays more than was deposited',
      'less than the order asks for was deposited',
      'nothing was deposited for the order',
    ])
    expect(await paidTo(recipient)).toBe(0n)
    expect(await inventoryOf()).toBe(before)
  })

  test('what orders of a stolen signer take in an hour is the budget, over restarts', async () => {
    const before = await inventoryOf()
    // Some dollars for 90, twice: either is within the loss of one order, and both are above the hour's.
    const configs = await changedConfigs('solver.local.json', (text) =>
      text.replace(/"lossPerHourMicroUsd": "\d+"/, '"lossPerHourMicroUsd": "150000000"'),
    )
    const wish = { payments: [{ amount: 90_000_000n }] }
    const [first, second] = [await paidOrder(network, wish), await paidOrder(network, wish)]
    const work = await startScriptedWork()
    const settings = await bench.settings(work, { CONFIG_DIR: configs })
    const solver = startSolver(settings)
    const [taken, above] = [fillItem(network, first), fillItem(network, second)]
    work.add(taken)
    await waitUntil('the first is paid', () => work.reports.has(taken.id))
    solver.kill('SIGKILL')
    await solver.ended
    await startSolver(settings).ready()
    work.add(above)
    const honest = fillItem(network, await paidOrder(network))
    work.add(honest)
    await waitUntil('an honest one is paid', () => work.reports.has(honest.id))
    expect(work.reports.has(above.id)).toBe(false)
    await waitUntil('no more left the wallet', async () => (await inventoryOf()) === before - 90_001_000n)
  })

  test('Q-221: gives a deposit back to nobody but its own order, no more than it is, and once', async () => {
    const paid = await paidOrder(network)
    const thief = freshAddress()
    const amount = paid.order.inputs[0]?.payment.amount ?? '0'
    const unpaid = await signOrder(network)
    const twice = { deposits: [...paid.deposits, ...paid.deposits] }
    const forged = [
      refundItem(network, paid, { recipient: thief }),
      refundItem(network, paid, { amount: (BigInt(amount) + 1n).toString() }),
      refundItem(network, paid, { currency: network.deployment.base.tokens.USDC }),
      refundItem(network, paid, twice),
      refundItem(network, unpaid, { deposits: paid.deposits }),
    ]
    const { work, reasons } = await offer(forged)
    expect(reasons).toEqual([
      'the order names no such refund',
      'it gives back more than was deposited',
      'the deposit is of another currency',
      'a refund gives back one deposit',
      'the deposit is of another order',
    ])
    const honest = refundItem(network, paid)
    work.add(honest)
    await waitUntil('it is refunded', () => work.reports.has(honest.id))
    const again = refundItem(network, paid)
    const filled = fillItem(network, paid)
    for (const item of [again, filled]) work.add(item)
    await waitUntil('neither is paid', () => work.failures.has(again.id) && work.failures.has(filled.id))
    expect(work.failures.get(again.id)?.[0]).toBe('the deposit was given back before')
    expect(work.failures.get(filled.id)?.[0]).toBe('the deposit was given back')
    // CAST: orders of the bed name EVM addresses.
    const recipient = paid.order.inputs[0]?.refunds[0]?.recipient as Hex
    const held = () => network.chains.base.chain.client.getBalance({ address: recipient })
    await waitUntil('the money is back', async () => (await held()) === BigInt(amount))
  })

  test('Q-64: the second account of a refund is paid only where the first cannot be', async () => {
    const [first, second] = [freshAddress(), freshAddress()]
    const [paid] = await deposit(network, [
      await signOrder(network, { refundTo: first, alsoRefunds: second }),
    ])
    if (!paid) throw new Error('one order is one order')
    const early = refundItem(network, paid, { recipient: second })
    const { work, reasons } = await offer([early])
    expect(reasons).toEqual(['the first account that the order refunds can be paid'])
    // It takes no coin any more.
    await network.chains.base.chain.node.setCode({ address: first, bytecode: '0x5f5ffd' })
    const [lost, late] = [refundItem(network, paid), refundItem(network, paid, { recipient: second })]
    work.add(lost)
    await waitUntil('the first one is refused', () => work.failures.has(lost.id))
    expect(work.failures.get(lost.id)?.[0]).toMatch(/would revert/)
    work.add(late)
    const held = () => network.chains.base.chain.client.getBalance({ address: second })
    await waitUntil('the money is back', async () => (await held()) > 0n)
  })

  test('Q-66: nothing goes back to an account that nobody holds', async () => {
    const nobody = `0x${'0'.repeat(36)}dead` as const
    const [paid] = await deposit(network, [await signOrder(network, { refundTo: nobody })])
    if (!paid) throw new Error('one order is one order')
    const { reasons } = await offer([refundItem(network, paid)])
    expect(reasons).toEqual([`it would go back to ${nobody}, an account that nobody holds`])
  })

  test('Q-60: nothing is paid to whom nothing is ever paid, whatever a service asks for', async () => {
    const { tokens, depository } = network.deployment.optimism
    const orders = await Promise.all(
      [tokens.USDC, depository].map((recipient) =>
        signOrder(network, { payments: [{ recipient, amount: 1_000n }] }),
      ),
    )
    const paid = await deposit(network, orders)
    const { reasons } = await offer(paid.map((one) => fillItem(network, one)))
    expect(reasons).toEqual(['a payee is the USDC token itself', 'a payee is a depository'])
  })

  test('P-44: gives a deposit back once, though a reorganization puts it elsewhere in its block', async () => {
    const { chain } = network.chains.base
    const [payer, stranger] = network.keys.users
    if (!payer || !stranger) throw new Error('a network has users')
    const signed = await signOrder(network)
    const before = await chain.node.snapshot()
    const raw = await signedDeposit(payer, signed)
    const placed = await placeOf(await chain.client.sendRawTransaction({ serializedTransaction: raw }))
    const { work, settings, solver } = await started()
    const first = refundItem(network, { ...signed, deposits: [placed] })
    work.add(first)
    await waitUntil('it is refunded', () => work.reports.has(first.id))
    solver.kill('SIGKILL')
    await solver.ended

    // Another deposit comes into the same block, before it.
    await chain.node.revert({ id: before })
    await chain.node.setIntervalMining({ interval: 0 })
    await chain.node.setAutomine(false)
    const dearer = await signedDeposit(stranger, await signOrder(network), 10n)
    await chain.client.sendRawTransaction({ serializedTransaction: dearer })
    const again = await chain.client.sendRawTransaction({ serializedTransaction: raw })
    // The clock of the node went back with its blocks, and who reads an old head has no price of gas.
    const { timestamp } = await chain.client.getBlock()
    await chain.node.increaseTime({
      seconds: Math.max(1, Math.floor(Date.now() / 1_000) - Number(timestamp)),
    })
    await chain.node.mine({ blocks: 1 })
    await chain.node.setAutomine(true)
    await chain.node.setIntervalMining({ interval: 1 })
    const moved = await placeOf(again)
    expect(moved).toEqual({ ...placed, onchainIndex: expect.not.stringMatching(`^${placed.onchainIndex}$`) })

    const second = startSolver(settings)
    await second.ready()
    const offered = refundItem(network, { ...signed, deposits: [moved] })
    work.add(offered)
    await waitUntil('it is judged', () => work.failures.has(offered.id) || work.reports.has(offered.id))
    expect(work.failures.get(offered.id)).toEqual(['the deposit was given back before'])
    // CAST: orders of the bed name EVM addresses.
    const recipient = signed.order.inputs[0]?.refunds[0]?.recipient as Hex
    const held = () => chain.client.getBalance({ address: recipient })
    await waitUntil('the first refund is mined again', async () => (await held()) > 0n)
    expect(await held()).toBe(BigInt(signed.order.inputs[0]?.payment.amount ?? 0))

    /** Signed and not sent, so that both branches have the same transaction. */
    async function signedDeposit(from: LocalAccount, paid: PaidOrder, tipGwei = 1n): Promise<Hex> {
      const { walletClient } = chain.as(from)
      const { orderId, order } = paid
      return walletClient.signTransaction({
        to: network.deployment.base.depository,
        data: encodeFunctionData({
          abi: depositoryAbi,
          functionName: 'depositNative',
          args: [from.address, orderId],
        }),
        value: BigInt(order.inputs[0]?.payment.amount ?? 0),
        nonce: await chain.client.getTransactionCount({ address: from.address }),
        gas: 200_000n,
        maxFeePerGas: 10n ** 11n,
        maxPriorityFeePerGas: tipGwei * 10n ** 9n,
      })
    }

    async function placeOf(transactionId: Hex) {
      const { logs } = await chain.client.waitForTransactionReceipt({ hash: transactionId, timeout: 60_000 })
      const [log] = logs
      return { chainId: network.deployment.base.chainId, transactionId, onchainIndex: String(log?.logIndex) }
    }

    async function started() {
      const scripted = await startScriptedWork()
      const settingsOfBoth = await bench.settings(scripted)
      const running = startSolver(settingsOfBoth)
      await running.ready()
      return { work: scripted, settings: settingsOfBoth, solver: running }
    }
  })

  test('Q-222: dust of a stranger, and a second deposit, are given back and stop no fill', async () => {
    const signed = await signOrder(network)
    const [dusted] = await deposit(network, [signed], 10n)
    const [fitting] = await deposit(network, [signed])
    const [second] = await deposit(network, [signed])
    if (!dusted || !fitting || !second) throw new Error('one order is one order')
    const dust = refundItem(network, dusted, { amount: '10', endsOrder: false })
    const double = refundItem(network, second, { endsOrder: false })
    const work = await startScriptedWork()
    const solver = startSolver(await bench.settings(work))
    await solver.ready()
    work.add(double)
    work.add(dust)
    await waitUntil('the dust is back', () => work.reports.has(dust.id))
    expect(work.reports.has(double.id)).toBe(false)
    const fill = fillItem(network, fitting)
    work.add(fill)
    await waitUntil('the order is filled, and the second deposit goes back', () =>
      work.reports.has(double.id),
    )
    expect(work.reports.has(fill.id)).toBe(true)
    // CAST: orders of the bed name EVM addresses.
    const back = signed.order.inputs[0]?.refunds[0]?.recipient as Hex
    const amount = BigInt(signed.order.inputs[0]?.payment.amount ?? 0)
    const held = () => network.chains.base.chain.client.getBalance({ address: back })
    await waitUntil('both are back', async () => (await held()) === amount + 10n)
  })

  test('Q-223: dust of strangers waits for the budget of its refunds; no fill does, nor a refund that keeps its gas', async () => {
    const orders = await Promise.all(Array.from({ length: 4 }, () => signOrder(network)))
    const dusted = await deposit(network, orders, 10n)
    const [short] = await deposit(network, [await signOrder(network)], 900_000_000_000_000n)
    if (!short) throw new Error('one order is one order')
    const configs = await changedConfigs('solver.local.json', (text) =>
      text.replace(/"gasPerHourWei": "\d+"/, '$&, "refundGasPerHourWei": "1"'),
    )
    const work = await startScriptedWork()
    const solver = startSolver(await bench.settings(work, { CONFIG_DIR: configs, LOG_LEVEL: 'debug' }))
    await solver.ready()
    const dust = dusted.map((paid) => refundItem(network, paid, { amount: '10', endsOrder: false }))
    for (const item of dust) work.add(item)
    const beganMs = performance.now()
    const looks = () => solver.output().split("later, the hour's budget refund-gas:8453 is spent").length - 1
    await waitUntil('the dust waits by name', () => looks() >= dust.length)
    // Half of it is kept, which is more than its gas.
    const covered = refundItem(network, short, { amount: '450000000000000', endsOrder: false })
    const fill = fillItem(network, await paidOrder(network, { from: 'optimism' }))
    for (const item of [fill, covered]) work.add(item)
    await waitUntil('both are paid', () => work.reports.has(fill.id) && work.reports.has(covered.id))
    expect(dust.filter(({ id }) => work.reports.has(id) || work.failures.has(id))).toEqual([])
    // Each look asks chains, and fills wait for the round: one in five seconds.
    await sleep(2_000)
    const looksEach = Math.ceil((performance.now() - beganMs) / 5_000) + 1
    expect(looks()).toBeLessThanOrEqual(dust.length * looksEach)
  })

  test('Q-62: a claim is tried, and nothing is signed for a recipient whose code refuses it', async () => {
    const { node, client } = network.chains.base.chain
    const codes = ['0x5f5ffd', '0x620f42405b600190038060045700', '0x3a600557005b5f5ffd'] as const
    const items = await Promise.all(
      codes.map(async (bytecode) => {
        const recipient = freshAddress()
        await node.setCode({ address: recipient, bytecode })
        return claimItem(network, 'base', { recipient, currency: zeroAddress, amount: 10n ** 12n })
      }),
    )
    const signed = () => client.getTransactionCount({ address: network.keys.fillWallet.address })
    const before = await signed()
    const { work, reasons } = await offer(items)
    expect(reasons).toEqual([
      expect.stringMatching(/^EXECUTION_REVERTED: .*would revert/),
      expect.stringMatching(/^(EXECUTION_REVERTED|QUOTED_GAS_LIMIT_EXCEEDED): /),
      expect.stringMatching(/^EXECUTION_REVERTED: .*would revert/),
    ])
    expect(await signed()).toBe(before)
    const plain = claimItem(network, 'base', {
      recipient: freshAddress(),
      currency: zeroAddress,
      amount: 10n ** 12n,
    })
    work.add(plain)
    await waitUntil('another is paid', () => work.reports.has(plain.id))
  })

  test('claims take no more than their budget in an hour, over restarts', async () => {
    const currency = network.deployment.base.tokens.USDC
    const recipient = freshAddress()
    const claim = (amount: bigint) => claimItem(network, 'base', { recipient, currency, amount })
    const above = claim(10_000_000_001n)
    const work = await startScriptedWork()
    const settings = await bench.settings(work)
    const solver = startSolver(settings)
    const [first, second] = [claim(6_000_000_000n), claim(6_000_000_000n)]
    work.add(above)
    work.add(first)
    await waitUntil('the first is paid', () => work.reports.has(first.id) && work.failures.has(above.id))
    expect(work.failures.get(above.id)?.[0]).toBe('the claim is above what claims may take')
    solver.kill('SIGKILL')
    await solver.ended
    const next = startSolver(settings)
    await next.ready()
    work.add(second)
    const small = claim(1_000_000n)
    work.add(small)
    await waitUntil('a small one is paid', () => work.reports.has(small.id))
    expect(work.reports.has(second.id)).toBe(false)
  })
})
