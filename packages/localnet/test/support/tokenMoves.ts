// One transaction of each contract that touches a token, as its users send it.
import {
  cleanupRouterAbi,
  depositAddressesAbi,
  depositoryAbi,
  depositRouterAbi,
  permitRouterAbi,
} from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import { depositAddressOf, encodePermit, permitTypedData } from '@causeway/families/rules'
import { encodeFunctionData, erc20Abi, maxUint256, parseAbi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { ChainDeployment } from '../../src/contracts/deployment.ts'
import { randomWord } from '../../src/contracts/testFill.ts'
import { executeCallData } from '../../src/deploy/callRequest.ts'
import type { LocalAccount } from '../../src/keys/localKeys.ts'
import { type ContractBench, freshAccount } from './contractBench.ts'
import { depositOrder, signedOrder } from './depositOrders.ts'

/** Amount of the token under test. */
export const movedAmount = 1_000n
/** Amount of the swap's other side. */
const swappedAmount = 100n
const sweepTokenAbi = parseAbi([
  'function sweepToken(address token, uint256 amountMinimum, address recipient)',
])

export type Move = {
  readonly from: LocalAccount
  readonly to: Hex
  readonly data: Hex
  /** Whose balance of the token tells the outcome; and what that changes by where nothing is kept. */
  readonly watched: Hex
  readonly whole: bigint
}

export const movingContracts = [
  'Depository',
  'Depository, execute',
  'DepositRouter, swapAndDeposit of it',
  'DepositRouter, swapAndDeposit into it',
  'DepositRouter, swapAndPay of it',
  'DepositRouter, swapAndPay into it',
  'PermitRouter',
  'Permit2Router',
  'DepositAddresses, sweep',
  'DepositAddresses, withdraw',
  'CleanupRouter',
  'CleanupRouter, ViaCall',
] as const
export type Contract = (typeof movingContracts)[number]

export type TokenMoves = {
  readonly bench: ContractBench<ChainDeployment>
  /** Holds both tokens, and allows routers, depository and Permit2 to take them. */
  readonly user: LocalAccount
  /** Sends what others signed. */
  readonly relayer: LocalAccount
  readonly token: Hex
}

export const erc20Call = (functionName: 'approve' | 'transfer', account: Hex, value: bigint): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName, args: [account, value] })

/** By the names of contracts. Preparing one needs a token without habits. */
export function tokenMoves({
  bench,
  user,
  relayer,
  token,
}: TokenMoves): Readonly<Record<Contract, () => Promise<Move>>> {
  const usdc = () => bench.deployment.tokens.USDC

  /** Hands tokens over while nothing is odd. */
  async function give(token: Hex, to: Hex, value = movedAmount): Promise<void> {
    await bench.send(user, token, erc20Call('transfer', to, value))
  }

  async function swap(tokenIn: Hex, tokenOut: Hex, isDeposit: boolean): Promise<Move> {
    const { depositRouter: to, depository, uniswapV3 } = bench.deployment
    const [amountIn, out] = tokenIn === usdc() ? [swappedAmount, movedAmount] : [movedAmount, swappedAmount]
    // Stands for a swap: what lies at the swap router is the output, and it takes nothing of the input.
    await give(tokenOut, uniswapV3.swapRouter, out)
    const swapData = encodeFunctionData({
      abi: sweepTokenAbi,
      functionName: 'sweepToken',
      args: [tokenOut, out, to],
    })
    const recipient = freshAccount().address
    const terms = { tokenIn, amountIn, tokenOut, minAmountOut: 1n, id: randomWord(), swapData }
    const data = isDeposit
      ? encodeFunctionData({
          abi: depositRouterAbi,
          functionName: 'swapAndDeposit',
          args: [{ ...terms, depositor: user.address }],
        })
      : encodeFunctionData({
          abi: depositRouterAbi,
          functionName: 'swapAndPay',
          args: [{ ...terms, recipient }],
        })
    const shared = { from: user, to, data }
    // All of the input comes back.
    if (tokenIn === token) return { ...shared, watched: user.address, whole: 0n }
    return { ...shared, watched: isDeposit ? depository : recipient, whole: movedAmount }
  }

  async function permit(): Promise<Move> {
    const { permitRouter, depository } = bench.deployment
    const signed = {
      token,
      owner: user.address,
      amount: movedAmount,
      deadline: maxUint256,
      id: randomWord(),
    }
    const spender = await bench.chain.client.readContract({
      address: permitRouter.contract,
      abi: permitRouterAbi,
      functionName: 'spenderOf',
      args: [signed],
    })
    await bench.send(user, token, erc20Call('approve', spender, movedAmount))
    const data = encodeFunctionData({
      abi: permitRouterAbi,
      functionName: 'depositWithPermit',
      args: [signed, '0x'],
    })
    return { from: relayer, to: permitRouter.contract, data, watched: depository, whole: movedAmount }
  }

  async function permit2(): Promise<Move> {
    const { permit2Router: router, depository } = bench.deployment
    const orderId = randomWord()
    const deposit = encodeFunctionData({
      abi: depositoryAbi,
      functionName: 'depositErc20',
      args: [user.address, token, movedAmount, orderId],
    })
    const terms = {
      ...({ kind: 'permit2', token, owner: user.address, amount: movedAmount } as const),
      deadlineSeconds: Number((await bench.chain.client.getBlock()).timestamp) + 600,
      orderId,
      chainId: bench.chain.chainId,
      router,
      relayer: relayer.address,
      calls: [
        { to: token, data: erc20Call('approve', depository, movedAmount), value: 0n },
        { to: depository, data: deposit, value: 0n },
      ],
    }
    const { value: message, ...typed } = permitTypedData(terms)
    const signature = await privateKeyToAccount(user.privateKey).signTypedData({ ...typed, message })
    const { data } = encodePermit(terms, signature)
    return { from: relayer, to: router, data, watched: depository, whole: movedAmount }
  }

  async function depositAddress(isSweep: boolean): Promise<Move> {
    const { depositAddresses, depository } = bench.deployment
    const [orderSigner, depositor] = [freshAccount(), user]
    const terms = {
      orderSigner: orderSigner.address,
      sweeper: relayer.address,
      depositor: depositor.address,
      nonce: randomWord(),
    }
    const address = depositAddressOf(terms, depositAddresses)
    await give(token, address)
    const { contract: to } = depositAddresses
    if (!isSweep) {
      const data = encodeFunctionData({
        abi: depositAddressesAbi,
        functionName: 'withdraw',
        args: [terms, token],
      })
      return { from: depositor, to, data, watched: depositor.address, whole: movedAmount }
    }
    const order = depositOrder(address, { solver: orderSigner.address, recipient: user.address, random: 1 })
    const { words, orderSignature } = await signedOrder(order, orderSigner)
    const struct = { ...words, solver: orderSigner.address, salt: BigInt(words.salt) }
    const data = encodeFunctionData({
      abi: depositAddressesAbi,
      functionName: 'sweep',
      args: [terms, struct, orderSignature, token],
    })
    return { from: relayer, to, data, watched: depository, whole: movedAmount }
  }

  async function cleanup(): Promise<Move> {
    const { cleanupRouter: to } = bench.deployment
    const watched = freshAccount().address
    await give(token, to)
    const data = encodeFunctionData({
      abi: cleanupRouterAbi,
      functionName: 'cleanupErc20s',
      args: [[token], [watched], [0n]],
    })
    return { from: relayer, to, data, watched, whole: movedAmount }
  }

  async function deposit(): Promise<Move> {
    const { depository: to } = bench.deployment
    const data = encodeFunctionData({
      abi: depositoryAbi,
      functionName: 'depositErc20',
      args: [user.address, token, movedAmount, randomWord()],
    })
    return { from: user, to, data, watched: to, whole: movedAmount }
  }

  async function payout(): Promise<Move> {
    const { depository: to } = bench.deployment
    await give(token, to)
    const watched = freshAccount().address
    const call = { to: token, data: erc20Call('transfer', watched, movedAmount) }
    const { timestamp } = await bench.chain.client.getBlock()
    const data = await executeCallData({
      chainId: bench.chain.chainId,
      depository: to,
      allocator: privateKeyToAccount(bench.keys.allocator.privateKey),
      request: {
        calls: [{ ...call, value: 0n, allowFailure: false }],
        nonce: BigInt(randomWord()),
        expiration: timestamp + 600n,
      },
    })
    return { from: relayer, to, data, watched, whole: movedAmount }
  }

  async function cleanupViaCall(): Promise<Move> {
    const { cleanupRouter: to, depository } = bench.deployment
    await give(token, to)
    const deposit = encodeFunctionData({
      abi: depositoryAbi,
      functionName: 'depositErc20',
      args: [user.address, token, movedAmount, randomWord()],
    })
    const data = encodeFunctionData({
      abi: cleanupRouterAbi,
      functionName: 'cleanupErc20sViaCall',
      args: [[token], [depository], [deposit], [0n]],
    })
    return { from: relayer, to, data, watched: depository, whole: movedAmount }
  }

  return {
    Depository: () => deposit(),
    'Depository, execute': () => payout(),
    'DepositRouter, swapAndDeposit of it': () => swap(token, usdc(), true),
    'DepositRouter, swapAndDeposit into it': () => swap(usdc(), token, true),
    'DepositRouter, swapAndPay of it': () => swap(token, usdc(), false),
    'DepositRouter, swapAndPay into it': () => swap(usdc(), token, false),
    PermitRouter: () => permit(),
    Permit2Router: () => permit2(),
    'DepositAddresses, sweep': () => depositAddress(true),
    'DepositAddresses, withdraw': () => depositAddress(false),
    CleanupRouter: () => cleanup(),
    'CleanupRouter, ViaCall': () => cleanupViaCall(),
  }
}
