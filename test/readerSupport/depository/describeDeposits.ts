import type { Hex } from '@causeway/core'
import { encodeDepositErc20, encodeDepositNative, encodeTransfer } from '@causeway/families/rules'
import { concatHex, encodeFunctionData, erc20Abi } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aSignal } from '../../families/ethereumSupport/chainBed.ts'
import { emit, logEmitterCode, word } from '../../families/ethereumSupport/logEmitter.ts'
import {
  approveData,
  bundle,
  type Call,
  type DepositoryNetwork,
  type ReaderChange,
  type Sent,
  zeroAddress,
  zeroId,
} from './depositoryNetwork.ts'

const id: Hex = `0x${'ab'.repeat(32)}`
const otherId: Hex = `0x${'cd'.repeat(32)}`
const someone: Hex = `0x${'11'.repeat(20)}`
const emitter: Hex = `0x${'de'.repeat(20)}`
const erc20DepositTopic = '0x49fed1d0b752ce30eee63c7a81133f3363b532fec5d4d7dd1ccfd005de4555e1'
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** Contract for deposits to the EVM depository, as every network reads them. */
export function describeDeposits(family: string, start: () => Promise<DepositoryNetwork>): void {
  describe(`deposits of ${family}`, () => {
    let network: DepositoryNetwork
    let depository: Hex
    let usdc: Hex
    let multicall3: Hex

    beforeAll(async () => {
      network = await start()
      ;({ depository, multicall3 } = network.evm.deployment)
      usdc = network.evm.deployment.tokens.USDC
      await network.send(usdc, approveData(depository, 2n ** 200n))
      await network.send(usdc, encodeTransfer(multicall3, 1_000_000n))
      await bundle(network, [{ target: usdc, callData: approveData(depository, 2n ** 200n) }])
    })
    afterAll(() => network?.stop())

    const plain = (amount: bigint, to = depository): Hex => encodeTransfer(to, amount)
    const explicit = (amount: bigint, depositId = id, depositor = someone): Hex =>
      encodeDepositErc20(depositor, usdc, amount, depositId)
    const inOne = (...calls: readonly Call[]) => bundle(network, calls)

    async function depositsOf(sent: Sent, change: ReaderChange = {}) {
      await network.evm.mine(2)
      const { transactionId } = sent
      const facts = await network.readerOf(change).readDeposits({ transactionId }, aSignal())
      expect(facts.transactionId).toBe(transactionId)
      return facts.deposits.map(({ depository: where, ...rest }) => {
        expect(where).toBe(network.spell(change.depository ?? depository))
        return rest
      })
    }

    /** Positions by the node's own receipt, which count in the block. */
    async function positionsOf({ evmHash }: Sent): Promise<readonly string[]> {
      const receipt = Object(await network.evm.node('eth_getTransactionReceipt', [evmHash]))
      return receipt.logs.map(({ logIndex }: { logIndex: Hex }) => BigInt(logIndex).toString())
    }

    /** A contract that emits whatever it is told. */
    async function placeEmitter(address: Hex): Promise<Hex> {
      await network.evm.node('anvil_setCode', [address, logEmitterCode])
      return address
    }

    describe('native', () => {
      test.each<[string, Hex, Hex]>([
        ['with an id', id, someone],
        ['without an id', zeroId, someone],
        ['of the sender', id, zeroAddress],
      ])('%s', async (_name, depositId, named) => {
        const sent = await network.send(depository, encodeDepositNative(named, depositId), 7n)
        const depositor = network.spell(named === zeroAddress ? network.user.address : named)
        const [onchainIndex] = await positionsOf(sent)
        expect(await depositsOf(sent)).toEqual([
          { depositId, depositor, currency: network.spell(zeroAddress), amount: 7n, onchainIndex },
        ])
      })

      test('F-123: coin sent without the call is none', async () => {
        const sent = await network.sendCoin(someone, 5n)
        expect(await depositsOf(sent, { depository: someone })).toEqual([])
      })

      test('several of one transaction come in on-chain order, each at its own position', async () => {
        const sent = await inOne(
          { target: depository, callData: encodeDepositNative(someone, id), value: 1n },
          { target: depository, callData: encodeDepositNative(someone, otherId), value: 2n },
        )
        const [first, second] = await positionsOf(sent)
        expect(await depositsOf(sent)).toMatchObject([
          { amount: 1n, depositId: id, onchainIndex: first },
          { amount: 2n, depositId: otherId, onchainIndex: second },
        ])
      })
    })

    describe('by a token transfer to the depository', () => {
      const fifteenZeros: Hex = `0x${'00'.repeat(15)}${'ab'.repeat(17)}`
      test.each<[string, Hex, Hex]>([
        ['F-123: alone', '0x', zeroId],
        ['F-124: with an id behind the calldata', id, id],
        ['a prefix of zeros is no id', `0x${'00'.repeat(16)}${'ab'.repeat(16)}`, zeroId],
        ['fifteen zero bytes begin an id', fifteenZeros, fifteenZeros],
        ['zeros are no id', zeroId, zeroId],
        ['less than a word is no id', `0x${'ab'.repeat(31)}`, zeroId],
        ['what stands behind the id does not count', `${id}ffff`, id],
      ])('%s', async (_name, appended, depositId) => {
        const sent = await network.send(usdc, concatHex([plain(5n), appended]))
        const [onchainIndex] = await positionsOf(sent)
        const [depositor, currency] = [network.user.address, usdc].map(network.spell)
        expect(await depositsOf(sent)).toEqual([{ depositId, depositor, currency, amount: 5n, onchainIndex }])
      })

      test('F-124: the id behind a transferFrom counts, and where calls nest only if the network looks there', async () => {
        const args = [network.user.address, depository, 9n] as const
        const pull = encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args })
        for (const spender of [network.user.address, multicall3])
          await network.send(usdc, approveData(spender, 9n))
        const callData = concatHex([pull, id])
        const direct = await network.send(usdc, callData)
        const nested = await inOne({ target: usdc, callData })
        const depositor = network.spell(network.user.address)
        expect(await depositsOf(direct)).toMatchObject([{ depositId: id, depositor, amount: 9n }])
        const depositId = network.readsNestedCalls ? id : zeroId
        expect(await depositsOf(nested)).toMatchObject([{ depositId, depositor, amount: 9n }])
      })

      test('F-124: two transfers name no id, since it could belong to either', async () => {
        const call = { target: usdc, callData: concatHex([plain(3n), id]) }
        expect(await depositsOf(await inOne(call, call))).toMatchObject([
          { depositId: zeroId },
          { depositId: zeroId },
        ])
      })

      test.each<[string, Hex]>([
        ['alone', '0x'],
        ['with an order id behind it', id],
      ])('F-123: one to somebody else is none: %s', async (_name, appended) => {
        const sent = await network.send(usdc, concatHex([plain(5n, someone), appended]))
        expect(await depositsOf(sent)).toEqual([])
      })

      test('F-123: one to somebody else beside a deposit takes nothing of it and adds nothing', async () => {
        const sent = await inOne(
          { target: usdc, callData: plain(5n, someone) },
          { target: depository, callData: explicit(6n) },
        )
        const depositor = network.spell(someone)
        expect(await depositsOf(sent)).toMatchObject([{ amount: 6n, depositId: id, depositor }])
      })

      test('of what is not fungible is none', async () => {
        const nft = await placeEmitter(`0x${'7e'.repeat(20)}`)
        const topics: Hex[] = [transferTopic, `0x${word(someone)}`, `0x${word(depository)}`, `0x${word(1n)}`]
        expect(await depositsOf(await network.send(nft, emit({ topics })))).toEqual([])
      })

      test('of tokens that were made for it comes from nobody', async () => {
        const token = await placeEmitter(`0x${'7f'.repeat(20)}`)
        const topics: Hex[] = [transferTopic, `0x${word(0n)}`, `0x${word(depository)}`]
        const sent = await network.send(token, emit({ topics, data: `0x${word(4n)}` }))
        const [depositor, currency] = [zeroAddress, token].map(network.spell)
        expect(await depositsOf(sent)).toMatchObject([{ depositor, currency, amount: 4n }])
      })
    })

    describe('by the event of the depository', () => {
      test.each<[string, Hex, 'someone' | 'sender']>([
        ['with an id', id, 'sender'],
        ['without an id', zeroId, 'sender'],
        ['of another depositor with an id', id, 'someone'],
        ['of another depositor without an id', zeroId, 'someone'],
      ])('%s', async (_name, depositId, who) => {
        const depositor = who === 'someone' ? someone : network.user.address
        const sent = await network.send(depository, explicit(6n, depositId, depositor))
        const [onchainIndex] = await positionsOf(sent)
        const [spelled, currency] = [depositor, usdc].map(network.spell)
        expect(await depositsOf(sent)).toEqual([
          { depositId, depositor: spelled, currency, amount: 6n, onchainIndex },
        ])
      })

      test.each([
        ['behind', (direct: Call, event: Call) => [direct, event]],
        ['before', (direct: Call, event: Call) => [event, direct]],
      ])('stands %s a transfer of as much, and each keeps its own id', async (name, inOrder) => {
        const direct = { target: usdc, callData: concatHex([plain(6n), otherId]) }
        const sent = await inOne(...inOrder(direct, { target: depository, callData: explicit(6n) }))
        const deposits = [
          { amount: 6n, depositId: zeroId, depositor: network.spell(multicall3) },
          { amount: 6n, depositId: id, depositor: network.spell(someone) },
        ]
        expect(await depositsOf(sent)).toMatchObject(name === 'behind' ? deposits : deposits.toReversed())
      })

      const eventOf = (...words: readonly (Hex | bigint)[]): Hex =>
        emit({ topics: [erc20DepositTopic], data: `0x${words.map(word).join('')}` })

      test.each([
        ['amount', (token: Hex) => [someone, token, 8n, id] as const],
        ['token', () => [someone, someone, 9n, id] as const],
      ])('F-123: of another %s changes nothing', async (_name, words) => {
        await placeEmitter(emitter)
        const sent = await inOne(
          { target: usdc, callData: plain(9n, emitter) },
          { target: emitter, callData: eventOf(...words(usdc)) },
        )
        const depositor = network.spell(multicall3)
        expect(await depositsOf(sent, { depository: emitter })).toMatchObject([
          { depositId: zeroId, depositor, amount: 9n },
        ])
      })

      test('of several that match the last one wins', async () => {
        await placeEmitter(emitter)
        const event = (depositor: Hex, depositId: Hex): Call => ({
          target: emitter,
          callData: eventOf(depositor, usdc, 9n, depositId),
        })
        const transfer = { target: usdc, callData: plain(9n, emitter) }
        const events = [event(someone, id), event(multicall3, otherId), event(someone, zeroId)]
        const depositor = network.spell(someone)
        expect(await depositsOf(await inOne(transfer, ...events), { depository: emitter })).toMatchObject([
          { depositId: otherId, depositor, amount: 9n },
        ])
      })

      test('F-123: the same one of another contract is none', async () => {
        const impostor = await placeEmitter(`0x${'1e'.repeat(20)}`)
        expect(await depositsOf(await network.send(impostor, eventOf(someone, usdc, 9n, id)))).toEqual([])
      })
    })

    describe('are not read', () => {
      test('of a transaction that reverted', async () => {
        const sent = await network.send(depository, '0xdeadbeef')
        await expect(depositsOf(sent)).rejects.toMatchObject({
          code: 'TRANSACTION_REVERTED',
          kind: 'invalid_request',
        })
      })

      test('of one with more events than the limit', async () => {
        const call = { target: usdc, callData: plain(1n) }
        const refusal = depositsOf(await inOne(call, call), { limits: { logsMax: 1 } })
        await expect(refusal).rejects.toMatchObject({ code: 'TRANSACTION_TOO_LARGE' })
      })
    })
  })
}
