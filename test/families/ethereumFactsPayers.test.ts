// Goal: nobody settles an order with money that the solver's side did not give for good. Method: each theft is
// run for real on a node with the real contracts, and the reader asked as the rules ask it.
import { encodeFillExtraData, type Hex, type PaymentQuestion } from '@causeway/core'
import { encodeTransfer } from '@causeway/families/rules'
import {
  executeCallData,
  type LocalAccount,
  multicall3Abi,
  randomWord,
  testCalls,
  testFill,
  tokenAbi,
} from '@causeway/localnet'
import { concatHex, encodeFunctionData, pad, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  aSignal,
  type ChainBed,
  type ReaderSettings,
  readerOf,
  startChainBed,
} from './ethereumSupport/chainBed.ts'

const native = `0x${'00'.repeat(20)}`
const recipient: Hex = `0x${'21'.repeat(20)}`
const enough = 900n

let bed: ChainBed
let thief: LocalAccount
let stranger: LocalAccount
let owner: LocalAccount
let solver: LocalAccount
let usdc: Hex
let fillContract: Hex
let multicall3: Hex
/** Recorded once, so each test has an order of its own. */
let orderId: Hex
beforeEach(() => {
  orderId = randomWord()
})

beforeAll(async () => {
  bed = await startChainBed()
  const [first, second, third] = bed.network.keys.users
  if (first === undefined || second === undefined || third === undefined) throw new Error('no users')
  ;[thief, stranger, owner, solver] = [first, second, third, bed.network.keys.fillWallet]
  ;({ fillContract, multicall3 } = bed.deployment)
  usdc = bed.deployment.tokens.USDC
  for (const account of [thief, stranger, owner]) {
    await bed.send(account, usdc, approval(multicall3))
  }
})
afterAll(() => bed?.stop())

const named = (data: Hex) => concatHex([data, orderId])
const approval = (spender: Hex) =>
  encodeFunctionData({ abi: tokenAbi, functionName: 'approve', args: [spender, 2n ** 255n] })
const pull = (from: Hex, to: Hex, amount = enough) =>
  encodeFunctionData({ abi: tokenAbi, functionName: 'transferFrom', args: [from, to, amount] })

type Fill = {
  readonly native?: readonly { readonly to: Hex; readonly amount: bigint }[]
  readonly erc20?: readonly { readonly token: Hex; readonly to: Hex; readonly amount: bigint }[]
  readonly orderCalls?: ReturnType<typeof testCalls>['orderCalls']
}
const fillData = ({ native: natives, erc20: tokens, orderCalls }: Fill) =>
  testFill({ orderId, natives, tokens, orderCalls })

/** Several calls by one contract that anybody may use. */
function together(from: LocalAccount, calls: readonly { target: Hex; callData: Hex; value?: bigint }[]) {
  const args = [calls.map(({ value = 0n, ...call }) => ({ ...call, value, allowFailure: false }))] as const
  const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3Value', args })
  const value = calls.reduce((sum, call) => sum + (call.value ?? 0n), 0n)
  return bed.send(from, multicall3, named(data), value)
}

async function paid(
  sent: { readonly transactionId: Hex },
  question: Partial<PaymentQuestion> = {},
  settings: ReaderSettings = {},
) {
  await bed.mine(2)
  const facts = await readerOf(bed, settings).reader.readPayment(
    {
      transactionId: sent.transactionId,
      orderId,
      extraData: encodeFillExtraData(fillContract),
      payments: [{ recipient, currency: usdc }],
      ...question,
    },
    aSignal(),
  )
  expect(facts.referencesOrder).toBe(true)
  expect(facts.transfers).toHaveLength(1)
  return facts.transfers[0]
}

const toUsdc = (to: string) => ({ payments: [{ recipient: to, currency: usdc }] })
const toNative = (to: string) => ({ payments: [{ recipient: to, currency: native }] })

/** A token owner's signature, which anybody may hand in. */
async function authorization(from: LocalAccount, to: Hex): Promise<Hex> {
  const nonce = toHex(BigInt(`0x${orderId.slice(2, 34)}`) + BigInt(Date.now()), { size: 32 })
  const message = { from: from.address, to, value: enough, validAfter: 0n, validBefore: 2n ** 40n, nonce }
  const { client, chainId } = bed.chain
  const [name, version] = await Promise.all([
    client.readContract({ address: usdc, abi: tokenAbi, functionName: 'name' }),
    client.readContract({ address: usdc, abi: tokenAbi, functionName: 'version' }),
  ])
  const uint256 = 'uint256' as const
  const signature = await privateKeyToAccount(from.privateKey).signTypedData({
    domain: { name, version, chainId, verifyingContract: usdc },
    types: {
      TransferWithAuthorization: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'value', type: uint256 },
        { name: 'validAfter', type: uint256 },
        { name: 'validBefore', type: uint256 },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'TransferWithAuthorization',
    message,
  })
  return encodeFunctionData({
    abi: tokenAbi,
    functionName: 'transferWithAuthorization',
    args: [from.address, to, enough, 0n, 2n ** 40n, nonce, signature],
  })
}

describe('a thief', () => {
  test('who hands in a stranger’s signed payment pays nothing', async () => {
    const sent = await bed.send(thief, usdc, named(await authorization(stranger, recipient)))
    expect(await paid(sent)).toMatchObject({ amount: 0n, fromOthers: enough })
  })

  test('who hands in the signed payment of a listed payer pays nothing', async () => {
    const sent = await bed.send(thief, usdc, named(await authorization(solver, recipient)))
    expect(await paid(sent, {}, { fillPayers: [solver.address] })).toMatchObject({
      amount: 0n,
      fromOthers: enough,
    })
  })

  test('who claims what a stranger owes or gives away pays nothing', async () => {
    const sent = await together(thief, [{ target: usdc, callData: pull(stranger.address, recipient) }])
    expect(await paid(sent)).toMatchObject({ amount: 0n, fromOthers: enough })
  })

  test('who hands in a withdrawal of the allocator pays nothing', async () => {
    const { depository } = bed.deployment
    await bed.send(owner, usdc, encodeTransfer(depository, enough))
    const data = await executeCallData({
      chainId: bed.chain.chainId,
      depository,
      allocator: privateKeyToAccount(bed.network.keys.allocator.privateKey),
      request: {
        calls: [{ to: usdc, data: encodeTransfer(recipient, enough), value: 0n, allowFailure: false }],
        nonce: 77n,
        expiration: 4_000_000_000n,
      },
    })
    expect(await paid(await bed.send(thief, depository, named(data)))).toMatchObject({ amount: 0n })
  })

  test('who is the recipient pays nothing by paying himself', async () => {
    const sent = await bed.send(thief, usdc, named(encodeTransfer(thief.address, enough)))
    expect(await paid(sent, toUsdc(thief.address))).toMatchObject({ amount: 0n })
  })

  test('who is the recipient pays nothing by paying himself through the fill contract', async () => {
    const data = fillData({ native: [{ to: thief.address, amount: enough }] })
    const sent = await bed.send(thief, fillContract, data, enough)
    expect(await paid(sent, toNative(thief.address))).toMatchObject({ amount: 0n })
  })

  test('pays nothing with what comes back in the same transaction', async () => {
    const sent = await together(thief, [
      { target: usdc, callData: pull(thief.address, owner.address) },
      { target: usdc, callData: pull(owner.address, thief.address) },
    ])
    expect(await paid(sent, toUsdc(owner.address))).toMatchObject({ amount: 0n })
  })

  test('pays nothing with what comes back, though a stranger pays the recipient as much', async () => {
    const sent = await together(thief, [
      { target: usdc, callData: pull(stranger.address, owner.address) },
      { target: usdc, callData: pull(thief.address, owner.address) },
      { target: usdc, callData: pull(owner.address, thief.address) },
    ])
    expect(await paid(sent, toUsdc(owner.address))).toMatchObject({ amount: 0n })
  })

  test('pays no address with coin that it gives back through calls', async () => {
    const { orderCalls, clone } = testCalls([{ to: thief.address, data: '0x', value: enough }], {
      fillContract,
      filler: thief.address,
      recipient: thief.address,
    })
    const data = fillData({ native: [{ to: clone, amount: enough }], orderCalls })
    const sent = await bed.send(thief, fillContract, data, enough)
    // The order has no calls.
    expect(await paid(sent, toNative(clone))).toMatchObject({ amount: 0n })
  })

  test('is not believed by a contract of his own that reports a payment', async () => {
    const liar = await deployLiar()
    const payment = concatHex([pad(recipient), toHex(enough, { size: 32 })])
    const sent = await bed.send(thief, liar, named(payment))
    const question = { ...toNative(recipient), extraData: encodeFillExtraData(liar) }
    expect(await paid(sent, question)).toMatchObject({ amount: 0n })
    expect(await paid(sent, question, { fillContracts: [fillContract] })).toMatchObject({ amount: 0n })
  })

  test('is not believed where he runs another’s payment through the fill contract', async () => {
    // A wallet that anybody may submit operations of calls the fill contract: here a contract for all.
    const data = fillData({ native: [{ to: recipient, amount: enough }] })
    const sent = await together(thief, [{ target: fillContract, callData: data, value: enough }])
    expect(await paid(sent, toNative(recipient))).toMatchObject({ amount: 0n })
  })

  test('who buys something of the recipient pays the price of it, and no order', async () => {
    const sale = encodeFunctionData({
      abi: tokenAbi,
      functionName: 'transferFrom',
      args: [owner.address, thief.address, 5n],
    })
    await bed.send(owner, bed.deployment.tokens.USDX, approval(multicall3))
    const sent = await together(thief, [
      { target: usdc, callData: pull(thief.address, owner.address) },
      { target: bed.deployment.tokens.USDX, callData: sale },
    ])
    expect(await paid(sent, toUsdc(owner.address))).toMatchObject({ amount: 0n })
  })

  test('takes nothing out again between a payment and the calls of its order', async () => {
    const stolen = { to: usdc, data: encodeTransfer(thief.address, enough), value: 0n }
    const place = { fillContract, filler: solver.address, recipient }
    const { orderCalls, clone } = testCalls([stolen], place)
    const data = fillData({ erc20: [{ token: usdc, to: clone, amount: enough }], orderCalls })
    const sent = await bed.send(solver, fillContract, data)
    expect(await paid(sent, toUsdc(clone))).toMatchObject({ amount: 0n })
    const outside = await together(thief, [
      { target: usdc, callData: pull(thief.address, owner.address) },
      { target: usdc, callData: pull(owner.address, thief.address) },
    ])
    expect(await paid(outside, toUsdc(owner.address))).toMatchObject({ amount: 0n })
  })
})

describe('the solver’s side', () => {
  test('is whoever sends the transaction, by whatever contract', async () => {
    const sent = await together(thief, [{ target: usdc, callData: pull(thief.address, recipient) }])
    expect(await paid(sent)).toEqual({ recipient, currency: usdc, amount: enough })
  })

  test('P-43: is a payer that the chain file lists, where a listed payer sends', async () => {
    const calls = [{ target: usdc, callData: pull(stranger.address, recipient) }]
    const handed = await together(thief, calls)
    expect(await paid(handed, {}, { fillPayers: [stranger.address] })).toMatchObject({
      amount: 0n,
      fromOthers: enough,
    })
    const own = await together(owner, calls)
    expect(await paid(own, {}, { fillPayers: [stranger.address, owner.address] })).toMatchObject({
      amount: enough,
    })
  })

  test('P-43: is a listed contract of others that extra data names, and no other listed one', async () => {
    await bed.send(solver, usdc, encodeTransfer(multicall3, enough))
    const sent = await together(thief, [{ target: usdc, callData: encodeTransfer(recipient, enough) }])
    const settings = { fillContracts: [fillContract, multicall3] }
    const chosen = { ...toUsdc(recipient), extraData: encodeFillExtraData(multicall3) }
    expect(await paid(sent, chosen, settings)).toMatchObject({ amount: enough })
    expect(await paid(sent, toUsdc(recipient), settings)).toMatchObject({ amount: 0n, fromOthers: enough })
    expect(await paid(sent, chosen)).toMatchObject({ amount: 0n, fromOthers: enough })
  })
})

test('P-40: one transaction names one order: the id that ends its calldata', async () => {
  const another: Hex = `0x${'0e'.repeat(32)}`
  const sent = await bed.send(solver, usdc, concatHex([encodeTransfer(recipient, enough), another, orderId]))
  await bed.mine(2)
  const reader = readerOf(bed).reader
  const names = async (id: Hex) => {
    const question = { transactionId: sent.transactionId, orderId: id, extraData: '0x', ...toUsdc(recipient) }
    return (await reader.readPayment({ ...question, extraData: '0x' }, aSignal())).referencesOrder
  }
  expect([await names(orderId), await names(another)]).toEqual([true, false])
})

/** Reports whatever payment its calldata says, as the event of a fill contract. */
async function deployLiar(): Promise<Hex> {
  const topic = 'd35467972d1fda5b63c735f59d3974fa51785a41a92aa3ed1b70832836f8dba6'
  const runtime = `3660006000377f${topic}60406000a100`
  const size = (runtime.length / 2).toString(16).padStart(2, '0')
  const creation: Hex = `0x60${size}600c60003960${size}6000f3${runtime}`
  const { walletClient } = bed.chain.as(thief)
  const hash = await walletClient.sendTransaction({ data: creation })
  await bed.mine(1)
  const { contractAddress } = await bed.chain.client.getTransactionReceipt({ hash })
  if (contractAddress === null || contractAddress === undefined) throw new Error('nothing was deployed')
  return contractAddress
}
