// Goal: what is paid to a deposit address goes to the depository for an order that was signed for this
// address, to its depositor, and nowhere else; paying it again works like the first time.
// Method: the contract as deployed, on a real node; orders and addresses from core.

import { depositAddressesAbi, depositoryAbi } from '@causeway/contracts'
import { type DepositAddressTerms, depositAddressOf, type Hex, type Order } from '@causeway/core'
import { encodeFunctionData, erc20Abi, parseEventLogs, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChainDeployment } from '../src/contracts/deployment.ts'
import type { LocalAccount } from '../src/keys/localKeys.ts'
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

type Opened = { readonly terms: DepositAddressTerms; readonly address: Hex }

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
  test('native coin is deposited for the order and credited to the depositor, again and again', async () => {
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

  test('nobody but the sweeper, no order of another address or signer is served', async () => {
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

describe('withdrawals', () => {
  test('the depositor alone takes what lies there', async () => {
    const opened = open()
    const token = await giveToken(opened.address, 9n)
    await pay(opened.address, 4n)
    await bench.send(payer, depositor.address, '0x', 10n ** 19n)
    expect(await bench.revert(sweeper, contract(), withdrawCall(opened, token))).toBe('NotDepositor')
    await bench.send(depositor, contract(), withdrawCall(opened, token))
    const held = await bench.chain.client.readContract({
      address: token,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [depositor.address],
    })
    expect([held, await balance(opened.address)]).toEqual([9n, 0n])
    expect(await bench.revert(depositor, contract(), withdrawCall(opened, token))).toBe('NothingToSweep')
  })
})
