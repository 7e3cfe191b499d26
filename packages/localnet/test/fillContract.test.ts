// Goal: one transaction pays what an order owes, once, in time, proves it by events, and takes nothing from
// anybody but its sender. Method: the contract as deployed, on a real node; the fill wallet's standing
// allowances are the ones the deployment gave.
import { fillContractAbi } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import { encodeFunctionData, erc20Abi, parseEventLogs } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChainDeployment } from '../src/contracts/deployment.ts'
import { testFill as fillOf, randomWord } from '../src/contracts/testFill.ts'
import type { LocalAccount } from '../src/keys/localKeys.ts'
import { type ContractBench, freshAccount, startUserChainBench } from './support/contractBench.ts'

const orderId: Hex = `0x${'0d'.repeat(32)}`
/** Under an id of its own, since one order is tried again and again. */
const testFill = (fill: Parameters<typeof fillOf>[0]) => fillOf({ id: randomWord(), ...fill })

let bench: ContractBench<ChainDeployment>
let solver: LocalAccount
let user: LocalAccount
let fillContract: Hex
let usdc: Hex

beforeAll(async () => {
  bench = await startUserChainBench()
  solver = bench.keys.fillWallet
  user = bench.keys.users[0] ?? freshAccount()
  fillContract = bench.deployment.fillContract
  usdc = bench.deployment.tokens.USDC
})
afterAll(() => bench?.stop())

const fill = (parts: Omit<Parameters<typeof testFill>[0], 'orderId'>) => testFill({ orderId, ...parts })
const closing = (id: Hex) => encodeFunctionData({ abi: fillContractAbi, functionName: 'close', args: [id] })
const nativeBalance = (address: Hex) => bench.chain.client.getBalance({ address })
const tokenBalance = (token: Hex, holder: Hex) =>
  bench.chain.client.readContract({
    address: token,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [holder],
  })
const stateOf = (filler: Hex, id: Hex) =>
  bench.chain.client.readContract({
    address: fillContract,
    abi: fillContractAbi,
    functionName: 'stateOf',
    args: [filler, id],
  })
const chainTime = async () => (await bench.chain.client.getBlock()).timestamp

describe('payments', () => {
  test('native coin and tokens reach their recipients, and the order id stays at the end', async () => {
    const [first, second] = [freshAccount().address, freshAccount().address]
    const data = fill({
      natives: [
        { to: first, amount: 5n },
        { to: second, amount: 7n },
      ],
      tokens: [{ token: usdc, to: first, amount: 1_234n }],
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

  test('more or less coin than the payments is refused, so that none stays', async () => {
    const data = fill({ natives: [{ to: user.address, amount: 10n }] })
    expect(await bench.revert(solver, fillContract, data, 9n)).toBe('WrongValue')
    expect(await bench.revert(solver, fillContract, data, 11n)).toBe('WrongValue')
    expect(await bench.revert(solver, fillContract, fill({}), 1n)).toBe('WrongValue')
  })

  test('tokens come from the sender alone', async () => {
    const stranger = fill({ tokens: [{ token: usdc, to: user.address, amount: 1n }] })
    expect(await bench.revert(user, fillContract, stranger)).toBe('TokenCallFailed')
  })
})

describe('the record', () => {
  test('a second payment of an id reverts, in whatever form and amount', async () => {
    const id = randomWord()
    const to = freshAccount().address
    const receipt = await bench.send(solver, fillContract, fill({ id, natives: [{ to, amount: 3n }] }), 3n)
    const [paid] = parseEventLogs({ abi: fillContractAbi, logs: receipt.logs, eventName: 'Paid' })
    expect([paid?.args.filler.toLowerCase(), paid?.args.id]).toEqual([solver.address, id])
    expect(await stateOf(solver.address, id)).toBe(1)

    const again = fill({ id, natives: [{ to, amount: 3n }] })
    expect(await bench.revert(solver, fillContract, again, 3n)).toBe('AlreadyPaid')
    const otherwise = fill({ id, tokens: [{ token: usdc, to, amount: 1n }] })
    expect(await bench.revert(solver, fillContract, otherwise)).toBe('AlreadyPaid')
    expect(await nativeBalance(to)).toBe(3n)
  })

  test('L-31: a stranger who uses or closes an id first blocks nobody', async () => {
    const [used, closed] = [randomWord(), randomWord()]
    await bench.send(user, fillContract, fill({ id: used }))
    await bench.send(user, fillContract, closing(closed))
    for (const id of [used, closed]) {
      const to = freshAccount().address
      await bench.send(solver, fillContract, fill({ id, natives: [{ to, amount: 1n }] }), 1n)
      expect(await nativeBalance(to)).toBe(1n)
    }
  })

  test('a payment that reverts leaves the id open', async () => {
    const id = randomWord()
    const data = fill({ id, natives: [{ to: user.address, amount: 2n }] })
    expect(await bench.revert(solver, fillContract, data, 1n)).toBe('WrongValue')
    expect(await stateOf(solver.address, id)).toBe(0)
    await bench.send(solver, fillContract, data, 2n)
  })

  test('nothing is paid in a block after the deadline, and in one at it everything', async () => {
    const deadlineSeconds = (await chainTime()) + 1_000n
    const at = (seconds: bigint) => ({ time: seconds })
    const data = fill({ deadlineSeconds, natives: [{ to: user.address, amount: 1n }] })
    const call = { account: solver.address, to: fillContract, data, value: 1n } as const
    const in_ = (time: bigint) =>
      bench.chain.client.call({ ...call, blockOverrides: at(time) }).then(
        () => 'paid',
        (error: unknown) => String(error),
      )
    expect(await in_(deadlineSeconds)).toBe('paid')
    expect(await in_(deadlineSeconds + 1n)).not.toBe('paid')
    const late = fill({ deadlineSeconds: (await chainTime()) - 1n })
    expect(await bench.revert(solver, fillContract, late)).toBe('DeadlinePassed')
  })

  test('a closed id is never paid, and a paid one is not closed', async () => {
    const id = randomWord()
    await bench.send(solver, fillContract, closing(id))
    expect(await stateOf(solver.address, id)).toBe(2)
    expect(await bench.revert(solver, fillContract, fill({ id }))).toBe('AlreadyClosed')
    await bench.send(solver, fillContract, closing(id))
    expect(await bench.revert(solver, fillContract, fill({ id }))).toBe('AlreadyClosed')

    const paid = randomWord()
    await bench.send(solver, fillContract, fill({ id: paid }))
    expect(await bench.revert(solver, fillContract, closing(paid))).toBe('AlreadyPaid')
  })
})

describe('recipients', () => {
  test('one that refuses native coin stops the fill', async () => {
    const refuses = freshAccount().address
    await bench.chain.node.setCode({ address: refuses, bytecode: '0x60006000fd' })
    const data = fill({ natives: [{ to: refuses, amount: 1n }] })
    expect(await bench.revert(solver, fillContract, data, 1n)).toBe('NativeTransferFailed')
  })

  test('one that fills again while it is paid stops the fill', async () => {
    const { attacker, arm } = await placeReenterer()
    const data = fill({ natives: [{ to: attacker, amount: 1n }] })
    await arm(user.address, '0x')
    await bench.send(solver, fillContract, data, 1n)
    await arm(fillContract, fill({}))
    const next = fill({ natives: [{ to: attacker, amount: 1n }] })
    expect(await bench.revert(solver, fillContract, next, 1n)).toBe('NativeTransferFailed')
  })

  test('one that closes the id while it is paid closes its own', async () => {
    const { attacker, arm } = await placeReenterer()
    const id = randomWord()
    await arm(fillContract, closing(id))
    await bench.send(solver, fillContract, fill({ id, natives: [{ to: attacker, amount: 1n }] }), 1n)
    expect([await stateOf(solver.address, id), await stateOf(attacker, id)]).toEqual([1, 2])
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
