// Goal: one transaction pays what an order owes, proves it by events, and takes nothing from anybody
// but its sender. Method: the contract as deployed, on a real node; the fill wallet's standing
// allowances are the ones the deployment gave.

import { fillContractAbi } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import { concatHex, encodeFunctionData, erc20Abi, parseEventLogs, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wrappedNativeAbi } from '../src/contracts/abis.generated.ts'
import type { ChainDeployment } from '../src/contracts/deployment.ts'
import type { LocalAccount } from '../src/keys/localKeys.ts'
import { type ContractBench, freshAccount, startUserChainBench } from './support/contractBench.ts'

const orderId: Hex = `0x${'0d'.repeat(32)}`

type NativePayment = { readonly to: Hex; readonly amount: bigint }
type Erc20Payment = { readonly token: Hex; readonly to: Hex; readonly amount: bigint }
type FillCall = { readonly to: Hex; readonly data: Hex; readonly value: bigint }

let bench: ContractBench<ChainDeployment>
let solver: LocalAccount
let user: LocalAccount
let fillContract: Hex
let executor: Hex
let usdc: Hex
let weth: Hex

beforeAll(async () => {
  bench = await startUserChainBench()
  solver = bench.keys.fillWallet
  user = bench.keys.users[0] ?? freshAccount()
  fillContract = bench.deployment.fillContract
  usdc = bench.deployment.tokens.USDC
  weth = bench.deployment.wrappedNative
  executor = await bench.chain.client.readContract({
    address: fillContract,
    abi: fillContractAbi,
    functionName: 'executor',
  })
})
afterAll(() => bench?.stop())

/** The calldata of a fill, ending in the order id as readers demand. */
function fill(parts: {
  readonly native?: readonly NativePayment[]
  readonly erc20?: readonly Erc20Payment[]
  readonly calls?: readonly FillCall[]
  readonly refundTo?: Hex
}): Hex {
  const data = encodeFunctionData({
    abi: fillContractAbi,
    functionName: 'fill',
    args: [parts.native ?? [], parts.erc20 ?? [], parts.calls ?? [], parts.refundTo ?? zeroAddress],
  })
  return concatHex([data, orderId])
}

const nativeBalance = (address: Hex) => bench.chain.client.getBalance({ address })
const tokenBalance = (token: Hex, holder: Hex) =>
  bench.chain.client.readContract({
    address: token,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [holder],
  })
const wrap = (value: bigint): FillCall => ({
  to: weth,
  data: encodeFunctionData({ abi: wrappedNativeAbi, functionName: 'deposit' }),
  value,
})

describe('payments', () => {
  test('native coin and tokens reach their recipients, and the order id stays at the end', async () => {
    const [first, second] = [freshAccount().address, freshAccount().address]
    const data = fill({
      native: [
        { to: first, amount: 5n },
        { to: second, amount: 7n },
      ],
      erc20: [{ token: usdc, to: first, amount: 1_234n }],
    })
    const receipt = await bench.send(solver, fillContract, data, 12n)
    expect(await Promise.all([nativeBalance(first), nativeBalance(second)])).toEqual([5n, 7n])
    expect(await tokenBalance(usdc, first)).toBe(1_234n)

    const events = parseEventLogs({
      abi: fillContractAbi,
      logs: receipt.logs,
      eventName: 'SolverNativeTransfer',
    })
    expect(events.map(({ args }) => [args.to.toLowerCase(), args.amount])).toEqual([
      [first, 5n],
      [second, 7n],
    ])
    const { input } = await bench.chain.client.getTransaction({ hash: receipt.transactionHash })
    expect(input.endsWith(orderId.slice(2))).toBe(true)
  })

  test('what is sent too much comes back to the sender', async () => {
    const to = freshAccount().address
    const before = await nativeBalance(solver.address)
    const receipt = await bench.send(solver, fillContract, fill({ native: [{ to, amount: 10n }] }), 1_000n)
    const gasWei = receipt.gasUsed * receipt.effectiveGasPrice
    expect(before - (await nativeBalance(solver.address))).toBe(10n + gasWei)
    expect(await nativeBalance(fillContract)).toBe(0n)
  })

  test('a payment above what was sent is refused', async () => {
    const data = fill({ native: [{ to: user.address, amount: 10n }] })
    expect(await bench.revert(solver, fillContract, data, 9n)).toBe('ValueTooLow')
  })

  test('tokens come from the sender alone', async () => {
    const stranger = fill({ erc20: [{ token: usdc, to: user.address, amount: 1n }] })
    expect(await bench.revert(user, fillContract, stranger)).toBe('TokenCallFailed')
  })
})

describe('calls', () => {
  test('run in order with their value and leave one event each', async () => {
    const approve = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [user.address, 3n] })
    const calls: readonly FillCall[] = [wrap(9n), { to: weth, data: approve, value: 0n }]
    const before = await tokenBalance(weth, executor)
    const receipt = await bench.send(solver, fillContract, fill({ calls }), 9n)
    expect((await tokenBalance(weth, executor)) - before).toBe(9n)

    const events = parseEventLogs({
      abi: fillContractAbi,
      logs: receipt.logs,
      eventName: 'SolverCallExecuted',
    })
    expect(events.map(({ args }) => ({ ...args, to: args.to.toLowerCase() }))).toEqual([
      { to: weth, data: wrap(9n).data, amount: 9n },
      { to: weth, data: approve, amount: 0n },
    ])
    expect(events.every(({ address }) => address.toLowerCase() === fillContract)).toBe(true)
  })

  test('a failing call undoes the payments too', async () => {
    const to = freshAccount().address
    const failing: FillCall = { to: usdc, data: '0xdeadbeef', value: 0n }
    const data = fill({ native: [{ to, amount: 1n }], calls: [failing] })
    expect(await bench.revert(solver, fillContract, data, 1n)).toBe('CallFailed')
  })

  test('what calls pay back goes where the order says, or to the sender', async () => {
    const unwrap = (value: bigint): FillCall => ({
      to: weth,
      data: encodeFunctionData({ abi: wrappedNativeAbi, functionName: 'withdraw', args: [value] }),
      value: 0n,
    })
    const refundTo = freshAccount().address
    await bench.send(solver, fillContract, fill({ calls: [wrap(40n), unwrap(40n)], refundTo }), 40n)
    expect(await nativeBalance(refundTo)).toBe(40n)

    const before = await nativeBalance(solver.address)
    const receipt = await bench.send(solver, fillContract, fill({ calls: [wrap(50n), unwrap(50n)] }), 50n)
    const gasWei = receipt.gasUsed * receipt.effectiveGasPrice
    expect(before - (await nativeBalance(solver.address))).toBe(gasWei)
  })
})

describe('abuse', () => {
  test("an order's call cannot spend the allowance that the solver gave", async () => {
    const steal = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'transferFrom',
      args: [solver.address, user.address, 1n],
    })
    const allowance = await bench.chain.client.readContract({
      address: usdc,
      abi: erc20Abi,
      functionName: 'allowance',
      args: [solver.address, fillContract],
    })
    expect(allowance).toBeGreaterThan(10n ** 30n)
    const data = fill({ calls: [{ to: usdc, data: steal, value: 0n }] })
    expect(await bench.revert(solver, fillContract, data)).toBe('CallFailed')
    expect(await bench.revert(user, fillContract, data)).toBe('CallFailed')
  })

  test('a call cannot enter the fill contract again', async () => {
    const again = fill({ native: [{ to: user.address, amount: 1n }] })
    const data = fill({ calls: [{ to: fillContract, data: again, value: 1n }] })
    expect(await bench.revert(solver, fillContract, data, 2n)).toBe('CallFailed')
  })

  test('nobody but the fill contract uses the executor', async () => {
    const run = `0x${'00'.repeat(4)}` as const
    expect(await bench.revert(user, executor, run)).toBe('no data')
    const { FillExecutor } = bench.artifacts
    const data = encodeFunctionData({
      abi: FillExecutor.abi,
      functionName: 'run',
      args: [[wrap(0n)], user.address],
    })
    expect(await bench.revert(user, executor, data)).toBe('NotFillContract')
  })

  test('a recipient that refuses native coin stops the fill', async () => {
    const refuses = freshAccount().address
    await bench.chain.node.setCode({ address: refuses, bytecode: '0x60006000fd' })
    const data = fill({ native: [{ to: refuses, amount: 1n }] })
    expect(await bench.revert(solver, fillContract, data, 1n)).toBe('NativeTransferFailed')
  })

  test('a recipient that fills again while it is paid stops the fill', async () => {
    const { attacker, arm } = await placeReenterer()
    const data = fill({ native: [{ to: attacker, amount: 1n }] })
    await arm(user.address, '0x')
    await bench.send(solver, fillContract, data, 1n)
    await arm(fillContract, fill({}))
    expect(await bench.revert(solver, fillContract, data, 1n)).toBe('NativeTransferFailed')
  })
})

/** A contract that calls what it is armed with whenever it is paid. */
async function placeReenterer() {
  const attacker = freshAccount().address
  const { abi, runtimeBytecode } = bench.artifacts.Reenterer
  await bench.chain.node.setCode({ address: attacker, bytecode: runtimeBytecode })
  const arm = (target: Hex, data: Hex) =>
    bench.send(user, attacker, encodeFunctionData({ abi, functionName: 'arm', args: [target, data] }))
  return { attacker, arm }
}
