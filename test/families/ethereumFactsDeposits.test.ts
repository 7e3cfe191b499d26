// Goal: the deposits of a transaction are what the protocol says they are. Method: every line of its test
// plan as a transaction on a real node with the real contracts; events that no honest contract emits come
// from a contract that emits whatever it is told.

import type { Hex } from '@causeway/core'
import { encodeDepositErc20, encodeDepositNative, encodeTransfer } from '@causeway/families/rules'
import { type LocalAccount, multicall3Abi } from '@causeway/localnet'
import { concatHex, encodeFunctionData, erc20Abi } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aSignal, type ChainBed, readerOf, startChainBed } from './ethereumSupport/chainBed.ts'
import { emit, logEmitterCode, word } from './ethereumSupport/logEmitter.ts'

const id: Hex = `0x${'ab'.repeat(32)}`
const otherId: Hex = `0x${'cd'.repeat(32)}`
const zeroId: Hex = `0x${'00'.repeat(32)}`
const someone: Hex = `0x${'11'.repeat(20)}`
const native = `0x${'00'.repeat(20)}`
const erc20DepositTopic = '0x49fed1d0b752ce30eee63c7a81133f3363b532fec5d4d7dd1ccfd005de4555e1'
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

type Call = { readonly target: Hex; readonly callData: Hex; readonly value?: bigint }

let bed: ChainBed
let user: LocalAccount
let depository: Hex
let usdc: Hex
let multicall3: Hex

beforeAll(async () => {
  bed = await startChainBed()
  const [first] = bed.network.keys.users
  if (first === undefined) throw new Error('no user')
  user = first
  depository = bed.deployment.depository
  usdc = bed.deployment.tokens.USDC
  multicall3 = bed.deployment.multicall3
  await bed.send(user, usdc, approveData(depository, 2n ** 200n))
  await bed.send(user, usdc, encodeTransfer(multicall3, 1_000_000n))
  await bundle([{ target: usdc, callData: approveData(depository, 2n ** 200n) }])
})
afterAll(() => bed?.stop())

function approveData(spender: Hex, amount: bigint): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] })
}

/** Several calls in one transaction; the tokens are those of the bundling contract. */
function bundle(calls: readonly Call[]) {
  const data = encodeFunctionData({
    abi: multicall3Abi,
    functionName: 'aggregate3Value',
    args: [calls.map((call) => ({ allowFailure: false, value: 0n, ...call }))],
  })
  return bed.send(
    user,
    multicall3,
    data,
    calls.reduce((sum, { value = 0n }) => sum + value, 0n),
  )
}

async function depositsOf(
  sent: { readonly transactionId: Hex },
  settings: Parameters<typeof readerOf>[1] = {},
) {
  await bed.mine(2)
  const { reader } = readerOf(bed, settings)
  const facts = await reader.readDeposits({ transactionId: sent.transactionId }, aSignal())
  return facts.deposits.map(({ onchainIndex, depository: where, ...rest }) => {
    expect(where).toBe(depository)
    return { ...rest, index: Number(onchainIndex) }
  })
}

const plain = (amount: bigint): Hex => encodeTransfer(depository, amount)
const explicit = (amount: bigint, depositId = id, depositor = someone): Hex =>
  encodeDepositErc20(depositor, usdc, amount, depositId)

describe('native deposits', () => {
  test.each([
    ['native with id', id, someone],
    ['native without id', zeroId, someone],
    ['native of the sender', id, native as Hex],
  ])('%s', async (_name, depositId, depositor) => {
    const sent = await bed.send(user, depository, encodeDepositNative(depositor, depositId), 7n)
    expect(await depositsOf(sent)).toEqual([
      {
        depositId,
        depositor: depositor === native ? user.address.toLowerCase() : someone,
        currency: native,
        amount: 7n,
        index: sent.logIndex,
      },
    ])
  })

  test('F-123: coin sent without the call is no deposit', async () => {
    const sent = await bed.send(user, someone, '0x', 5n)
    expect(await depositsOf(sent)).toEqual([])
  })

  test('several of one transaction come in on-chain order, each with its own index', async () => {
    const sent = await bundle([
      { target: depository, callData: encodeDepositNative(someone, id), value: 1n },
      { target: depository, callData: encodeDepositNative(someone, otherId), value: 2n },
    ])
    expect(await depositsOf(sent)).toMatchObject([
      { amount: 1n, depositId: id, index: sent.logIndex },
      { amount: 2n, depositId: otherId, index: sent.logIndex + 1 },
    ])
  })
})

describe('token transfers to the depository', () => {
  const calldataCases: readonly (readonly [string, Hex, Hex])[] = [
    ['F-123: single Transfer', '0x', zeroId],
    ['id appended to calldata', id, id],
    ['zero-prefix id is none', `0x${'00'.repeat(16)}${'ab'.repeat(16)}`, zeroId],
    [
      'fifteen zero bytes are an id',
      `0x${'00'.repeat(15)}${'ab'.repeat(17)}`,
      `0x${'00'.repeat(15)}${'ab'.repeat(17)}`,
    ],
    ['full-zero id is none', zeroId, zeroId],
    ['less than a word is no id', `0x${'ab'.repeat(31)}`, zeroId],
    ['what stands behind the id does not count', `${id}ffff`, id],
  ]
  test.each(calldataCases)('%s', async (_name, appended, depositId) => {
    const sent = await bed.send(user, usdc, concatHex([plain(5n), appended]))
    expect(await depositsOf(sent)).toEqual([
      { depositId, depositor: user.address.toLowerCase(), currency: usdc, amount: 5n, index: sent.logIndex },
    ])
  })

  test('F-124: the id behind a transferFrom counts, wherever the call stands in the calldata', async () => {
    const pull = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'transferFrom',
      args: [user.address, depository, 9n],
    })
    await bed.send(user, usdc, approveData(multicall3, 9n))
    const sent = await bundle([{ target: usdc, callData: concatHex([pull, id]) }])
    expect(await depositsOf(sent)).toMatchObject([
      { depositId: id, depositor: user.address.toLowerCase(), amount: 9n },
    ])
  })

  test('F-124: two transfers name no id, since it could belong to either', async () => {
    const sent = await bundle([
      { target: usdc, callData: concatHex([plain(3n), id]) },
      { target: usdc, callData: concatHex([plain(3n), id]) },
    ])
    expect(await depositsOf(sent)).toMatchObject([{ depositId: zeroId }, { depositId: zeroId }])
  })

  test('on a zkSync stack the system token is no deposit, and still counts as a transfer', async () => {
    const system: Hex = `0x${'0'.repeat(36)}800a`
    await bed.node('anvil_setCode', [system, logEmitterCode])
    const topics = [transferTopic, `0x${word(someone)}`, `0x${word(depository)}`] as const
    const systemTransfer = emit({ topics, data: `0x${word(4n)}` })
    const sent = await bundle([
      { target: system, callData: systemTransfer },
      { target: usdc, callData: concatHex([plain(4n), id]) },
    ])
    const both = await depositsOf(sent)
    expect(both.map(({ currency }) => currency)).toEqual([system, usdc])
    const zksync = await depositsOf(sent, { additionalData: { isZksyncStack: true } })
    expect(zksync).toMatchObject([{ currency: usdc, depositId: zeroId }])
  })

  test.each<[string, Hex]>([
    ['alone', '0x'],
    ['with an order id behind it', id],
  ])('F-123: a transfer to somebody else is no deposit: %s', async (_name, appended) => {
    const sent = await bed.send(user, usdc, concatHex([encodeTransfer(someone, 5n), appended]))
    expect(await depositsOf(sent)).toEqual([])
  })

  test('F-123: a transfer to somebody else beside a deposit takes nothing of it and adds nothing', async () => {
    const sent = await bundle([
      { target: usdc, callData: encodeTransfer(someone, 5n) },
      { target: depository, callData: explicit(6n) },
    ])
    expect(await depositsOf(sent)).toMatchObject([{ amount: 6n, depositId: id, depositor: someone }])
  })

  test('a token that is not fungible is no deposit', async () => {
    const nft: Hex = `0x${'7e'.repeat(20)}`
    await bed.node('anvil_setCode', [nft, logEmitterCode])
    const topics = [transferTopic, `0x${word(someone)}`, `0x${word(depository)}`, `0x${word(1n)}`] as const
    expect(await depositsOf(await bed.send(user, nft, emit({ topics })))).toEqual([])
  })
})

describe('deposit events of tokens', () => {
  test.each<[string, Hex, Hex | undefined, Hex]>([
    ['Transfer with a matching Erc20Deposit', id, someone, id],
    ['event without id', zeroId, undefined, zeroId],
    ['different depositor with id', id, someone, id],
    ['different depositor without id', zeroId, someone, zeroId],
  ])('%s', async (_name, eventId, depositor, depositId) => {
    const who = depositor ?? user.address
    const sent = await bed.send(user, depository, explicit(6n, eventId, who))
    expect(await depositsOf(sent)).toEqual([
      { depositId, depositor: who.toLowerCase(), currency: usdc, amount: 6n, index: sent.logIndex },
    ])
  })

  test('direct bundled with explicit, direct first: each keeps its own id', async () => {
    const sent = await bundle([
      { target: usdc, callData: concatHex([plain(4n), otherId]) },
      { target: depository, callData: explicit(6n) },
    ])
    expect(await depositsOf(sent)).toMatchObject([
      { amount: 4n, depositId: zeroId, depositor: multicall3.toLowerCase() },
      { amount: 6n, depositId: id, depositor: someone },
    ])
  })

  test('direct bundled with explicit, explicit first: each keeps its own id', async () => {
    const sent = await bundle([
      { target: depository, callData: explicit(6n) },
      { target: usdc, callData: plain(6n) },
    ])
    expect(await depositsOf(sent)).toMatchObject([
      { amount: 6n, depositId: id, depositor: someone },
      { amount: 6n, depositId: zeroId, depositor: multicall3.toLowerCase() },
    ])
  })

  test.each([
    ['another amount', (token: Hex) => [someone, token, 8n, id] as const],
    ['another token', () => [someone, someone, 9n, id] as const],
  ])('F-123: a non-matching Erc20Deposit changes nothing: %s', async (_name, event) => {
    const emitter: Hex = `0x${'de'.repeat(20)}`
    await bed.node('anvil_setCode', [emitter, logEmitterCode])
    const data: Hex = `0x${event(usdc).map(word).join('')}`
    const sent = await bundle([
      { target: usdc, callData: encodeTransfer(emitter, 9n) },
      { target: emitter, callData: emit({ topics: [erc20DepositTopic], data }) },
    ])
    await bed.mine(2)
    const { reader } = readerOf(bed, { depository: emitter })
    const { deposits } = await reader.readDeposits({ transactionId: sent.transactionId }, aSignal())
    expect(deposits).toMatchObject([{ depositId: zeroId, depositor: multicall3.toLowerCase(), amount: 9n }])
  })

  test('of several matching events the last one wins', async () => {
    const emitter: Hex = `0x${'de'.repeat(20)}`
    await bed.node('anvil_setCode', [emitter, logEmitterCode])
    const event = (depositor: Hex, depositId: Hex): Call => ({
      target: emitter,
      callData: emit({
        topics: [erc20DepositTopic],
        data: `0x${[depositor, usdc, 9n, depositId].map(word).join('')}`,
      }),
    })
    const transfer = { target: usdc, callData: encodeTransfer(emitter, 9n) }
    const sent = await bundle([
      transfer,
      event(someone, id),
      event(multicall3, otherId),
      event(someone, zeroId),
    ])
    await bed.mine(2)
    const { reader } = readerOf(bed, { depository: emitter })
    const { deposits } = await reader.readDeposits({ transactionId: sent.transactionId }, aSignal())
    expect(deposits).toMatchObject([{ depositId: otherId, depositor: someone, amount: 9n }])
  })

  test('F-123: the same events of another contract are not deposits', async () => {
    const impostor: Hex = `0x${'1e'.repeat(20)}`
    await bed.node('anvil_setCode', [impostor, logEmitterCode])
    const data: Hex = `0x${[someone, usdc, 9n, id].map(word).join('')}`
    const sent = await bed.send(user, impostor, emit({ topics: [erc20DepositTopic], data }))
    expect(await depositsOf(sent)).toEqual([])
  })
})

describe('a transaction without facts', () => {
  test('that reverted moved nothing', async () => {
    const sent = await bed.send(user, depository, '0xdeadbeef')
    await bed.mine(2)
    const refusal = readerOf(bed).reader.readDeposits(sent, aSignal())
    await expect(refusal).rejects.toMatchObject({ code: 'TRANSACTION_REVERTED', kind: 'invalid_request' })
  })

  test('with more events than the limit is refused', async () => {
    const sent = await bundle([
      { target: usdc, callData: plain(1n) },
      { target: usdc, callData: plain(1n) },
    ])
    await bed.mine(2)
    const refusal = readerOf(bed, { limits: { logsMax: 1 } }).reader.readDeposits(sent, aSignal())
    await expect(refusal).rejects.toMatchObject({ code: 'TRANSACTION_TOO_LARGE' })
  })
})
