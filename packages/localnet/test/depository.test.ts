// Goal: the depository records deposits as readers expect them and pays out what its allocator signs,
// once. Method: the contract as deployed, on a real node.

import { depositoryAbi } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import { encodeFunctionData, erc20Abi, maxUint256, parseEventLogs, zeroAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChainDeployment } from '../src/contracts/deployment.ts'
import { executeCallData } from '../src/deploy/callRequest.ts'
import type { LocalAccount } from '../src/keys/localKeys.ts'
import { type ContractBench, freshAccount, startUserChainBench } from './support/contractBench.ts'

const id: Hex = `0x${'ab'.repeat(32)}`
const credited: Hex = `0x${'11'.repeat(20)}`
const recipient: Hex = `0x${'22'.repeat(20)}`

type Call = {
  readonly to: Hex
  readonly data: Hex
  readonly value: bigint
  readonly allowFailure: boolean
}
type CallRequest = {
  readonly calls: readonly Call[]
  readonly nonce: bigint
  readonly expiration: bigint
}

let bench: ContractBench<ChainDeployment>
let user: LocalAccount
let depository: Hex
let usdc: Hex

beforeAll(async () => {
  bench = await startUserChainBench()
  user = bench.keys.users[0] ?? freshAccount()
  depository = bench.deployment.depository
  usdc = bench.deployment.tokens.USDC
})
afterAll(() => bench?.stop())

function usdcBalance(holder: Hex): Promise<bigint> {
  return bench.chain.client.readContract({
    address: usdc,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [holder],
  })
}

async function approve(amount: bigint): Promise<void> {
  await bench.send(
    user,
    usdc,
    encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [depository, amount] }),
  )
}

describe('deposits', () => {
  test.each([
    ['the named account', credited],
    ['the sender when none is named', zeroAddress],
  ])('native coin is credited to %s', async (_who, depositor) => {
    const data = encodeFunctionData({
      abi: depositoryAbi,
      functionName: 'depositNative',
      args: [depositor, id],
    })
    const receipt = await bench.send(user, depository, data, 7n)
    const [event] = parseEventLogs({ abi: depositoryAbi, logs: receipt.logs })
    expect(event?.eventName).toBe('RelayNativeDeposit')
    const from = depositor === zeroAddress ? user.address : depositor
    expect(event?.args).toMatchObject({ amount: 7n, id, from: expect.stringMatching(new RegExp(from, 'i')) })
  })

  test('a token is taken from the sender and credited to the named account', async () => {
    await approve(1_000n)
    const before = await usdcBalance(depository)
    const data = encodeFunctionData({
      abi: depositoryAbi,
      functionName: 'depositErc20',
      args: [credited, usdc, 400n, id],
    })
    const receipt = await bench.send(user, depository, data)
    const [event] = parseEventLogs({ abi: depositoryAbi, logs: receipt.logs, eventName: 'RelayErc20Deposit' })
    expect(event?.args).toMatchObject({ from: credited, amount: 400n, id })
    expect(event?.args.token.toLowerCase()).toBe(usdc)
    expect((await usdcBalance(depository)) - before).toBe(400n)
  })

  test('the short form takes the whole allowance and nothing is left of it', async () => {
    await approve(12_345n)
    const data = encodeFunctionData({
      abi: depositoryAbi,
      functionName: 'depositErc20',
      args: [zeroAddress, usdc, id],
    })
    const receipt = await bench.send(user, depository, data)
    const [event] = parseEventLogs({ abi: depositoryAbi, logs: receipt.logs, eventName: 'RelayErc20Deposit' })
    expect(event?.args.amount).toBe(12_345n)
    expect(event?.args.from.toLowerCase()).toBe(user.address)
    const allowance = await bench.chain.client.readContract({
      address: usdc,
      abi: erc20Abi,
      functionName: 'allowance',
      args: [user.address, depository],
    })
    expect(allowance).toBe(0n)
  })

  test('a deposit without allowance, or of an address without code, is refused', async () => {
    await approve(0n)
    const deposit = (token: Hex) =>
      encodeFunctionData({
        abi: depositoryAbi,
        functionName: 'depositErc20',
        args: [credited, token, 1n, id],
      })
    expect(await bench.revert(user, depository, deposit(usdc))).toBe('TokenCallFailed')
    expect(await bench.revert(user, depository, deposit(recipient))).toBe('TokenCallFailed')
  })

  test('the same id may be used again, and bytes after the arguments change nothing', async () => {
    const data = encodeFunctionData({
      abi: depositoryAbi,
      functionName: 'depositNative',
      args: [credited, id],
    })
    const receipt = await bench.send(user, depository, `${data}c0ffee`, 1n)
    const [event] = parseEventLogs({ abi: depositoryAbi, logs: receipt.logs })
    expect(event?.args).toMatchObject({ id, amount: 1n })
  })
})

describe('struct hashes of requests', () => {
  // Vectors of the public protocol.
  test.each([
    [
      'a native payment',
      { to: `0x${'9876543210'.repeat(4)}`, data: '0x', value: 10n ** 18n },
      { nonce: 1n, expiration: 1_735_680_000n },
      '0xd7005099805c5e730f534f546e309475b5611975fadfc9451a96a421b58409f3',
    ],
    [
      'a small native payment',
      { to: recipient, data: '0x', value: 1_000n },
      { nonce: 5n, expiration: 1_800_000_000n },
      '0x42600e31bfa4e2d638f483dd2b087d53328733fceb578fac6db1928b6ce95fcc',
    ],
    [
      'a token payment',
      {
        to: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
        data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [recipient, 1_234n] }),
        value: 0n,
      },
      { nonce: 6n, expiration: 1_800_000_000n },
      '0x8946facfff3b61ef01db881bea307d9ec131dd9b220d2d0c8754e403c0d5ea24',
    ],
  ] as const)('%s hashes to the published id', async (_what, call, rest, expected) => {
    const hash = await bench.chain.client.readContract({
      address: depository,
      abi: depositoryAbi,
      functionName: 'hashCallRequest',
      args: [{ calls: [{ ...call, allowFailure: false }], ...rest }],
    })
    expect(hash).toBe(expected)
  })
})

describe('withdrawals', () => {
  async function execution(
    request: CallRequest,
    signer: LocalAccount,
    domain: { readonly chainId?: number } = {},
  ): Promise<Hex> {
    const chainId = domain.chainId ?? bench.chain.chainId
    const allocator = privateKeyToAccount(signer.privateKey)
    return executeCallData({ chainId, depository, allocator, request })
  }

  const pay = (value: bigint): Call => ({ to: recipient, data: '0x', value, allowFailure: false })
  const isUsed = async (request: CallRequest) => {
    const { client } = bench.chain
    const contract = { address: depository, abi: depositoryAbi } as const
    const key = await client.readContract({ ...contract, functionName: 'hashCallRequest', args: [request] })
    return client.readContract({ ...contract, functionName: 'callRequests', args: [key] })
  }

  test('a signed request pays native coin and tokens, with one event per call', async () => {
    const data = encodeFunctionData({
      abi: depositoryAbi,
      functionName: 'depositNative',
      args: [credited, id],
    })
    await bench.send(user, depository, data, 1_000n)
    await approve(500n)
    await bench.send(
      user,
      depository,
      encodeFunctionData({
        abi: depositoryAbi,
        functionName: 'depositErc20',
        args: [credited, usdc, 500n, id],
      }),
    )
    const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [recipient, 500n] })
    const request: CallRequest = {
      calls: [pay(1_000n), { to: usdc, data: transfer, value: 0n, allowFailure: false }],
      nonce: 1n,
      expiration: maxUint256,
    }
    expect(await isUsed(request)).toBe(false)
    const before = await bench.chain.client.getBalance({ address: recipient })
    const receipt = await bench.send(user, depository, await execution(request, bench.keys.allocator))

    expect((await bench.chain.client.getBalance({ address: recipient })) - before).toBe(1_000n)
    expect(await usdcBalance(recipient)).toBe(500n)
    expect(await isUsed(request)).toBe(true)
    const events = parseEventLogs({ abi: depositoryAbi, logs: receipt.logs, eventName: 'RelayCallExecuted' })
    expect(events.map(({ args }) => args.call.data)).toEqual(['0x', transfer])
  })

  test('a used request is refused, also by its own allocator', async () => {
    const request: CallRequest = { calls: [], nonce: 2n, expiration: maxUint256 }
    const data = await execution(request, bench.keys.allocator)
    await bench.send(user, depository, data)
    expect(await bench.revert(bench.keys.allocator, depository, data)).toBe('CallRequestAlreadyUsed')
  })

  test('a request runs in the second it expires and not a second later', async () => {
    const { timestamp } = await bench.chain.client.getBlock()
    const expiration = timestamp + 100n
    const request: CallRequest = { calls: [], nonce: 3n, expiration }
    const late: CallRequest = { ...request, nonce: 4n }
    await bench.chain.node.setNextBlockTimestamp({ timestamp: expiration })
    await bench.send(user, depository, await execution(request, bench.keys.allocator))
    expect((await bench.chain.client.getBlock()).timestamp).toBe(expiration)

    await bench.chain.node.setNextBlockTimestamp({ timestamp: expiration + 1n })
    await bench.chain.node.mine({ blocks: 1 })
    const data = await execution(late, bench.keys.allocator)
    expect(await bench.revert(user, depository, data)).toBe('CallRequestExpired')
    expect(await isUsed(late)).toBe(false)
  })

  test('a call that may fail is passed over without an event, and the request counts as used', async () => {
    const tooMuch = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'transfer',
      args: [recipient, maxUint256],
    })
    const failing: Call = { to: usdc, data: tooMuch, value: 0n, allowFailure: true }
    const request: CallRequest = { calls: [failing, pay(0n)], nonce: 5n, expiration: maxUint256 }
    const receipt = await bench.send(user, depository, await execution(request, bench.keys.allocator))
    const events = parseEventLogs({ abi: depositoryAbi, logs: receipt.logs, eventName: 'RelayCallExecuted' })
    expect(events.map(({ args }) => args.call.to)).toEqual([recipient])
    expect(await isUsed(request)).toBe(true)
  })

  test('a call that may not fail undoes the whole request', async () => {
    const tooMuch = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'transfer',
      args: [recipient, maxUint256],
    })
    const failing: Call = { to: usdc, data: tooMuch, value: 0n, allowFailure: false }
    const request: CallRequest = { calls: [pay(0n), failing], nonce: 6n, expiration: maxUint256 }
    const data = await execution(request, bench.keys.allocator)
    expect(await bench.revert(user, depository, data)).toBe('CallFailed')
    expect(await isUsed(request)).toBe(false)
  })

  test('nobody but the allocator of this very chain is believed', async () => {
    const request: CallRequest = { calls: [pay(1n)], nonce: 7n, expiration: maxUint256 }
    const outsider = await execution(request, user)
    expect(await bench.revert(user, depository, outsider)).toBe('InvalidSignature')
    const otherChain = await execution(request, bench.keys.allocator, { chainId: 10 })
    expect(await bench.revert(user, depository, otherChain)).toBe('InvalidSignature')
  })

  test('only the owner names another allocator, and nobody becomes owner twice', async () => {
    const setAllocator = encodeFunctionData({
      abi: depositoryAbi,
      functionName: 'setAllocator',
      args: [user.address],
    })
    expect(await bench.revert(user, depository, setAllocator)).toBe('NotOwner')
    const initialize = encodeFunctionData({
      abi: depositoryAbi,
      functionName: 'initialize',
      args: [user.address, user.address],
    })
    expect(await bench.revert(user, depository, initialize)).toBe('AlreadyInitialized')
  })
})
