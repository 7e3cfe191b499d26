// Goal: the table of gas units is right for the contracts of a local network: each shape's dearest
// common form fits into its units, and the units are no more than 10/6 of it. Attack: a fork that makes state dearer,
// so that what users sign and what the solver sends runs out of gas, or costs more than was charged.
// Method: every transaction is sent to a real node with its units as its gas limit, under today's rules and under
// the newest that the node has.

import { type Hex, maxBigint } from '@causeway/core'
import { encodeAggregate3, measureShapes } from '@causeway/families'
import {
  type DearerState,
  dearerStateOf,
  encodePermit,
  encodeSignedDeposit,
  type GasShape,
  gasShapes,
  gasUnits,
  type Permit2Terms,
  permit2Address,
  permitTypedData,
  stateAsCounted,
  type TokenPermitKind,
  tokenPermitKinds,
  unitsOn,
} from '@causeway/families/rules'
import {
  depositoryAbi,
  depositRouterAbi,
  type LocalAccount,
  randomWord,
  startTestNetwork,
  type TestNetwork,
  testCalls,
  testFill,
  tokenAbi,
  wrappedNativeAbi,
} from '@causeway/localnet'
import { createJsonRpcClient } from '@causeway/rpc'
import { concatHex, encodeFunctionData, parseAbi, parseEther, parseUnits } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sweepTransaction } from './depositSupport/sweepTransaction.ts'

const routerAbi = parseAbi([
  'struct ExactInputSingleParams { address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 deadline; uint256 amountIn; uint256 amountOutMinimum; uint160 sqrtPriceLimitX96; }',
  'struct ExactOutputSingleParams { address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 deadline; uint256 amountOut; uint256 amountInMaximum; uint160 sqrtPriceLimitX96; }',
  'function exactInputSingle(ExactInputSingleParams params) payable returns (uint256 amountOut)',
  'function exactOutputSingle(ExactOutputSingleParams params) payable returns (uint256 amountIn)',
])
const zeroAddress: Hex = `0x${'0'.repeat(40)}`
const orderId: Hex = `0x${'5a'.repeat(32)}`
const noDeadline = 2n ** 64n
const oneUsdc = parseUnits('1', 6)

type Transaction = { readonly to: Hex; readonly data?: Hex; readonly value?: bigint }
type Measured = { readonly shape: GasShape; readonly form: string; readonly gasUsed: bigint }

let network: TestNetwork
let dearer: DearerState
let measured: Measured[]

const freshAddress = (): Hex => privateKeyToAddress(generatePrivateKey())

/** Signed here, because the network's own clients send everything with one large gas limit. */
async function send(from: LocalAccount, { to, data = '0x', value = 0n }: Transaction, gas = 1_000_000n) {
  const { chainId, client } = network.chains.base.chain
  const account = privateKeyToAccount(from.privateKey)
  const serializedTransaction = await account.signTransaction({
    type: 'eip1559',
    chainId,
    nonce: await client.getTransactionCount({ address: from.address, blockTag: 'pending' }),
    to,
    data,
    value,
    gas,
    maxFeePerGas: 1_000_000_000n,
    maxPriorityFeePerGas: 1n,
  })
  const hash = await client.sendRawTransaction({ serializedTransaction })
  const receipt = await client.waitForTransactionReceipt({ hash })
  return { gasUsed: receipt.gasUsed, succeeded: receipt.status === 'success' }
}

/** Sends with exactly the units of the shape: a transaction that needs more reverts and fails the test. */
async function measure(shape: GasShape, form: string, from: LocalAccount, transaction: Transaction) {
  const units = unitsOn(shape, dearer)
  const { gasUsed, succeeded } = await send(from, transaction, units)
  expect(succeeded, `${shape} (${form}) fits into ${units} gas`).toBe(true)
  measured.push({ shape, form, gasUsed })
}

function erc20(functionName: 'approve' | 'transfer', token: Hex, to: Hex, amount: bigint): Transaction {
  return { to: token, data: encodeFunctionData({ abi: tokenAbi, functionName, args: [to, amount] }) }
}

/** A signature of the user, as the router's call that makes a deposit of it. */
async function signedDeposit(
  kind: TokenPermitKind,
  { address, privateKey }: LocalAccount,
): Promise<Transaction> {
  const { permitRouter: router, tokens, chainId } = network.deployment.base
  const shared = {
    token: tokens.USDC,
    owner: address,
    amount: oneUsdc,
    orderId: generatePrivateKey(),
    router,
    deadlineSeconds: 4_000_000_000,
    domain: { name: 'USD Coin', version: '2', chainId },
  }
  const terms = kind === 'eip3009' ? { ...shared, kind } : { ...shared, kind, nonce: 0n }
  const { value: message, ...typed } = permitTypedData(terms)
  const signature = await privateKeyToAccount(privateKey).signTypedData({ ...typed, message })
  return { to: router.contract, data: encodeSignedDeposit(kind, terms, signature) }
}

/** A signature for Permit2 over what the user would send as a deposit. */
async function permit2Deposit(
  { address: owner, privateKey }: LocalAccount,
  { token, amount, calls }: Pick<Permit2Terms, 'token' | 'amount' | 'calls'>,
): Promise<Transaction> {
  const { permit2Router: router, chainId } = network.deployment.base
  const terms: Permit2Terms = {
    kind: 'permit2',
    token,
    owner,
    amount,
    calls,
    router,
    chainId,
    orderId: generatePrivateKey(),
    deadlineSeconds: 4_000_000_000,
    relayer: network.keys.fillWallet.address,
  }
  const { value: message, ...typed } = permitTypedData(terms)
  const signature = await privateKeyToAccount(privateKey).signTypedData({ ...typed, message })
  return encodePermit(terms, signature)
}

/** One pool of the local network, as the router's call for a swap through it. */
function swap(args: {
  readonly from: Hex
  readonly to: Hex
  readonly feePips: number
  readonly amountIn: bigint
  readonly recipient: Hex
  readonly exactOut?: bigint
}): Hex {
  const common = {
    tokenIn: args.from,
    tokenOut: args.to,
    fee: args.feePips,
    recipient: args.recipient,
    deadline: noDeadline,
    sqrtPriceLimitX96: 0n,
  }
  if (args.exactOut !== undefined) {
    const params = { ...common, amountOut: args.exactOut, amountInMaximum: args.amountIn }
    return encodeFunctionData({ abi: routerAbi, functionName: 'exactOutputSingle', args: [params] })
  }
  const params = { ...common, amountIn: args.amountIn, amountOutMinimum: 0n }
  return encodeFunctionData({ abi: routerAbi, functionName: 'exactInputSingle', args: [params] })
}

type Fill = {
  readonly native?: readonly { readonly to: Hex; readonly amount: bigint }[]
  readonly tokens?: readonly { readonly token: Hex; readonly to: Hex; readonly amount: bigint }[]
  readonly orderCalls?: ReturnType<typeof testCalls>['orderCalls']
}

/** The order id follows the call, as readers of fills expect. */
function fill({ native = [], tokens = [], orderCalls }: Fill): Transaction {
  const data = testFill({ orderId, id: randomWord(), natives: native, tokens, orderCalls })
  const value = native.reduce((sum, { amount }) => sum + amount, 0n)
  return { to: network.deployment.base.fillContract, data, value }
}

async function measureUserTransactions(user: LocalAccount) {
  const { depository, depositRouter, multicall3, wrappedNative, tokens } = network.deployment.base
  const deposits = (functionName: 'depositNative' | 'depositErc20', args: readonly unknown[]): Hex =>
    // CAST: each call below gives the arguments of the function that it names.
    encodeFunctionData({ abi: depositoryAbi, functionName, args: args as never })

  await measure('approve', 'first', user, erc20('approve', tokens.USDC, depository, 2n ** 255n))
  await measure('deposit-native', 'first', user, {
    to: depository,
    data: deposits('depositNative', [user.address, orderId]),
    value: 1n,
  })
  await measure('deposit-erc20', 'first', user, {
    to: depository,
    data: deposits('depositErc20', [user.address, tokens.USDC, oneUsdc, orderId]),
  })
  for (const kind of tokenPermitKinds) {
    const signed = await signedDeposit(kind, user)
    await measure(`permit-${kind}`, 'first', network.keys.fillWallet, signed)
  }
  await measure('send-native', 'to a new account', user, { to: freshAddress(), value: 1n })
  const transfer = erc20('transfer', tokens.USDX, depository, oneUsdc)
  await measure('send-erc20', 'first, with an order id', user, {
    to: tokens.USDX,
    data: concatHex([transfer.data ?? '0x', orderId]),
  })
  await measure('wrap', 'first', user, {
    to: wrappedNative,
    data: encodeFunctionData({ abi: wrappedNativeAbi, functionName: 'deposit' }),
    value: parseEther('1'),
  })
  await measure('unwrap', 'all', user, {
    to: wrappedNative,
    data: encodeFunctionData({ abi: wrappedNativeAbi, functionName: 'withdraw', args: [parseEther('1')] }),
  })

  const usdcToTide = { from: tokens.USDC, to: tokens.TIDE, feePips: 3_000, amountIn: oneUsdc }
  const ethToUsdc = { from: wrappedNative, to: tokens.USDC, feePips: 500, amountIn: parseEther('0.01') }
  const usdcToEth = { from: tokens.USDC, to: wrappedNative, feePips: 500, amountIn: oneUsdc }
  const recipient = depositRouter
  const swapAndPay = (tokenIn: Hex, amountIn: bigint, tokenOut: Hex, swapData: Hex): Transaction => ({
    to: depositRouter,
    data: encodeFunctionData({
      abi: depositRouterAbi,
      functionName: 'swapAndPay',
      args: [
        { tokenIn, amountIn, tokenOut, minAmountOut: 0n, recipient: freshAddress(), id: orderId, swapData },
      ],
    }),
    value: tokenIn === zeroAddress ? amountIn : 0n,
  })
  await send(user, erc20('approve', tokens.USDC, depositRouter, oneUsdc * 1_000n))
  await measure(
    'swap',
    'token to token',
    user,
    swapAndPay(tokens.USDC, oneUsdc, tokens.TIDE, swap({ ...usdcToTide, recipient })),
  )
  await measure(
    'swap',
    'native to token',
    user,
    swapAndPay(zeroAddress, ethToUsdc.amountIn, tokens.USDC, swap({ ...ethToUsdc, recipient })),
  )
  const exact = swap({ ...ethToUsdc, recipient, exactOut: oneUsdc })
  await measure(
    'swap',
    'native to exact token, rest back',
    user,
    swapAndPay(zeroAddress, ethToUsdc.amountIn, tokens.USDC, exact),
  )
  await measure(
    'swap',
    'token to native of a new account',
    user,
    swapAndPay(tokens.USDC, usdcToEth.amountIn, zeroAddress, swap({ ...usdcToEth, recipient })),
  )

  const swapAndDeposit = (tokenIn: Hex, amountIn: bigint, tokenOut: Hex, swapData: Hex): Hex =>
    encodeFunctionData({
      abi: depositRouterAbi,
      functionName: 'swapAndDeposit',
      args: [
        { tokenIn, amountIn, tokenOut, minAmountOut: 0n, depositor: user.address, id: orderId, swapData },
      ],
    })
  await send(user, erc20('approve', tokens.TIDE, depositRouter, parseEther('1000')))
  const tideToUsdc = { from: tokens.TIDE, to: tokens.USDC, feePips: 3_000, amountIn: parseEther('1') }
  await measure('swap-deposit', 'token to token', user, {
    to: depositRouter,
    data: swapAndDeposit(tokens.TIDE, tideToUsdc.amountIn, tokens.USDC, swap({ ...tideToUsdc, recipient })),
  })
  const viaPermit2 = (token: Hex, amount: bigint, to: Hex, data: Hex) =>
    permit2Deposit(user, {
      token,
      amount,
      calls: [
        { ...call(erc20('approve', token, to, amount)), value: 0n },
        { to, data, value: 0n },
      ],
    })
  const { fillWallet } = network.keys
  await send(user, erc20('approve', tokens.TIDE, permit2Address, parseEther('1000')))
  await send(user, erc20('approve', tokens.USDC, permit2Address, oneUsdc * 1_000n))
  const deposit = deposits('depositErc20', [user.address, tokens.USDC, oneUsdc, orderId])
  await measure(
    'permit-permit2',
    'first',
    fillWallet,
    await viaPermit2(tokens.USDC, oneUsdc, depository, deposit),
  )
  const exchange = swapAndDeposit(
    tokens.TIDE,
    tideToUsdc.amountIn,
    tokens.USDC,
    swap({ ...tideToUsdc, recipient }),
  )
  await measure(
    'permit-permit2-swap',
    'token to token',
    fillWallet,
    await viaPermit2(tokens.TIDE, tideToUsdc.amountIn, depositRouter, exchange),
  )
  // Without an account's own part: the multicall is whom the calls come from and whose tokens they spend.
  const executed = (calls: readonly { readonly to: Hex; readonly data: Hex }[]) => ({
    to: multicall3,
    data: encodeAggregate3(calls.map(({ to: target, data: callData }) => ({ target, callData }))),
  })
  await send(user, erc20('transfer', tokens.USDC, multicall3, oneUsdc))
  await send(user, erc20('transfer', tokens.TIDE, multicall3, tideToUsdc.amountIn))
  await measure(
    'execute',
    'first',
    fillWallet,
    executed([call(erc20('approve', tokens.USDC, depository, oneUsdc)), { to: depository, data: deposit }]),
  )
  await measure(
    'execute-swap',
    'token to token',
    fillWallet,
    executed([
      call(erc20('approve', tokens.TIDE, depositRouter, tideToUsdc.amountIn)),
      { to: depositRouter, data: exchange },
    ]),
  )
  const sweepOf = async (tokenIn: Hex, amountIn: bigint, tokenOut: Hex, swapData: Hex) => {
    const nonce = orderId
    const price = { tokenIn, amountIn, tokenOut, amountOutMin: 1n, nonce }
    const { address, transaction } = await sweepTransaction(network, zeroAddress, { price, swapData })
    await send(user, erc20('transfer', tokenIn, address, amountIn))
    await send(user, { to: address, value: 1n })
    return transaction
  }
  const exchanged = swap({ ...tideToUsdc, recipient })
  await measure(
    'sweep-swap',
    'token to token',
    fillWallet,
    await sweepOf(tokens.TIDE, tideToUsdc.amountIn, tokens.USDC, exchanged),
  )
  await measure(
    'sweep-swap',
    'token to native',
    fillWallet,
    await sweepOf(tokens.USDC, usdcToEth.amountIn, zeroAddress, swap({ ...usdcToEth, recipient })),
  )
  await measure('swap-deposit', 'native to token', user, {
    to: depositRouter,
    data: swapAndDeposit(zeroAddress, ethToUsdc.amountIn, tokens.USDC, swap({ ...ethToUsdc, recipient })),
    value: ethToUsdc.amountIn,
  })
  await measure('swap-deposit', 'token to native', user, {
    to: depositRouter,
    data: swapAndDeposit(tokens.USDC, usdcToEth.amountIn, zeroAddress, swap({ ...usdcToEth, recipient })),
  })
}

async function measureSolverTransactions(solver: LocalAccount) {
  const { tokens, uniswapV3, fillContract } = network.deployment.base
  const native = () => fill({ native: [{ to: freshAddress(), amount: 1n }] })
  const token = () => fill({ tokens: [{ token: tokens.USDC, to: freshAddress(), amount: oneUsdc }] })
  await measure('fill-native', 'to a new account', solver, native())
  await measure('fill-erc20', 'to a new holder', solver, token())
  await measure('refund-native', 'to a new account', solver, native())
  await measure('refund-erc20', 'to a new holder', solver, token())

  const spend = { from: tokens.USDC, to: tokens.TIDE, feePips: 3_000, amountIn: oneUsdc }
  const recipient = freshAddress()
  const { orderCalls, clone } = testCalls(
    [
      { ...call(erc20('approve', tokens.USDC, uniswapV3.swapRouter, oneUsdc)), value: 0n },
      { to: uniswapV3.swapRouter, data: swap({ ...spend, recipient }), value: 0n },
    ],
    { fillContract, filler: solver.address, recipient, sweptTokens: [tokens.USDC] },
  )
  const swapped = fill({ tokens: [{ token: tokens.USDC, to: clone, amount: oneUsdc }], orderCalls })
  await measure('fill-swap', 'to a new holder', solver, swapped)

  const alone = await send(solver, token())
  const withTopup = await send(
    solver,
    fill({
      tokens: [{ token: tokens.USDC, to: freshAddress(), amount: oneUsdc }],
      native: [{ to: freshAddress(), amount: 1n }],
    }),
  )
  const gasUsed = withTopup.gasUsed - alone.gasUsed
  expect(withTopup.succeeded && gasUsed <= unitsOn('fill-topup', dearer)).toBe(true)
  measured.push({ shape: 'fill-topup', form: 'beside a token, to a new account', gasUsed })
}

/** Each address is paid by the user and emptied by the solver. */
async function measureSweeps(user: LocalAccount, solver: LocalAccount) {
  const { USDC } = network.deployment.base.tokens
  const native = await sweepTransaction(network)
  await send(user, { to: native.address, value: 1n })
  await measure('sweep-native', 'first', solver, native.transaction)
  const token = await sweepTransaction(network, USDC)
  await send(user, erc20('transfer', USDC, token.address, oneUsdc))
  await send(user, { to: token.address, value: 1n })
  await measure('sweep-erc20', 'beside native coin', solver, token.transaction)
}

function call({ to, data = '0x' }: Transaction): { to: Hex; data: Hex } {
  return { to, data }
}

/** Gas of new state on the network, measured as the service does. */
async function measureState(): Promise<DearerState> {
  const { url } = network.chains.base
  const { wrappedNative } = network.deployment.base
  const client = createJsonRpcClient({ chainId: 'base', endpoints: [{ url }] })
  const feeModel = {
    kind: 'eip1559' as const,
    historyBlocks: 10,
    rewardPercentile: 20,
    minPriorityFeeWei: 1n,
    ceilingBlocks: 100,
    ceilingFactor: 4,
    ceilingFromWei: 0n,
    inclusionBlocks: 6,
    markupBps: 0,
  }
  const fillWallet = network.keys.fillWallet.address
  const shapes = await measureShapes({ client, config: { feeModel, wrappedNative }, fillWallet })
  await client.close()
  expect(shapes.map(({ shape }) => shape)).toEqual(['send-native', 'approve'])
  return dearerStateOf(shapes)
}

async function measureAll(hardfork: string | undefined): Promise<void> {
  network = await startTestNetwork({ blockTimeSeconds: 1, ...(hardfork !== undefined && { hardfork }) })
  dearer = await measureState()
  measured = []
  const [user] = network.keys.users
  if (user === undefined) throw new Error('the network has no user')
  await measureUserTransactions(user)
  await measureSolverTransactions(network.keys.fillWallet)
  await measureSweeps(user, network.keys.fillWallet)
}

const dearestOf = (shape: GasShape): bigint =>
  measured
    .filter((one) => one.shape === shape)
    .map(({ gasUsed }) => gasUsed)
    .reduce(maxBigint, 0n)

describe('gas units', () => {
  beforeAll(() => measureAll(undefined))
  afterAll(() => network?.stop())

  test('every shape was measured', () => {
    expect(new Set(measured.map(({ shape }) => shape))).toEqual(new Set(gasShapes))
  })

  test('F-113: state takes what the release counts on', () => {
    expect(dearer).toEqual(stateAsCounted)
  })

  test.each(gasShapes)('%s: the dearest form uses at least 60 % of its units and at most all', (shape) => {
    const dearest = dearestOf(shape)
    expect(dearest).toBeLessThanOrEqual(gasUnits[shape])
    expect(dearest * 10n).toBeGreaterThanOrEqual(gasUnits[shape] * 6n)
  })
})

describe('gas units under the newest rules of the node', () => {
  beforeAll(() => measureAll('bpo2'))
  afterAll(() => network?.stop())

  test('F-117: every shape fits into the units that were measured', () => {
    expect(new Set(measured.map(({ shape }) => shape))).toEqual(new Set(gasShapes))
    for (const shape of gasShapes) expect(dearestOf(shape), shape).toBeLessThanOrEqual(unitsOn(shape, dearer))
  })
})
