// Goal: what is paid to a deposit address goes to the depository for an order that was signed for this
// address, to its depositor, and nowhere else; paying it again works like the first time.
// Method: the contract as deployed, on a real node; orders and addresses from core.

import { depositAddressesAbi, depositoryAbi } from '@causeway/contracts'
import type { Hex, Order } from '@causeway/core'
import {
  type DepositAddressTerms,
  type DepositSwapTerms,
  depositAddressOf,
  depositSwapSalt,
} from '@causeway/families/rules'
import { encodeFunctionData, erc20Abi, parseEventLogs, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChainDeployment } from '../src/contracts/deployment.ts'
import type { LocalAccount } from '../src/keys/localKeys.ts'
import { swapRouterAbi } from '../src/uniswap/abis.ts'
import { type ContractBench, freshAccount, startUserChainBench } from './support/contractBench.ts'
import { depositOrder, signedOrder } from './support/depositOrders.ts'

const orderSigner = freshAccount()
const depositor = freshAccount()
let nonces = 0

let bench: ContractBench<ChainDeployment>
let sweeper: LocalAccount
let payer: LocalAccount

beforeAll(async () => {
  bench = await startUserChainBench()
  sweeper = bench.keys.fillWallet
  payer = bench.keys.users[0] ?? freshAccount()
})
afterAll(() => bench?.stop())

type Opened = { readonly terms: DepositAddressTerms<Hex>; readonly address: Hex }

function open(): Opened {
  nonces += 1
  const nonce: Hex = `0x${nonces.toString(16).padStart(64, '0')}`
  const terms = {
    orderSigner: orderSigner.address,
    sweeper: sweeper.address,
    depositor: depositor.address,
    nonce,
  }
  return { terms, address: depositAddressOf(terms, bench.deployment.depositAddresses) }
}

function orderFor(address: Hex, random = 1): Order {
  return depositOrder(address, { solver: orderSigner.address, recipient: payer.address, random })
}

async function sweepCall(
  { terms }: Pick<Opened, 'terms'>,
  order: Order,
  options: { readonly signer?: LocalAccount; readonly token?: Hex } = {},
): Promise<Hex> {
  const { signer = orderSigner, token = zeroAddress } = options
  const { words, orderSignature } = await signedOrder(order, signer)
  const struct = { ...words, solver: orderSigner.address, salt: BigInt(words.salt) }
  return encodeFunctionData({
    abi: depositAddressesAbi,
    functionName: 'sweep',
    args: [terms, struct, orderSignature, token],
  })
}

function withdrawCall({ terms }: Opened, token: Hex = zeroAddress): Hex {
  return encodeFunctionData({ abi: depositAddressesAbi, functionName: 'withdraw', args: [terms, token] })
}

const contract = () => bench.deployment.depositAddresses.contract
const balance = (address: Hex) => bench.chain.client.getBalance({ address })

const heldOf = (account: Hex, token: Hex) =>
  bench.chain.client.readContract({
    address: token,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [account],
  })
const heldBy = (token: Hex) => heldOf(depositor.address, token)

/** With the gas of a plain payment, which is all that many wallets and exchanges give. */
async function pay(address: Hex, amount: bigint): Promise<void> {
  const clients = bench.chain.as(payer)
  const hash = await clients.walletClient.sendTransaction({ to: address, value: amount, gas: 21_000n })
  const { status } = await clients.publicClient.waitForTransactionReceipt({ hash })
  expect(status).toBe('success')
}

async function giveToken(address: Hex, amount: bigint): Promise<Hex> {
  const token = bench.deployment.tokens.USDC
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [address, amount] })
  await bench.send(payer, token, data)
  return token
}

describe('addresses', () => {
  test('core derives what the contract derives', async () => {
    const { terms, address } = open()
    const read = { address: contract(), abi: depositAddressesAbi } as const
    const derived = await bench.chain.client.readContract({
      ...read,
      functionName: 'addressOf',
      args: [terms],
    })
    expect(address).toBe(derived.toLowerCase())
    const codeHash = await bench.chain.client.readContract({ ...read, functionName: 'SWEEP_CODE_HASH' })
    expect(bench.deployment.depositAddresses.sweepCodeHash).toBe(codeHash)
  })

  test('every member of the terms makes another address', () => {
    const { terms, address } = open()
    const other = `0x${'77'.repeat(20)}` as const
    const others = [
      { ...terms, orderSigner: other },
      { ...terms, sweeper: other },
      { ...terms, depositor: other },
      { ...terms, nonce: `0x${'77'.repeat(32)}` as const },
    ].map((changed) => depositAddressOf(changed, bench.deployment.depositAddresses))
    expect(new Set([address, ...others]).size).toBe(5)
  })
})

describe('sweeps', () => {
  test('Q-208: native coin is deposited for the order and credited to the depositor, again and again', async () => {
    const opened = open()
    for (const round of [1, 2]) {
      await pay(opened.address, 1_000n)
      const order = orderFor(opened.address, round)
      const { id } = await signedOrder(order, orderSigner)
      const { logs } = await bench.send(sweeper, contract(), await sweepCall(opened, order))
      const [event] = parseEventLogs({ abi: depositoryAbi, logs, eventName: 'RelayNativeDeposit' })
      expect(event?.address.toLowerCase()).toBe(bench.deployment.depository)
      expect(event?.args).toMatchObject({ amount: 1_000n, id })
      expect(event?.args.from.toLowerCase()).toBe(depositor.address)
      expect(await balance(opened.address)).toBe(0n)
      expect(await bench.chain.client.getCode({ address: opened.address })).toBeUndefined()
    }
  })

  test('a token goes with the native coin that lies beside it', async () => {
    const opened = open()
    const token = await giveToken(opened.address, 55n)
    await pay(opened.address, 3n)
    const order = orderFor(opened.address)
    const { logs } = await bench.send(sweeper, contract(), await sweepCall(opened, order, { token }))
    const events = parseEventLogs({ abi: depositoryAbi, logs })
    expect(events.map(({ eventName }) => eventName)).toEqual(['RelayErc20Deposit', 'RelayNativeDeposit'])
    expect(events.map(({ args }) => ('amount' in args ? args.amount : undefined))).toEqual([55n, 3n])
  })

  test('an empty address is refused', async () => {
    const opened = open()
    const call = await sweepCall(opened, orderFor(opened.address))
    expect(await bench.revert(sweeper, contract(), call)).toBe('NothingToSweep')
  })

  test('Q-207: nobody but the sweeper, no order of another address or signer is served', async () => {
    const opened = open()
    await pay(opened.address, 1_000n)
    const order = orderFor(opened.address)
    const call = await sweepCall(opened, order)
    expect(await bench.revert(payer, contract(), call)).toBe('NotSweeper')
    const ofOther = await sweepCall(opened, orderFor(open().address))
    expect(await bench.revert(sweeper, contract(), ofOther)).toBe('OrderOfAnotherAddress')
    const byOther = await sweepCall(opened, order, { signer: payer })
    expect(await bench.revert(sweeper, contract(), byOther)).toBe('NotSigned')
    expect(await balance(opened.address)).toBe(1_000n)
  })
})

// Goal of an attacker: with the sweeper's key, swap at an unsigned price, into another token, or with another order's
// funds; or, as a stranger, make a sweep fail.
describe('sweeps that swap', () => {
  const amountIn = 1_000_000_000_000_000n

  type Swap = { readonly opened: Opened; readonly order: Order; readonly price: DepositSwapTerms }

  function swapOf(change: Partial<DepositSwapTerms> = {}): Swap {
    const opened = open()
    const { TIDE, USDC } = bench.deployment.tokens
    const price: DepositSwapTerms = {
      tokenIn: TIDE,
      amountIn,
      tokenOut: USDC,
      amountOutMin: 1n,
      nonce: `0x${'5e'.repeat(32)}`,
      ...change,
    }
    const order = { ...orderFor(opened.address), salt: depositSwapSalt(opened.address, price) }
    return { opened, order, price }
  }

  type Asked = { readonly amount?: bigint; readonly price?: DepositSwapTerms; readonly recipient?: Hex }

  async function swapCall({ opened, order, price }: Swap, asked: Asked = {}): Promise<Hex> {
    const { depositRouter, wrappedNative } = bench.deployment
    const { amount = amountIn, recipient = depositRouter } = asked
    const { amountOutMin: minAmountOut, ...terms } = asked.price ?? price
    const { words, orderSignature } = await signedOrder(order, orderSigner)
    const struct = { ...words, solver: orderSigner.address, salt: BigInt(words.salt) }
    const swapData = encodeFunctionData({
      abi: swapRouterAbi,
      functionName: 'exactInputSingle',
      args: [
        {
          tokenIn: terms.tokenIn === zeroAddress ? wrappedNative : terms.tokenIn,
          tokenOut: terms.tokenOut,
          fee: 3_000,
          recipient,
          deadline: 4_000_000_000n,
          amountIn: amount,
          amountOutMinimum: 0n,
          sqrtPriceLimitX96: 0n,
        },
      ],
    })
    const args = [opened.terms, struct, orderSignature, { ...terms, minAmountOut }, amount, swapData] as const
    return encodeFunctionData({ abi: depositAddressesAbi, functionName: 'sweepAndSwap', args })
  }

  async function payTide(address: Hex, amount: bigint): Promise<void> {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [address, amount] })
    await bench.send(payer, bench.deployment.tokens.TIDE, data)
  }

  test('the whole output is deposited for the order, and what was not named stays or goes to the depositor', async () => {
    const swap = swapOf()
    const { address } = swap.opened
    const { TIDE, USDC } = bench.deployment.tokens
    await payTide(address, amountIn + 7n)
    await giveToken(address, 3n)
    await pay(address, 11n)
    const before = await balance(depositor.address)
    const { id } = await signedOrder(swap.order, orderSigner)
    const { logs } = await bench.send(sweeper, contract(), await swapCall(swap))
    const events = parseEventLogs({ abi: depositoryAbi, logs, eventName: 'RelayErc20Deposit' })
    expect(parseEventLogs({ abi: depositoryAbi, logs })).toHaveLength(1)
    expect(events[0]?.args).toMatchObject({ id })
    expect((events[0]?.args.from ?? '').toLowerCase()).toBe(depositor.address)
    expect(await Promise.all([TIDE, USDC].map((token) => heldOf(address, token)))).toEqual([7n, 3n])
    expect((await balance(depositor.address)) - before).toBe(11n)
    expect(await Promise.all([TIDE, USDC].map((token) => heldOf(contract(), token)))).toEqual([0n, 0n])
  })

  test('native coin is swapped, and the rest of it goes to the depositor', async () => {
    const swap = swapOf({ tokenIn: zeroAddress })
    await pay(swap.opened.address, amountIn + 5n)
    const before = await balance(depositor.address)
    const { logs } = await bench.send(sweeper, contract(), await swapCall(swap))
    expect(parseEventLogs({ abi: depositoryAbi, logs })).toMatchObject([{ eventName: 'RelayErc20Deposit' }])
    expect((await balance(depositor.address)) - before).toBe(5n)
    expect(await Promise.all([balance(contract()), balance(swap.opened.address)])).toEqual([0n, 0n])
  })

  test('a part is held to its share of the price, rounded up', async () => {
    const quoted = swapOf()
    await payTide(quoted.opened.address, amountIn)
    const { logs } = await bench.send(sweeper, contract(), await swapCall(quoted))
    const [event] = parseEventLogs({ abi: depositoryAbi, logs, eventName: 'RelayErc20Deposit' })
    const given = event?.args.amount ?? 0n
    const [fair, dear] = [swapOf({ amountOutMin: given / 2n }), swapOf({ amountOutMin: given * 3n })]
    const half = { amount: amountIn / 2n }
    for (const { opened } of [fair, dear]) await payTide(opened.address, amountIn / 2n)
    await bench.send(sweeper, contract(), await swapCall(fair, half))
    expect(await bench.revert(sweeper, contract(), await swapCall(dear, half))).toBe('InsufficientOutput')
    expect(await heldOf(dear.opened.address, bench.deployment.tokens.TIDE)).toBe(amountIn / 2n)
  })

  test.each<[string, (swap: Swap) => Promise<Hex>, string]>([
    [
      'a price below the signed one',
      (swap) => swapCall(swap, { price: { ...swap.price, amountOutMin: 0n } }),
      'SwapOfAnotherOrder',
    ],
    [
      'another output',
      (swap) => swapCall(swap, { price: { ...swap.price, tokenOut: swap.price.tokenIn } }),
      'SwapOfAnotherOrder',
    ],
    [
      'another input',
      (swap) => swapCall(swap, { price: { ...swap.price, tokenIn: swap.price.tokenOut } }),
      'SwapOfAnotherOrder',
    ],
    [
      'more input for the same output',
      (swap) => swapCall(swap, { price: { ...swap.price, amountIn: amountIn * 2n } }),
      'SwapOfAnotherOrder',
    ],
    [
      'another nonce',
      (swap) => swapCall(swap, { price: { ...swap.price, nonce: `0x${'00'.repeat(32)}` } }),
      'SwapOfAnotherOrder',
    ],
    [
      'an output paid to the sweeper',
      (swap) => swapCall(swap, { recipient: sweeper.address }),
      'InsufficientOutput',
    ],
    ['nothing', (swap) => swapCall(swap, { amount: 0n }), 'NothingToSwap'],
    ['more than lies there', (swap) => swapCall(swap, { amount: amountIn + 1n }), 'TokenCallFailed'],
  ])('Q-215: %s is refused, and all of it stays', async (_what, call, error) => {
    const swap = swapOf()
    await payTide(swap.opened.address, amountIn)
    expect(await bench.revert(sweeper, contract(), await call(swap))).toBe(error)
    expect(await heldOf(swap.opened.address, bench.deployment.tokens.TIDE)).toBe(amountIn)
  })

  test('an order without a swap signs none, and nobody but the sweeper sends one', async () => {
    const swap = swapOf()
    await payTide(swap.opened.address, amountIn)
    expect(await bench.revert(payer, contract(), await swapCall(swap))).toBe('NotSweeper')
    const plain = { ...swap, order: orderFor(swap.opened.address) }
    expect(await bench.revert(sweeper, contract(), await swapCall(plain))).toBe('SwapOfAnotherOrder')
  })

  test('native coin that nobody sweeps is not taken', async () => {
    expect(await bench.revert(payer, contract(), '0x', 1n)).toBe('UnexpectedNative')
  })
})

describe('withdrawals', () => {
  test('the sweeper may give all of it back to the depositor', async () => {
    const opened = open()
    const token = await giveToken(opened.address, 9n)
    const before = await heldBy(token)
    await bench.send(sweeper, contract(), withdrawCall(opened, token))
    expect((await heldBy(token)) - before).toBe(9n)
  })

  test('a depositor that takes no coin gets his tokens, beside dust of a stranger, and the dust', async () => {
    const refuses = bench.deployment.fillContract
    nonces += 1
    const nonce: Hex = `0x${nonces.toString(16).padStart(64, '0')}`
    const terms = {
      orderSigner: orderSigner.address,
      sweeper: sweeper.address,
      depositor: refuses,
      nonce,
    }
    const opened = { terms, address: depositAddressOf(terms, bench.deployment.depositAddresses) }
    const token = await giveToken(opened.address, 9n)
    await pay(opened.address, 1n)
    await expect(pay(refuses, 1n)).rejects.toThrow()
    await bench.send(sweeper, contract(), withdrawCall(opened, token))
    expect(await Promise.all([heldOf(refuses, token), balance(refuses)])).toEqual([9n, 1n])
  })

  test('Q-207: otherwise the depositor alone takes what lies there', async () => {
    const opened = open()
    const token = await giveToken(opened.address, 9n)
    await pay(opened.address, 4n)
    await bench.send(payer, depositor.address, '0x', 10n ** 19n)
    expect(await bench.revert(payer, contract(), withdrawCall(opened, token))).toBe('NotDepositor')
    const before = await heldBy(token)
    await bench.send(depositor, contract(), withdrawCall(opened, token))
    expect([(await heldBy(token)) - before, await balance(opened.address)]).toEqual([9n, 0n])
    expect(await bench.revert(depositor, contract(), withdrawCall(opened, token))).toBe('NothingToSweep')
  })
})
