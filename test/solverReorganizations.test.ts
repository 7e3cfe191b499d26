// Goal: a reorganization pays nobody twice and leaves nothing unfilled. Attackers: a block that takes a deposit, a fill or
// a closing with it, and a service that offers again what it took. Method: the solver as an operator runs it, on real
// nodes whose blocks the test mines by hand and takes back.
import { fillContractAbi } from '@causeway/contracts'
import { type Hex, onchainId } from '@causeway/core'
import { depositoryAbi, waitUntil } from '@causeway/localnet'
import { encodeFunctionData, erc20Abi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startStandInOracles } from '../apps/quote-api/test/settlementSupport/settlementBed.ts'
import {
  fillItem,
  freshAccount,
  freshAddress,
  manyWishes,
  type PaidOrder,
  paidOrders,
  refundItem,
  signOrder,
} from '../apps/solver/test/support/paidOrders.ts'
import { type SolverBed, startSolverBed } from '../apps/solver/test/support/solverBed.ts'
import { changedConfigs, querySolver, type UserChain } from '../apps/solver/test/support/solverBench.ts'

let bed: SolverBed
let network: SolverBed['network']

beforeAll(async () => {
  bed = await startSolverBed()
  network = bed.network
})
afterAll(() => bed?.stop())

/** Blocks come when the test says so: the age of the head is no reason to have no price of gas. */
const patientConfigs = () =>
  changedConfigs('quote.local.json', (text) =>
    text.replace(/"headMaxAgeMs": \d+/g, '"headMaxAgeMs": 3600000'),
  )

/** No block comes by itself until `run` has ended. */
async function byHand(key: UserChain, run: () => Promise<void>): Promise<void> {
  const { node } = network.chains[key].chain
  await node.setIntervalMining({ interval: 0 })
  await node.setAutomine(false)
  try {
    await run()
  } finally {
    await node.setAutomine(true)
    await node.setIntervalMining({ interval: 1 })
  }
}

/** A deposit as its user signed it: the same bytes land again after a reorganization. */
async function signDeposit(key: UserChain, user: number, orderId: Hex, valueWei: bigint) {
  const payer = network.keys.users[user]
  if (payer === undefined) throw new Error('a network has users')
  const { client } = network.chains[key].chain
  const { depository, chainId } = network.deployment[key]
  const data = encodeFunctionData({
    abi: depositoryAbi,
    functionName: 'depositNative',
    args: [payer.address, orderId],
  })
  return privateKeyToAccount(payer.privateKey).signTransaction({
    type: 'eip1559',
    chainId,
    to: depository,
    data,
    value: valueWei,
    gas: 200_000n,
    maxFeePerGas: 10n ** 11n,
    maxPriorityFeePerGas: 10n ** 9n,
    nonce: await client.getTransactionCount({ address: payer.address }),
  })
}

/** Takes the newest blocks back; the first one that follows has these transactions in their order. */
async function reorganize(key: UserChain, depth: number, raws: readonly Hex[]): Promise<void> {
  const { client, node } = network.chains[key].chain
  await client.request<{ Method: string; Parameters: unknown; ReturnType: unknown }>({
    method: 'anvil_reorg',
    params: [depth, raws.map((raw) => [raw, 0])],
  })
  await node.mine({ blocks: 1 })
}

/** Current position of the deposit in its block. */
async function placedAt(key: UserChain, signed: PaidOrder, hash: Hex): Promise<PaidOrder> {
  const { client } = network.chains[key].chain
  const { logs } = await client.getTransactionReceipt({ hash })
  const [log] = logs
  if (log === undefined) throw new Error('a deposit has an event')
  const { chainId } = network.deployment[key]
  return {
    ...signed,
    deposits: [{ chainId, transactionId: hash, onchainIndex: String(log.logIndex) }],
  }
}

describe('a deposit at its depth', () => {
  test('is paid for with the blocks on top that its chain asks for, and not before', async () => {
    const { client, node } = network.chains.base.chain
    const folder = await changedConfigs('quote.local.json', (text) =>
      text
        .replace(/"headMaxAgeMs": \d+/g, '"headMaxAgeMs": 3600000')
        .replace(/"blocks": \d+/g, '"blocks": 2'),
    )
    const recipient = freshAddress()
    const signed = await signOrder(network, { payments: [{ recipient, amount: 1_000n }] })
    const worth = BigInt(signed.order.inputs[0]?.payment.amount ?? 0)
    const raw = await signDeposit('base', 0, signed.orderId, worth)
    const { work, solver } = await bed.start({ CONFIG_DIR: folder, LOG_LEVEL: 'debug' })
    const looks = () => solver.output().split('the deposit is not deep enough').length - 1
    await byHand('base', async () => {
      const hash = await client.sendRawTransaction({ serializedTransaction: raw })
      await node.mine({ blocks: 2 })
      const item = fillItem(network, await placedAt('base', signed, hash))
      work.add(item)
      await waitUntil('one block on top is too few', () => looks() > 1)
      expect(work.reports.size).toBe(0)
      await node.mine({ blocks: 1 })
      // No further block comes: the second block on top is all that it may wait for.
      await bed.settled([item], solver.output)
    })
    expect(await bed.tokenBalance('optimism', bed.usdcOf('optimism'), recipient)).toBe(1_000n)
  }, 400_000)

  test('F-101: is paid for once this process has seen it for the seconds of its chain, whatever timestamps say', async () => {
    const { client, node } = network.chains.base.chain
    const folder = await changedConfigs('quote.local.json', (text) =>
      text
        .replace(/"headMaxAgeMs": \d+/g, '"headMaxAgeMs": 3600000')
        .replace(/"blocks": \d+/g, '"seconds": 20'),
    )
    const recipient = freshAddress()
    const signed = await signOrder(network, { payments: [{ recipient, amount: 1_000n }] })
    const worth = BigInt(signed.order.inputs[0]?.payment.amount ?? 0)
    const raw = await signDeposit('base', 0, signed.orderId, worth)
    const { work, solver } = await bed.start({ CONFIG_DIR: folder, LOG_LEVEL: 'debug' })
    const looks = () => solver.output().split('the deposit is not deep enough').length - 1
    await byHand('base', async () => {
      const hash = await client.sendRawTransaction({ serializedTransaction: raw })
      await node.mine({ blocks: 12, interval: 10 })
      const item = fillItem(network, await placedAt('base', signed, hash))
      work.add(item)
      await waitUntil('twelve blocks of two minutes that came at once are too few', () => looks() > 1)
      expect(work.reports.size).toBe(0)
      // No further block comes: only the time here passes.
      await bed.settled([item], solver.output)
    })
    expect(await bed.tokenBalance('optimism', bed.usdcOf('optimism'), recipient)).toBe(1_000n)
  }, 400_000)
})

describe('a deposit that a reorganization takes away', () => {
  test('pays for no fill that waited meanwhile, though it was seen at its depth', async () => {
    const { client, node } = network.chains.base.chain
    const { chain: destination } = network.chains.optimism
    const { fillWallet } = network.keys
    const usdc = bed.usdcOf('optimism')
    const stock = await bed.tokenBalance('optimism', usdc, fillWallet.address)
    const keeper = network.keys.users[3] ?? freshAccount()
    const give = (to: Hex) => ({
      what: 'stock',
      to: usdc,
      data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, stock] }),
    })
    await destination.send(fillWallet, [give(keeper.address)])
    const recipient = freshAddress()
    const signed = await signOrder(network, { payments: [{ recipient, amount: 1_000n }] })
    const worth = BigInt(signed.order.inputs[0]?.payment.amount ?? 0)
    const raw = await signDeposit('base', 0, signed.orderId, worth)
    const instead = await signDeposit('base', 0, `0x${'78'.repeat(32)}`, 1n)
    const { work, solver } = await bed.start({ CONFIG_DIR: await patientConfigs(), LOG_LEVEL: 'debug' })
    const waits = (reason: string) => () => solver.output().includes(reason)
    await byHand('base', async () => {
      const hash = await client.sendRawTransaction({ serializedTransaction: raw })
      await node.mine({ blocks: 2 })
      work.add(fillItem(network, await placedAt('base', signed, hash)))
      await waitUntil('it waits for stock', waits('the inventory does not reach'))
      await reorganize('base', 2, [instead])
    })
    await destination.send(keeper, [give(fillWallet.address)])
    await waitUntil(
      'it was judged again',
      () => work.reports.size > 0 || waits('the deposit is not deep enough')(),
    )
    expect(work.reports.size, solver.output()).toBe(0)
    expect(await bed.tokenBalance('optimism', usdc, recipient)).toBe(0n)
  }, 400_000)
})

describe('a deposit that another block brings back', () => {
  test('L-27: at another index is attested by that one, and not refused for good by the old one', async () => {
    const { client, node } = network.chains.base.chain
    const oracles = await startStandInOracles()
    onTestFinished(() => oracles.stop())
    // They say nothing until the deposit has moved.
    oracles.set('garbage', 'garbage', 'garbage')
    const signed = await signOrder(network, { payments: [{ recipient: freshAddress(), amount: 1_000n }] })
    const worth = BigInt(signed.order.inputs[0]?.payment.amount ?? 0)
    const raw = await signDeposit('base', 0, signed.orderId, worth)
    const before = await signDeposit('base', 1, `0x${'79'.repeat(32)}`, 1n)
    const { work, settings } = await bed.start({
      CONFIG_DIR: await patientConfigs(),
      ORACLES: oracles.setting,
      ORACLES_THRESHOLD: '2',
    })
    const asked = async () => (await querySolver(settings, 'select state, asked from payment'))[0]
    await byHand('base', async () => {
      const hash = await client.sendRawTransaction({ serializedTransaction: raw })
      await node.mine({ blocks: 2 })
      const placed = await placedAt('base', signed, hash)
      const item = fillItem(network, placed)
      work.add(item)
      await waitUntil('it is paid', () => work.reports.has(item.id))
      await waitUntil('oracles are asked', async () => (await asked())?.['state'] === 'paid')
      await reorganize('base', 2, [before, raw])
      await node.mine({ blocks: 2 })
      const [moved] = (await placedAt('base', signed, hash)).deposits
      const [old] = placed.deposits
      expect(moved?.onchainIndex).not.toBe(old?.onchainIndex)
      oracles.set('refuses', 'refuses', 'honest')
      const id = onchainId({
        chainId: 'base',
        transactionId: hash,
        onchainIndex: String(moved?.onchainIndex),
      })
      await waitUntil('it is asked for by its new index', async () =>
        JSON.stringify(await asked()).includes(id),
      )
      oracles.set()
      await waitUntil('it is attested', async () => (await asked())?.['state'] === 'attested')
    })
  }, 400_000)
})

describe('a block that a reorganization takes away', () => {
  test('with a fill in it: the order is paid once, though it is offered again meanwhile', async () => {
    const { client, node } = network.chains.optimism.chain
    const { work, solver } = await bed.start({ CONFIG_DIR: await patientConfigs() })
    const [paid] = await paidOrders(network, manyWishes(1))
    if (paid === undefined) throw new Error('one order is one order')
    const item = fillItem(network, paid)
    const again = fillItem(network, paid)
    await byHand('optimism', async () => {
      work.add(item)
      const isMined = async () => {
        await node.mine({ blocks: 1 })
        // CAST: the bed reports hashes.
        const hash = work.reports.get(item.id)?.at(-1) as Hex | undefined
        if (hash === undefined) return false
        const receipt = await client.getTransactionReceipt({ hash }).catch(() => undefined)
        return receipt?.blockNumber === (await client.getBlockNumber({ cacheTime: 0 }))
      }
      await waitUntil('its fill is in the newest block', isMined)
      await reorganize('optimism', 1, [])
      work.add(again)
    })
    await bed.settled([item], solver.output)
    await waitUntil('the second offer was refused', () => work.failures.has(again.id))
    expect(work.failures.get(again.id)).toEqual(['another item filled the order'])
    expect(work.reports.has(again.id)).toBe(false)
  }, 400_000)

  test('with a closing in it: nothing goes back before the order is closed for good, then once', async () => {
    const { client, node } = network.chains.optimism.chain
    const { fillContract } = network.deployment.optimism
    const { work } = await bed.start({ CONFIG_DIR: await patientConfigs() })
    const [paid] = await paidOrders(network, manyWishes(1))
    if (paid === undefined) throw new Error('one order is one order')
    const item = refundItem(network, paid)
    // CAST: orders of the bed name EVM addresses.
    const refundTo = paid.order.inputs[0]?.refunds[0]?.recipient as Hex
    const state = () =>
      client.readContract({
        address: fillContract,
        abi: fillContractAbi,
        functionName: 'stateOf',
        args: [network.keys.fillWallet.address, paid.orderId],
      })
    const closed = 2
    await byHand('optimism', async () => {
      work.add(item)
      await waitUntil('the order is closed in the newest block', async () => {
        await node.mine({ blocks: 1 })
        return Number(await state()) === closed
      })
      await reorganize('optimism', 1, [])
      expect(work.reports.size).toBe(0)
      expect(await bed.nativeBalance('base', refundTo)).toBe(0n)
    })
    await waitUntil('it is given back', async () => (await bed.nativeBalance('base', refundTo)) > 0n)
    expect(Number(await state())).toBe(closed)
    const fill = fillItem(network, paid)
    work.add(fill)
    await waitUntil('its fill was refused', () => work.failures.has(fill.id))
    expect(work.reports.has(fill.id)).toBe(false)
    expect(await bed.nativeBalance('base', refundTo)).toBe(BigInt(paid.order.inputs[0]?.payment.amount ?? 0))
  }, 400_000)
})
