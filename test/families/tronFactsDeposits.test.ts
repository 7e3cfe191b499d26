// Goal: the deposits of a Tron transaction are what the protocol says they are. Method: every form of deposit
// as a transaction of the real contracts, seen through a stand-in of a node's HTTP API; bytes and ids of
// transactions are made by tronweb. @source rules F-123, F-124

import type { Hex } from '@causeway/core'
import { tronAddress } from '@causeway/core/encodings'
import { encodeDepositErc20, encodeDepositNative, encodeTransfer } from '@causeway/families/rules'
import { multicall3Abi } from '@causeway/localnet'
import type { Submitted } from '@causeway/localnet/standIns/tron'
import { concatHex, encodeFunctionData, erc20Abi } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { emit, logEmitterCode, word } from './ethereumSupport/logEmitter.ts'
import {
  accountOf,
  aSignal,
  type ReaderSettings,
  readerOf,
  startTronBed,
  type TronBed,
  trx,
} from './tronSupport/tronBed.ts'

const id: Hex = `0x${'ab'.repeat(32)}`
const otherId: Hex = `0x${'cd'.repeat(32)}`
const zeroId: Hex = `0x${'00'.repeat(32)}`
const someone = accountOf('11')
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const erc20DepositTopic = '0x49fed1d0b752ce30eee63c7a81133f3363b532fec5d4d7dd1ccfd005de4555e1'

type Call = { readonly target: Hex; readonly callData: Hex; readonly value?: bigint }

let bed: TronBed
let depository: Hex
let usdc: Hex
let multicall3: Hex

beforeAll(async () => {
  bed = await startTronBed()
  depository = bed.evm.deployment.depository
  usdc = bed.evm.deployment.tokens.USDC
  multicall3 = bed.evm.deployment.multicall3
  await trigger(usdc, approveData(depository, 2n ** 200n))
  await trigger(usdc, encodeTransfer(multicall3, 1_000_000n))
  await bundle([{ target: usdc, callData: approveData(depository, 2n ** 200n) }])
})
afterAll(() => bed?.stop())

function approveData(spender: Hex, amount: bigint): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] })
}

function trigger(to: Hex, data: Hex, callValue = 0n): Promise<Submitted> {
  return bed.ledger.submit(bed.user, { kind: 'trigger', to, data, callValue })
}

/** Several calls in one transaction; the tokens are those of the bundling contract. */
function bundle(calls: readonly Call[]): Promise<Submitted> {
  const args = [calls.map((call) => ({ allowFailure: false, value: 0n, ...call }))] as const
  const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3Value', args })
  return trigger(
    multicall3,
    data,
    calls.reduce((sum, { value = 0n }) => sum + value, 0n),
  )
}

async function depositsOf(
  { transactionId }: { readonly transactionId: string },
  settings: ReaderSettings = {},
) {
  await bed.evm.mine(2)
  const { reader } = readerOf(bed, settings)
  const facts = await reader.readDeposits({ transactionId }, aSignal())
  expect(facts.transactionId).toBe(transactionId)
  return facts.deposits.map(({ depository: where, ...rest }) => {
    expect(where).toBe(settings.depository ?? bed.depository)
    return rest
  })
}

/** Indices of the node's own receipt, which count in the block. */
async function logIndices({ evmHash }: Submitted): Promise<readonly string[]> {
  const receipt = Object(await bed.evm.node('eth_getTransactionReceipt', [evmHash]))
  return receipt.logs.map(({ logIndex }: { logIndex: Hex }) => BigInt(logIndex).toString())
}

const plain = (amount: bigint): Hex => encodeTransfer(depository, amount)
const explicit = (amount: bigint, depositId = id, depositor = someone.bytes): Hex =>
  encodeDepositErc20(depositor, usdc, amount, depositId)

describe('native deposits', () => {
  test.each([
    ['native with id', id],
    ['native without id', zeroId],
  ])('%s', async (_name, depositId) => {
    const sent = await trigger(depository, encodeDepositNative(someone.bytes, depositId), 7n)
    const [onchainIndex] = await logIndices(sent)
    expect(await depositsOf(sent)).toEqual([
      { depositId, depositor: someone.base58, currency: trx, amount: 7n, onchainIndex },
    ])
  })

  test('TRX sent without the call is no deposit, whatever its memo says', async () => {
    const sent = await bed.ledger.submit(bed.user, { kind: 'transfer', to: someone.bytes, amount: 5n }, id)
    expect(await depositsOf(sent, { depository: someone.base58 })).toEqual([])
  })
})

describe('token transfers to the depository', () => {
  test.each<[string, Hex, Hex]>([
    ['single Transfer', '0x', zeroId],
    ['F-124: id appended to calldata', id, id],
    ['zero-prefix id is none', `0x${'00'.repeat(16)}${'ab'.repeat(16)}`, zeroId],
    [
      'fifteen zero bytes are an id',
      `0x${'00'.repeat(15)}${'ab'.repeat(17)}`,
      `0x${'00'.repeat(15)}${'ab'.repeat(17)}`,
    ],
    ['full-zero id is none', zeroId, zeroId],
    ['less than a word is no id', `0x${'ab'.repeat(31)}`, zeroId],
    ['what stands behind the id does not count', `${id}ffff`, id],
  ])('%s', async (_name, appended, depositId) => {
    const sent = await trigger(usdc, concatHex([plain(5n), appended]))
    const [onchainIndex] = await logIndices(sent)
    expect(await depositsOf(sent)).toEqual([
      { depositId, depositor: tronAddress(bed.user.address), currency: bed.usdc, amount: 5n, onchainIndex },
    ])
  })

  test('the id behind a transferFrom counts', async () => {
    await trigger(usdc, approveData(bed.user.address, 9n))
    const args = [bed.user.address, depository, 9n] as const
    const pull = encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args })
    expect(await depositsOf(await trigger(usdc, concatHex([pull, id])))).toMatchObject([
      { depositId: id, amount: 9n },
    ])
  })

  test('an id behind a transfer that is only part of the calldata does not count', async () => {
    const sent = await bundle([{ target: usdc, callData: concatHex([plain(3n), id]) }])
    expect(await depositsOf(sent)).toMatchObject([{ depositId: zeroId, amount: 3n }])
  })

  test('a memo gives a deposit no id', async () => {
    const sent = await bed.ledger.submit(bed.user, { kind: 'trigger', to: usdc, data: plain(5n) }, id)
    expect(await depositsOf(sent)).toMatchObject([{ depositId: zeroId }])
  })

  test('two transfers name no id, since it could belong to either', async () => {
    const sent = await bundle([
      { target: usdc, callData: plain(3n) },
      { target: usdc, callData: plain(3n) },
    ])
    expect(await depositsOf(sent)).toMatchObject([{ depositId: zeroId }, { depositId: zeroId }])
  })

  test('a token that is not fungible is no deposit', async () => {
    const nft = accountOf('7e').bytes
    await bed.evm.node('anvil_setCode', [nft, logEmitterCode])
    const topics = [
      transferTopic,
      `0x${word(someone.bytes)}`,
      `0x${word(depository)}`,
      `0x${word(1n)}`,
    ] as const
    expect(await depositsOf(await trigger(nft, emit({ topics })))).toEqual([])
  })

  test('tokens that were made for the depository come from nobody', async () => {
    const token = accountOf('7f')
    await bed.evm.node('anvil_setCode', [token.bytes, logEmitterCode])
    const topics = [transferTopic, `0x${word(0n)}`, `0x${word(depository)}`] as const
    const sent = await trigger(token.bytes, emit({ topics, data: `0x${word(4n)}` }))
    expect(await depositsOf(sent)).toMatchObject([{ depositor: trx, currency: token.base58, amount: 4n }])
  })

  test('a transfer to somebody else is no deposit', async () => {
    expect(await depositsOf(await trigger(usdc, concatHex([encodeTransfer(someone.bytes, 4n), id])))).toEqual(
      [],
    )
  })
})

describe('deposit events of tokens', () => {
  test.each<[string, Hex, 'someone' | 'sender', Hex]>([
    ['Transfer with a matching Erc20Deposit', id, 'sender', id],
    ['event without id', zeroId, 'sender', zeroId],
    ['different depositor without id', zeroId, 'someone', zeroId],
    ['different depositor with id', id, 'someone', id],
  ])('%s', async (_name, eventId, who, depositId) => {
    const depositor = who === 'someone' ? someone.bytes : bed.user.address
    const sent = await trigger(depository, explicit(6n, eventId, depositor))
    const [onchainIndex] = await logIndices(sent)
    expect(await depositsOf(sent)).toEqual([
      { depositId, depositor: tronAddress(depositor), currency: bed.usdc, amount: 6n, onchainIndex },
    ])
  })

  test.each([
    ['another amount', (token: Hex) => [someone.bytes, token, 8n, id] as const],
    ['another token', () => [someone.bytes, someone.bytes, 9n, id] as const],
  ])('a non-matching Erc20Deposit changes nothing: %s', async (_name, event) => {
    const emitter = accountOf('de')
    await bed.evm.node('anvil_setCode', [emitter.bytes, logEmitterCode])
    const data: Hex = `0x${event(usdc).map(word).join('')}`
    const sent = await bundle([
      { target: usdc, callData: encodeTransfer(emitter.bytes, 9n) },
      { target: emitter.bytes, callData: emit({ topics: [erc20DepositTopic], data }) },
    ])
    expect(await depositsOf(sent, { depository: emitter.base58 })).toMatchObject([
      { depositId: zeroId, depositor: tronAddress(multicall3), amount: 9n },
    ])
  })

  test('an event belongs to the transfer right before it, never to an earlier one', async () => {
    const sent = await bundle([
      { target: usdc, callData: plain(6n) },
      { target: depository, callData: explicit(6n, otherId) },
    ])
    expect(await depositsOf(sent)).toMatchObject([
      { depositId: zeroId, depositor: tronAddress(multicall3) },
      { depositId: otherId, depositor: someone.base58 },
    ])
  })

  test('the same events of another contract are not deposits', async () => {
    const impostor = accountOf('1e').bytes
    await bed.evm.node('anvil_setCode', [impostor, logEmitterCode])
    const data: Hex = `0x${[someone.bytes, usdc, 9n, id].map(word).join('')}`
    expect(await depositsOf(await trigger(impostor, emit({ topics: [erc20DepositTopic], data })))).toEqual([])
  })
})

test('positions of deposits count in the block, behind the logs of transactions before', async () => {
  await trigger(usdc, encodeTransfer(bed.other.address, 10n))
  const both = await bed.ledger.submitTogether([
    { from: bed.user, contract: { kind: 'trigger', to: depository, data: explicit(2n) } },
    { from: bed.other, contract: { kind: 'trigger', to: usdc, data: concatHex([plain(3n), id]) } },
  ])
  const indices = await Promise.all(both.map(logIndices))
  const found = await Promise.all(both.map((sent) => depositsOf(sent)))
  expect(found.flat().map(({ onchainIndex }) => onchainIndex)).toEqual([indices[0]?.[0], indices[1]?.[0]])
  expect(new Set(indices.flat()).size).toBe(indices.flat().length)
  expect(indices.flat()).toContain('0')
})

describe('a transaction without facts', () => {
  test('that reverted moved nothing', async () => {
    const sent = await trigger(depository, '0xdeadbeef')
    await bed.evm.mine(2)
    await expect(readerOf(bed).reader.readDeposits(sent, aSignal())).rejects.toMatchObject({
      code: 'TRANSACTION_REVERTED',
      kind: 'invalid_request',
    })
  })

  test('with more events than the limit is refused', async () => {
    const sent = await bundle([
      { target: usdc, callData: plain(1n) },
      { target: usdc, callData: plain(1n) },
    ])
    await bed.evm.mine(2)
    const { reader } = readerOf(bed, { limits: { logsMax: 1 } })
    await expect(reader.readDeposits(sent, aSignal())).rejects.toMatchObject({
      code: 'TRANSACTION_TOO_LARGE',
    })
  })
})
