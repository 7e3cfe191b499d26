// Goal: an origin swap ends as one deposit of its whole output, and the router spends only what its
// sender hands over. Method: the router and the pools as deployed, on a real node.

import { depositoryAbi, depositRouterAbi } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import { encodeFunctionData, erc20Abi, maxUint256, parseAbi, parseEventLogs, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChainDeployment } from '../src/contracts/deployment.ts'
import type { LocalAccount } from '../src/keys/localKeys.ts'
import { swapRouterAbi } from '../src/uniswap/abis.ts'
import { type ContractBench, freshAccount, startUserChainBench } from './support/contractBench.ts'

const id: Hex = `0x${'0e'.repeat(32)}`
const unit6 = 10n ** 6n
const unit18 = 10n ** 18n

let bench: ContractBench<ChainDeployment>
let user: LocalAccount
let thief: LocalAccount
let router: Hex
let usdc: Hex
let tide: Hex
let weth: Hex

beforeAll(async () => {
  bench = await startUserChainBench()
  user = bench.keys.users[0] ?? freshAccount()
  thief = bench.keys.users[1] ?? freshAccount()
  router = bench.deployment.depositRouter
  usdc = bench.deployment.tokens.USDC
  tide = bench.deployment.tokens.TIDE
  weth = bench.deployment.wrappedNative
  for (const token of [usdc, tide]) {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [router, maxUint256] })
    await bench.send(user, token, data)
  }
})
afterAll(() => bench?.stop())

type Swap = {
  readonly tokenIn: Hex
  readonly tokenOut: Hex
  readonly feePips: number
  readonly amountIn: bigint
  /** Default: the deposit router. */
  readonly recipient?: Hex
  readonly sqrtPriceLimitX96?: bigint
}

function swapData(swap: Swap): Hex {
  return encodeFunctionData({
    abi: swapRouterAbi,
    functionName: 'exactInputSingle',
    args: [
      {
        tokenIn: swap.tokenIn,
        tokenOut: swap.tokenOut,
        fee: swap.feePips,
        recipient: swap.recipient ?? router,
        deadline: maxUint256,
        amountIn: swap.amountIn,
        amountOutMinimum: 0n,
        sqrtPriceLimitX96: swap.sqrtPriceLimitX96 ?? 0n,
      },
    ],
  })
}

/** Calldata of the router. Native coin is the zero address here and the wrapped token in the swap. */
function swapAndDeposit(request: {
  readonly tokenIn: Hex
  readonly tokenOut: Hex
  readonly amountIn: bigint
  readonly swapData: Hex
  readonly minAmountOut?: bigint
  readonly depositor?: Hex
}): Hex {
  return encodeFunctionData({
    abi: depositRouterAbi,
    functionName: 'swapAndDeposit',
    args: [{ minAmountOut: 1n, depositor: user.address, id, ...request }],
  })
}

const tokenBalance = (token: Hex, holder: Hex) =>
  bench.chain.client.readContract({
    address: token,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [holder],
  })
const allowance = (token: Hex, spender: Hex) =>
  bench.chain.client.readContract({
    address: token,
    abi: erc20Abi,
    functionName: 'allowance',
    args: [router, spender],
  })

/** No balance and no allowance of the router, whatever happened. */
async function expectNothingLeftBehind(): Promise<void> {
  const { depository, uniswapV3 } = bench.deployment
  const tokens = [usdc, tide, weth]
  const left = await Promise.all([
    bench.chain.client.getBalance({ address: router }),
    ...tokens.map((token) => tokenBalance(token, router)),
    ...tokens.map((token) => allowance(token, uniswapV3.swapRouter)),
    ...tokens.map((token) => allowance(token, depository)),
  ])
  expect(left).toEqual(left.map(() => 0n))
}

const usdcToTide = (amountIn: bigint, more: Partial<Swap> = {}) =>
  swapData({ tokenIn: usdc, tokenOut: tide, feePips: 3_000, amountIn, ...more })

describe('swaps', () => {
  test('Q-185: a token becomes a deposit of another token, all of it', async () => {
    const amountIn = 1_000n * unit6
    const { depository } = bench.deployment
    const [before, held] = await Promise.all([
      tokenBalance(usdc, user.address),
      tokenBalance(tide, depository),
    ])
    const data = swapAndDeposit({ tokenIn: usdc, tokenOut: tide, amountIn, swapData: usdcToTide(amountIn) })
    const receipt = await bench.send(user, router, data)

    const [event] = parseEventLogs({ abi: depositoryAbi, logs: receipt.logs, eventName: 'RelayErc20Deposit' })
    expect(event?.args.from.toLowerCase()).toBe(user.address)
    expect(event?.args.token.toLowerCase()).toBe(tide)
    expect(event?.args.id).toBe(id)
    // 1,000 USD at 4 USD a token, less the pool's fee and what the swap moves its price by.
    expect(event?.args.amount).toBeGreaterThan(248n * unit18)
    expect(event?.args.amount).toBeLessThan(250n * unit18)
    expect((await tokenBalance(tide, depository)) - held).toBe(event?.args.amount)
    expect(before - (await tokenBalance(usdc, user.address))).toBe(amountIn)
    await expectNothingLeftBehind()
  })

  test('native coin becomes a deposit of a token', async () => {
    const amountIn = 2n * unit18
    const data = swapAndDeposit({
      tokenIn: zeroAddress,
      tokenOut: usdc,
      amountIn,
      swapData: swapData({ tokenIn: weth, tokenOut: usdc, feePips: 500, amountIn }),
    })
    const receipt = await bench.send(user, router, data, amountIn)
    const [event] = parseEventLogs({ abi: depositoryAbi, logs: receipt.logs, eventName: 'RelayErc20Deposit' })
    expect(event?.args.amount).toBeGreaterThan(4_990n * unit6)
    expect(event?.args.amount).toBeLessThan(5_000n * unit6)
    await expectNothingLeftBehind()
  })

  test('a token becomes a deposit of native coin', async () => {
    const amountIn = 5_000n * unit6
    const { depository } = bench.deployment
    const held = await bench.chain.client.getBalance({ address: depository })
    const data = swapAndDeposit({
      tokenIn: usdc,
      tokenOut: zeroAddress,
      amountIn,
      swapData: swapData({ tokenIn: usdc, tokenOut: weth, feePips: 500, amountIn }),
    })
    const receipt = await bench.send(user, router, data)
    const [event] = parseEventLogs({
      abi: depositoryAbi,
      logs: receipt.logs,
      eventName: 'RelayNativeDeposit',
    })
    expect(event?.args.amount).toBeGreaterThan((199n * unit18) / 100n)
    expect((await bench.chain.client.getBalance({ address: depository })) - held).toBe(event?.args.amount)
    await expectNothingLeftBehind()
  })

  test('a deposit for nobody is credited to the sender and not to the router', async () => {
    const amountIn = 10n * unit6
    const data = swapAndDeposit({
      tokenIn: usdc,
      tokenOut: tide,
      amountIn,
      swapData: usdcToTide(amountIn),
      depositor: zeroAddress,
    })
    const receipt = await bench.send(user, router, data)
    const [event] = parseEventLogs({ abi: depositoryAbi, logs: receipt.logs, eventName: 'RelayErc20Deposit' })
    expect(event?.args.from.toLowerCase()).toBe(user.address)
  })
})

/** Calldata of a swap that ends here. */
function swapAndPay(request: {
  readonly tokenIn: Hex
  readonly tokenOut: Hex
  readonly amountIn: bigint
  readonly swapData: Hex
  readonly minAmountOut?: bigint
  readonly recipient?: Hex
}): Hex {
  return encodeFunctionData({
    abi: depositRouterAbi,
    functionName: 'swapAndPay',
    args: [{ minAmountOut: 1n, recipient: zeroAddress, id, ...request }],
  })
}

describe('a swap that ends on its chain', () => {
  const paidOf = ({ logs }: Awaited<ReturnType<typeof bench.send>>) => {
    const events = parseEventLogs({ abi: depositRouterAbi, logs, eventName: 'SwapPaid' })
    expect(events).toHaveLength(1)
    const [event] = events
    if (event === undefined) throw new Error('the router said nothing')
    expect(event.address.toLowerCase()).toBe(router)
    return event.args
  }

  test.each<[string, () => { tokenIn: Hex; tokenOut: Hex; amountIn: bigint }]>([
    ['a token for a token', () => ({ tokenIn: usdc, tokenOut: tide, amountIn: 40n * unit6 })],
    ['native coin for a token', () => ({ tokenIn: zeroAddress, tokenOut: usdc, amountIn: unit18 / 50n })],
    ['a token for native coin', () => ({ tokenIn: usdc, tokenOut: zeroAddress, amountIn: 40n * unit6 })],
  ])('%s: the event says what the recipient got', async (_what, swap) => {
    const { tokenIn, tokenOut, amountIn } = swap()
    const recipient = freshAccount().address
    const erc20Of = (token: Hex) => (token === zeroAddress ? weth : token)
    const feePips = tokenOut === tide ? 3_000 : 500
    const data = swapData({ tokenIn: erc20Of(tokenIn), tokenOut: erc20Of(tokenOut), feePips, amountIn })
    const value = tokenIn === zeroAddress ? amountIn : 0n
    const sent = swapAndPay({ tokenIn, tokenOut, amountIn, recipient, swapData: data })
    const paid = paidOf(await bench.send(user, router, sent, value))
    const got =
      tokenOut === zeroAddress
        ? await bench.chain.client.getBalance({ address: recipient })
        : await tokenBalance(tokenOut, recipient)
    expect(got).toBeGreaterThan(0n)
    expect({
      ...paid,
      recipient: paid.recipient.toLowerCase(),
      tokenOut: paid.tokenOut.toLowerCase(),
    }).toEqual({
      id,
      recipient,
      tokenIn: paid.tokenIn,
      amountIn,
      tokenOut,
      amountOut: got,
    })
    expect(paid.tokenIn.toLowerCase()).toBe(tokenIn)
    await expectNothingLeftBehind()
  })

  test('what is not spent comes back to the sender and is not in the event', async () => {
    const amountIn = 20n * unit6
    const before = await tokenBalance(usdc, user.address)
    const half = usdcToTide(amountIn / 2n)
    const sent = swapAndPay({ tokenIn: usdc, tokenOut: tide, amountIn, swapData: half })
    const paid = paidOf(await bench.send(user, router, sent))
    expect(paid.amountIn).toBe(amountIn / 2n)
    expect(paid.recipient.toLowerCase()).toBe(user.address)
    expect(before - (await tokenBalance(usdc, user.address))).toBe(amountIn / 2n)
    await expectNothingLeftBehind()
  })

  test('what the swap pays past the router is no payment', async () => {
    const amountIn = 10n * unit6
    const astray = usdcToTide(amountIn, { recipient: user.address })
    const sent = swapAndPay({ tokenIn: usdc, tokenOut: tide, amountIn, swapData: astray })
    expect(await bench.revert(user, router, sent)).toBe('InsufficientOutput')
  })

  test('nothing is said of a recipient that refuses native coin', async () => {
    const amountIn = 10n * unit6
    const data = swapData({ tokenIn: usdc, tokenOut: weth, feePips: 500, amountIn })
    // The router takes coin of the wrapped token alone.
    const sent = swapAndPay({
      tokenIn: usdc,
      tokenOut: zeroAddress,
      amountIn,
      swapData: data,
      recipient: router,
    })
    expect(await bench.revert(user, router, sent)).toBe('NativeTransferFailed')
  })
})

describe('unused input', () => {
  test('a swap that stops at a price gives the rest of a token back', async () => {
    const amountIn = 50_000n * unit6
    const { sqrtPriceX96, zeroForOne } = await priceOf(usdc, tide, 3_000)
    const sqrtPriceLimitX96 = (sqrtPriceX96 * (zeroForOne ? 9_999n : 10_001n)) / 10_000n
    const before = await tokenBalance(usdc, user.address)
    const data = swapAndDeposit({
      tokenIn: usdc,
      tokenOut: tide,
      amountIn,
      swapData: usdcToTide(amountIn, { sqrtPriceLimitX96 }),
    })
    await bench.send(user, router, data)
    const spent = before - (await tokenBalance(usdc, user.address))
    expect(spent).toBeGreaterThan(0n)
    expect(spent).toBeLessThan(amountIn)
    await expectNothingLeftBehind()
  })

  test('a swap that takes less than it was given gives native coin back', async () => {
    const amountIn = unit18
    const before = await bench.chain.client.getBalance({ address: user.address })
    const data = swapAndDeposit({
      tokenIn: zeroAddress,
      tokenOut: usdc,
      amountIn,
      swapData: swapData({ tokenIn: weth, tokenOut: usdc, feePips: 500, amountIn: amountIn / 4n }),
    })
    const receipt = await bench.send(user, router, data, amountIn)
    const gasWei = receipt.gasUsed * receipt.effectiveGasPrice
    const after = await bench.chain.client.getBalance({ address: user.address })
    expect(before - after).toBe(amountIn / 4n + gasWei)
    await expectNothingLeftBehind()
  })

  async function priceOf(tokenIn: Hex, tokenOut: Hex, feePips: number) {
    const pool = bench.deployment.uniswapV3.pools.find(
      (candidate) =>
        candidate.feePips === feePips &&
        [candidate.token0, candidate.token1].includes(tokenIn) &&
        [candidate.token0, candidate.token1].includes(tokenOut),
    )
    if (pool === undefined) throw new Error('no such pool')
    const [sqrtPriceX96] = await bench.chain.client.readContract({
      address: pool.address,
      abi: [
        {
          type: 'function',
          name: 'slot0',
          stateMutability: 'view',
          inputs: [],
          outputs: [{ type: 'uint160' }, { type: 'int24' }],
        },
      ],
      functionName: 'slot0',
    })
    return { sqrtPriceX96, zeroForOne: tokenIn < tokenOut }
  }
})

describe('refusals', () => {
  const amountIn = 100n * unit6

  test('Q-185: an output below the minimum takes nothing', async () => {
    const request = { tokenIn: usdc, tokenOut: tide, amountIn, swapData: usdcToTide(amountIn) }
    const { result } = await bench.chain.client.simulateContract({
      address: router,
      abi: depositRouterAbi,
      functionName: 'swapAndDeposit',
      args: [{ ...request, minAmountOut: 1n, depositor: user.address, id }],
      account: user.address,
    })
    const short = swapAndDeposit({ ...request, minAmountOut: result + 1n })
    expect(await bench.revert(user, router, short)).toBe('InsufficientOutput')
    await bench.send(user, router, swapAndDeposit({ ...request, minAmountOut: result }))
  })

  test('an output that is sent elsewhere counts for nothing', async () => {
    const astray = usdcToTide(amountIn, { recipient: user.address })
    const data = swapAndDeposit({ tokenIn: usdc, tokenOut: tide, amountIn, swapData: astray })
    expect(await bench.revert(user, router, data)).toBe('InsufficientOutput')
  })

  test('native value must be what the request says', async () => {
    const native = swapAndDeposit({
      tokenIn: zeroAddress,
      tokenOut: usdc,
      amountIn: 5n,
      swapData: '0x',
    })
    expect(await bench.revert(user, router, native, 4n)).toBe('WrongValue')
    const token = swapAndDeposit({ tokenIn: usdc, tokenOut: tide, amountIn, swapData: usdcToTide(amountIn) })
    expect(await bench.revert(user, router, token, 1n)).toBe('WrongValue')
  })

  test('a failing swap and a swap into itself are refused', async () => {
    const failing = swapAndDeposit({ tokenIn: usdc, tokenOut: tide, amountIn, swapData: '0xdeadbeef' })
    expect(await bench.revert(user, router, failing)).toBe('SwapFailed')
    const same = swapAndDeposit({ tokenIn: zeroAddress, tokenOut: weth, amountIn: 1n, swapData: '0x' })
    expect(await bench.revert(user, router, same, 1n)).toBe('SameToken')
  })

  test('native coin that nobody asked for is refused', async () => {
    expect(await bench.revert(user, router, '0x', 1n)).toBe('UnexpectedNative')
  })
})

describe('theft', () => {
  test('the standing allowance of another account cannot be spent', async () => {
    const amountIn = 100n * unit6
    const thiefAllowance = await bench.chain.client.readContract({
      address: usdc,
      abi: erc20Abi,
      functionName: 'allowance',
      args: [thief.address, router],
    })
    expect(thiefAllowance).toBe(0n)
    const data = swapAndDeposit({
      tokenIn: usdc,
      tokenOut: tide,
      amountIn,
      swapData: usdcToTide(amountIn),
      depositor: thief.address,
    })
    expect(await bench.revert(thief, router, data)).toBe('TokenCallFailed')
  })

  test('calldata for the swap router cannot name a token or an account to pull from', async () => {
    const pull = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'transferFrom',
      args: [user.address, thief.address, 1n],
    })
    const data = swapAndDeposit({ tokenIn: zeroAddress, tokenOut: usdc, amountIn: 1n, swapData: pull })
    expect(await bench.revert(thief, router, data, 1n)).toBe('SwapFailed')
  })

  test('a swap cannot take more than its sender gave', async () => {
    const data = swapAndDeposit({
      tokenIn: usdc,
      tokenOut: tide,
      amountIn: 1n * unit6,
      swapData: usdcToTide(2n * unit6),
    })
    expect(await bench.revert(user, router, data)).toBe('SwapFailed')
  })

  test('tokens that somebody left at the router are not paid out', async () => {
    const stray = 777n * unit18
    const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [router, stray] })
    await bench.send(user, tide, transfer)
    const amountIn = 100n * unit6
    const data = swapAndDeposit({ tokenIn: usdc, tokenOut: tide, amountIn, swapData: usdcToTide(amountIn) })
    const receipt = await bench.send(user, router, data)
    const [event] = parseEventLogs({ abi: depositoryAbi, logs: receipt.logs, eventName: 'RelayErc20Deposit' })
    expect(event?.args.amount).toBeLessThan(25n * unit18)
    expect(await tokenBalance(tide, router)).toBe(stray)
  })

  test('a token that enters the router again while it is pulled is refused', async () => {
    const token = freshAccount().address
    const { abi, runtimeBytecode } = bench.artifacts.Reenterer
    await bench.chain.node.setCode({ address: token, bytecode: runtimeBytecode })
    const arm = (target: Hex, data: Hex) =>
      bench.send(thief, token, encodeFunctionData({ abi, functionName: 'arm', args: [target, data] }))
    const nothing = encodeFunctionData({
      abi: parseAbi(['function multicall(bytes[] data)']),
      functionName: 'multicall',
      args: [[]],
    })
    const request = { tokenOut: usdc, amountIn: 0n, swapData: nothing, minAmountOut: 0n }
    const outer = swapAndDeposit({ tokenIn: token, ...request })
    const inner = swapAndDeposit({ tokenIn: zeroAddress, ...request })
    await bench.send(thief, router, inner)
    await arm(thief.address, '0x')
    await bench.send(thief, router, outer)
    await arm(router, inner)
    expect(await bench.revert(thief, router, outer)).toBe('TokenCallFailed')
    // Nor can a swap count what another one inside it pays to the router.
    await arm(router, swapAndPay({ tokenIn: zeroAddress, ...request }))
    expect(await bench.revert(thief, router, swapAndPay({ tokenIn: token, ...request }))).toBe(
      'TokenCallFailed',
    )
  })
})
