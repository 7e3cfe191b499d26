// Goal: calls of an order spend what was paid for this order and nothing else, once, and the rest is the
// recipient's. Method: each theft is run for real against the contract as deployed, on a real node.
import { cleanupRouterAbi, fillContractAbi } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import { orderCloneAddress } from '@causeway/families/rules'
import fc from 'fast-check'
import { encodeDeployData, encodeFunctionData, erc20Abi, parseEventLogs } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { multicall3Abi, wrappedNativeAbi } from '../src/contracts/abis.generated.ts'
import type { ChainDeployment } from '../src/contracts/deployment.ts'
import { testFill as fillOf, randomWord, testCalls } from '../src/contracts/testFill.ts'
import type { LocalAccount } from '../src/keys/localKeys.ts'
import { type ContractBench, freshAccount, startUserChainBench } from './support/contractBench.ts'
import { type HostileToken, placeHostileToken } from './support/hostileToken.ts'

const orderId: Hex = `0x${'0d'.repeat(32)}`
/** Under an id of its own, since one order is tried again and again. */
const testFill = (fill: Parameters<typeof fillOf>[0]) => fillOf({ id: randomWord(), ...fill })
type FillCall = { readonly to: Hex; readonly data: Hex; readonly value: bigint }

let bench: ContractBench<ChainDeployment>
let solver: LocalAccount
let thief: LocalAccount
let fillContract: Hex
let usdc: Hex
let weth: Hex
let hostile: HostileToken

beforeAll(async () => {
  bench = await startUserChainBench()
  const { fillWallet, users } = bench.keys
  ;[solver, thief] = [fillWallet, users[0] ?? freshAccount()]
  fillContract = bench.deployment.fillContract
  usdc = bench.deployment.tokens.USDC
  weth = bench.deployment.wrappedNative
  hostile = await placeHostileToken(bench, thief)
  await hostile.fund(solver, fillContract)
})
afterAll(() => bench?.stop())

const erc20 = (to: Hex, functionName: 'approve' | 'transfer', account: Hex, amount: bigint): FillCall => ({
  to,
  value: 0n,
  data: encodeFunctionData({ abi: erc20Abi, functionName, args: [account, amount] }),
})
const pulling = (token: Hex, from: Hex, to: Hex, amount: bigint): FillCall => ({
  to: token,
  value: 0n,
  data: encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args: [from, to, amount] }),
})
const wrap = (value: bigint): FillCall => ({
  to: weth,
  value,
  data: encodeFunctionData({ abi: wrappedNativeAbi, functionName: 'deposit' }),
})
const unwrap = (amount: bigint): FillCall => ({
  to: weth,
  value: 0n,
  data: encodeFunctionData({ abi: wrappedNativeAbi, functionName: 'withdraw', args: [amount] }),
})
const nativeBalance = (address: Hex) => bench.chain.client.getBalance({ address })
const tokenBalance = (token: Hex, holder: Hex) =>
  bench.chain.client.readContract({
    address: token,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [holder],
  })

/** Calls that the solver fills with for a new recipient, unless told otherwise. */
function ordered(
  calls: readonly FillCall[],
  { filler = solver.address, recipient = freshAccount().address, sweptTokens = [] as readonly Hex[] } = {},
) {
  const { orderCalls, clone } = testCalls(calls, { fillContract, filler, recipient, sweptTokens })
  return { orderCalls, clone, recipient }
}

describe('an order with calls', () => {
  test('L-32: runs at the address that is computed before the order is hashed', async () => {
    const hex = (bytes: number) =>
      fc
        .uint8Array({ minLength: bytes, maxLength: bytes })
        .map((array): Hex => `0x${Buffer.from(array).toString('hex')}`)
    const data = fc
      .uint8Array({ maxLength: 70 })
      .map((array): Hex => `0x${Buffer.from(array).toString('hex')}`)
    const call = fc.record({ to: hex(20), data, value: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }) })
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          filler: hex(20),
          orderSalt: hex(32),
          recipient: hex(20),
          calls: fc.array(call, { maxLength: 4 }),
        }),
        async ({ filler, orderSalt, recipient, calls }) => {
          const told = await bench.chain.client.readContract({
            address: fillContract,
            abi: fillContractAbi,
            functionName: 'cloneOf',
            args: [filler, orderSalt, recipient, calls],
          })
          const computed = orderCloneAddress({ fillContract, filler, orderSalt, recipient, calls })
          expect(computed).toBe(told.toLowerCase())
        },
      ),
      { numRuns: 25 },
    )
  })

  test('approves and calls with the tokens it was paid, and the rest goes to the recipient', async () => {
    const spender = bench.deployment.depository
    const deposit = encodeFunctionData({
      abi: [
        {
          type: 'function',
          name: 'depositErc20',
          stateMutability: 'nonpayable',
          outputs: [],
          inputs: [
            { name: 'depositor', type: 'address' },
            { name: 'token', type: 'address' },
            { name: 'amount', type: 'uint256' },
            { name: 'id', type: 'bytes32' },
          ],
        },
      ] as const,
      args: [thief.address, usdc, 900n, orderId],
    })
    const calls = [erc20(usdc, 'approve', spender, 1_000n), { to: spender, data: deposit, value: 0n }]
    const { orderCalls, clone, recipient } = ordered(calls, { sweptTokens: [usdc] })
    const before = await tokenBalance(usdc, spender)
    const data = testFill({ orderId, tokens: [{ token: usdc, to: clone, amount: 1_000n }], orderCalls })
    const receipt = await bench.send(solver, fillContract, data)
    expect((await tokenBalance(usdc, spender)) - before).toBe(900n)
    expect(await tokenBalance(usdc, recipient)).toBe(100n)
    expect(await tokenBalance(usdc, clone)).toBe(0n)
    expect(await bench.chain.client.getCode({ address: clone })).toBeUndefined()

    const executed = parseEventLogs({
      abi: fillContractAbi,
      logs: receipt.logs,
      eventName: 'SolverCallExecuted',
    })
    expect(executed.map(({ args }) => ({ ...args, to: args.to.toLowerCase() }))).toEqual(
      calls.map(({ to, data: sent, value }) => ({ to, data: sent, amount: value })),
    )
    // The logs before the first call are the payments for the calls.
    const [first] = executed
    const earlier = receipt.logs.filter(({ logIndex }) => logIndex < (first?.logIndex ?? 0))
    expect(parseEventLogs({ abi: erc20Abi, logs: earlier, eventName: 'Transfer' })).toMatchObject([
      { args: { value: 1_000n } },
    ])
  })

  test('spends native coin that was paid to it, and what comes back is the recipient’s', async () => {
    const { orderCalls, clone, recipient } = ordered([wrap(40n), unwrap(30n)], { sweptTokens: [weth] })
    const data = testFill({ orderId, natives: [{ to: clone, amount: 50n }], orderCalls })
    await bench.send(solver, fillContract, data, 50n)
    expect([await nativeBalance(recipient), await tokenBalance(weth, recipient)]).toEqual([40n, 10n])
    expect([await nativeBalance(clone), await nativeBalance(fillContract)]).toEqual([0n, 0n])
  })

  test('leaves its recipient what lay at the address before', async () => {
    const { orderCalls, clone, recipient } = ordered([wrap(0n)], { sweptTokens: [usdc] })
    await bench.send(thief, clone, '0x', 3n)
    await bench.send(solver, usdc, erc20(usdc, 'transfer', clone, 4n).data)
    await bench.send(solver, fillContract, testFill({ orderId, orderCalls }))
    expect([await nativeBalance(recipient), await tokenBalance(usdc, recipient)]).toEqual([3n, 4n])
  })

  test('undoes its payments when a call fails', async () => {
    const { orderCalls, clone } = ordered([wrap(1n), { to: usdc, data: '0xdeadbeef', value: 0n }])
    const data = testFill({ orderId, natives: [{ to: clone, amount: 1n }], orderCalls })
    expect(await bench.revert(solver, fillContract, data, 1n)).toBe('CallFailed')
  })
})

describe('a call cannot', () => {
  test('spend the allowance that the solver gave', async () => {
    const { orderCalls } = ordered([pulling(usdc, solver.address, thief.address, 1n)])
    expect(await bench.revert(solver, fillContract, testFill({ orderId, orderCalls }))).toBe('CallFailed')
    const own = ordered([pulling(usdc, solver.address, thief.address, 1n)], { filler: thief.address })
    const data = testFill({ orderId, orderCalls: own.orderCalls })
    expect(await bench.revert(thief, fillContract, data)).toBe('CallFailed')
  })

  test('spend coin that was not paid to its clone, though some was forced on the fill contract', async () => {
    const { CoinForcer } = bench.artifacts
    const initCode = encodeDeployData({ ...CoinForcer, args: [fillContract] })
    const { walletClient } = bench.chain.as(thief)
    await walletClient.sendTransaction({ data: initCode, value: 9n })
    await expect.poll(() => nativeBalance(fillContract)).toBe(9n)
    const { orderCalls, clone } = ordered([wrap(2n)])
    const short = testFill({ orderId, natives: [{ to: clone, amount: 1n }], orderCalls })
    expect(await bench.revert(solver, fillContract, short, 1n)).toBe('CallFailed')
    const unpaid = testFill({ orderId, orderCalls })
    expect(await bench.revert(solver, fillContract, unpaid, 2n)).toBe('WrongValue')
    await bench.send(
      solver,
      fillContract,
      testFill({ orderId, natives: [{ to: thief.address, amount: 5n }] }),
      5n,
    )
    // Coin that was forced on the contract belongs to no order, and stays.
    expect(await nativeBalance(fillContract)).toBe(9n)
    await bench.chain.node.setBalance({ address: fillContract, value: 0n })
  })

  test('enter the fill contract again', async () => {
    const again = testFill({ orderId, natives: [{ to: thief.address, amount: 1n }] })
    const { orderCalls, clone } = ordered([{ to: fillContract, data: again, value: 1n }])
    const data = testFill({ orderId, natives: [{ to: clone, amount: 1n }], orderCalls })
    expect(await bench.revert(solver, fillContract, data, 1n)).toBe('CallFailed')
  })

  test('close an id of the filler', async () => {
    const id = randomWord()
    const closing = encodeFunctionData({ abi: fillContractAbi, functionName: 'close', args: [id] })
    const { orderCalls } = ordered([{ to: fillContract, data: closing, value: 0n }])
    await bench.send(solver, fillContract, testFill({ orderId, orderCalls }))
    await bench.send(solver, fillContract, testFill({ orderId, id }))
  })

  test('be run by anybody but the fill contract', async () => {
    const implementation = await bench.chain.client.readContract({
      address: fillContract,
      abi: fillContractAbi,
      functionName: 'implementation',
    })
    const { OrderClone } = bench.artifacts
    const data = encodeFunctionData({
      abi: OrderClone.abi,
      functionName: 'run',
      args: [[wrap(0n)], [], thief.address],
    })
    expect(await bench.revert(thief, implementation, data)).toBe('NotFillContract')
    const { clone } = ordered([wrap(0n)])
    // There is no code yet, so that nothing runs.
    expect(await bench.chain.client.call({ account: thief.address, to: clone, data })).toEqual({
      data: undefined,
    })
  })
})

describe('a clone of an order', () => {
  test('has no allowance that an earlier order left, though a hook looks for one in the middle', async () => {
    const approveAll = erc20(hostile.address, 'approve', thief.address, 2n ** 255n)
    const earlier = ordered([approveAll])
    await bench.send(solver, fillContract, testFill({ orderId, orderCalls: earlier.orderCalls }))

    const later = ordered([erc20(hostile.address, 'transfer', freshAccount().address, 10n)])
    const data = testFill({
      orderId,
      orderCalls: later.orderCalls,
      tokens: [{ token: hostile.address, to: later.clone, amount: 10n }],
    })
    const loot = (from: Hex) =>
      bench.chain.client.readContract({
        address: hostile.address,
        abi: erc20Abi,
        functionName: 'allowance',
        args: [from, thief.address],
      })
    expect(await loot(earlier.clone)).toBe(2n ** 255n)
    expect(await loot(later.clone)).toBe(0n)
    await bench.send(solver, fillContract, data)
  })

  test('L-32: is the filler’s alone: a stranger who runs the same calls first spoils nothing', async () => {
    await hostile.set('ApproveFromZero')
    const spender = freshAccount().address
    const calls = [erc20(hostile.address, 'approve', spender, 10n)]
    const { orderCalls, clone } = ordered(calls)
    await bench.send(thief, fillContract, testFill({ orderId, orderCalls }))
    const data = testFill({
      orderId,
      tokens: [{ token: hostile.address, to: clone, amount: 10n }],
      orderCalls,
    })
    await bench.send(solver, fillContract, data)
    expect(await tokenBalance(hostile.address, clone)).toBe(10n)
    await hostile.set('None')
  })

  test('is not made by a hook before its time', async () => {
    const { orderCalls, clone } = ordered([erc20(hostile.address, 'transfer', thief.address, 10n)])
    await hostile.set('Callback')
    await hostile.arm(fillContract, testFill({ orderId, orderCalls }))
    const data = testFill({
      orderId,
      tokens: [{ token: hostile.address, to: clone, amount: 10n }],
      orderCalls,
    })
    expect(await bench.revert(solver, fillContract, data)).toBe('TokenCallFailed')
    await hostile.set('None')
    await bench.send(solver, fillContract, data)
  })

  test('is not run twice in one transaction', async () => {
    const filler = bench.deployment.multicall3
    const { orderCalls } = ordered([wrap(0n)], { filler })
    const run = () => ({
      target: fillContract,
      allowFailure: false,
      callData: testFill({ orderId, orderCalls }),
    })
    const together = (count: number) =>
      encodeFunctionData({
        abi: multicall3Abi,
        functionName: 'aggregate3',
        args: [Array.from({ length: count }, run)],
      })
    await bench.send(thief, filler, together(1))
    expect(await bench.revert(thief, filler, together(2))).toMatch(/call failed/)
  })

  test('gives the rest to a recipient that takes it, or nothing happens', async () => {
    const refuses = freshAccount().address
    await bench.chain.node.setCode({ address: refuses, bytecode: '0x60006000fd' })
    const { orderCalls, clone } = ordered([wrap(1n)], { recipient: refuses })
    const data = testFill({ orderId, natives: [{ to: clone, amount: 2n }], orderCalls })
    expect(await bench.revert(solver, fillContract, data, 2n)).toBe('NativeTransferFailed')
  })
})

describe('the router that calls may name', () => {
  const cleaning = (data: Hex): FillCall => ({ to: bench.deployment.cleanupRouter, data, value: 0n })
  const cleanup = (token: Hex, to: Hex, amount = 0n) =>
    cleaning(
      encodeFunctionData({
        abi: cleanupRouterAbi,
        functionName: 'cleanupErc20s',
        args: [[token], [to], [amount]],
      }),
    )
  const cleanupNative = (to: Hex) =>
    cleaning(encodeFunctionData({ abi: cleanupRouterAbi, functionName: 'cleanupNative', args: [0n, to] }))

  test('L-36: hands on all that calls sent to it, and what it does not have it leaves', async () => {
    const [saver, { cleanupRouter }] = [freshAccount().address, bench.deployment]
    const { orderCalls, clone, recipient } = ordered(
      [
        erc20(usdc, 'transfer', cleanupRouter, 60n),
        cleanup(usdc, saver),
        { to: cleanupRouter, data: '0x', value: 7n },
        cleanupNative(saver),
        ...[cleanup(weth, saver), cleanupNative(saver)],
      ],
      { sweptTokens: [usdc] },
    )
    const data = testFill({
      orderId,
      orderCalls,
      natives: [{ to: clone, amount: 10n }],
      tokens: [{ token: usdc, to: clone, amount: 100n }],
    })
    await bench.send(solver, fillContract, data, 10n)
    expect([await tokenBalance(usdc, saver), await nativeBalance(saver)]).toEqual([60n, 7n])
    expect([await tokenBalance(usdc, recipient), await nativeBalance(recipient)]).toEqual([40n, 3n])
    expect([await tokenBalance(usdc, cleanupRouter), await nativeBalance(cleanupRouter)]).toEqual([0n, 0n])
  })

  test('L-36: hands on by a call, and allows nobody what the call did not take', async () => {
    const { cleanupRouter } = bench.deployment
    const taker = freshAccount()
    await bench.send(solver, usdc, erc20(usdc, 'transfer', cleanupRouter, 5n).data)
    const takesNothing = encodeFunctionData({
      abi: cleanupRouterAbi,
      functionName: 'cleanupErc20sViaCall',
      args: [[usdc], [taker.address], ['0x'], [0n]],
    })
    await bench.send(solver, cleanupRouter, takesNothing)
    const left = await bench.chain.client.readContract({
      address: usdc,
      abi: erc20Abi,
      functionName: 'allowance',
      args: [cleanupRouter, taker.address],
    })
    expect([left, await tokenBalance(usdc, cleanupRouter)]).toEqual([0n, 5n])
    // Anybody's, so that nothing is to lie there.
    await bench.send(thief, cleanupRouter, cleanup(usdc, thief.address).data)
    expect(await tokenBalance(usdc, cleanupRouter)).toBe(0n)
  })

  test('takes no nobody for a recipient, no lists of other lengths and no NFT', async () => {
    const { cleanupRouter } = bench.deployment
    const nobody: Hex = `0x${'00'.repeat(20)}`
    expect(await bench.revert(thief, cleanupRouter, cleanup(usdc, nobody).data)).toBe('InvalidRecipient')
    const uneven = encodeFunctionData({
      abi: cleanupRouterAbi,
      functionName: 'cleanupErc20s',
      args: [[usdc], [], [0n]],
    })
    expect(await bench.revert(thief, cleanupRouter, uneven)).toBe('ArrayLengthsMismatch')
    const received = encodeFunctionData({
      abi: cleanupRouterAbi,
      functionName: 'onERC721Received',
      args: [thief.address, thief.address, 1n, '0x'],
    })
    expect(await bench.revert(thief, cleanupRouter, received)).toBe('NoRecipientSet')
  })
})
