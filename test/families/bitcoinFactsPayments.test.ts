// Goal: payments and allocator outputs on Bitcoin (rules P-108, F-134), through both APIs. Method: real
// transactions in constructed blocks (`provenance: constructed`) behind a stand-in of bitcoind and Esplora.

import {
  type BitcoinNode,
  ConstructedChain,
  startBitcoinNode,
  timeAt,
} from '@causeway/localnet/standIns/bitcoin'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  aSignal,
  depository,
  depositoryKey,
  funding,
  native,
  type Output,
  openChain,
  orderId,
  paying,
  saying,
  solver,
  user,
} from './bitcoinSupport/bitcoinBed.ts'

const chain = new ConstructedChain()
const toUser = (value: bigint): Output => ({ script: user.witness.script, value })
const toUserLegacy = (value: bigint): Output => ({ script: user.legacy.script, value })
const recipient = user.witness.address

let node: BitcoinNode
beforeAll(async () => {
  node = await startBitcoinNode(chain)
})
afterAll(() => node.stop())

function payment(...outputs: readonly Output[]): string {
  const source = funding({ script: solver.witness.script, value: 9n })
  const transaction = paying([{ txid: source.getId(), vout: 0 }], outputs)
  chain.mine(source, transaction)
  chain.mineEmpty(2)
  return transaction.getId()
}

describe.each(['node', 'esplora'] as const)('through %s', (api) => {
  const reader = () => openChain({ api, urls: [node.url(api)] }).reader
  const read = (transactionId: string, payments = [{ recipient, currency: native }]) =>
    reader().readPayment({ transactionId, orderId, extraData: '0x', payments }, aSignal())

  describe('a payment', () => {
    test('is what the outputs to its recipient hold, with the time of its block', async () => {
      const id = payment(toUser(5n), saying(orderId), toUserLegacy(100n), toUser(6n))
      expect(await read(id)).toMatchObject({
        transactionId: id,
        blockTimestampSeconds: BigInt(timeAt(chain.tipHeight - 2)),
        referencesOrder: true,
        transfers: [{ recipient, currency: native, amount: 11n }],
        evidence: { finalityRule: '3 confirmations' },
      })
    })

    test('is counted once per recipient however often it is asked for', async () => {
      const id = payment(toUser(5n), saying(orderId), toUserLegacy(100n))
      const asked = [recipient, user.legacy.address, recipient.toUpperCase()]
      const { transfers } = await read(
        id,
        asked.map((one) => ({ recipient: one, currency: native })),
      )
      expect(transfers.map(({ amount }) => amount)).toEqual([5n, 100n])
    })

    test('references an order that an OP_RETURN spells in upper case', async () => {
      expect(await read(payment(toUser(5n), saying(`0x${'AB'.repeat(32)}`)))).toMatchObject({
        referencesOrder: true,
      })
    })

    test.each([
      ['no OP_RETURN', toUser(1n)],
      ['another order', saying(`0x${'cd'.repeat(32)}`)],
      ['something behind the order', saying(`${orderId} `)],
      ['something before the order', saying(` ${orderId}`)],
      ['half of the order', saying(orderId.slice(0, 34))],
      ['the bytes of the order in place of its text', saying(Buffer.from(orderId.slice(2), 'hex'))],
      ['the order in an output that can be spent', { script: Buffer.from(orderId), value: 1n }],
    ])('P-40: with %s does not reference the order', async (_name, output) => {
      expect(await read(payment(toUser(5n), output))).toMatchObject({ referencesOrder: false })
    })

    test('P-40: that names two orders names none', async () => {
      const another = `0x${'cd'.repeat(32)}`
      for (const texts of [
        [orderId, another],
        [another, orderId],
        [orderId, `${another}|depositor=x|`],
      ]) {
        const id = payment(toUser(5n), ...texts.map((text) => saying(text)))
        expect(await read(id)).toMatchObject({ referencesOrder: false })
      }
      expect(await read(payment(toUser(5n), saying(orderId), saying(orderId)))).toMatchObject({
        referencesOrder: true,
      })
    })

    test.each([
      ['a depository', depositoryKey.legacy.script],
      ['the recipient himself', user.witness.script],
    ])('P-108: of which an input is %s’s is none', async (_name, script) => {
      const own = funding({ script: solver.witness.script, value: 900n })
      const foreign = funding({ script, value: 900n })
      const inputs = [own, foreign].map((source) => ({ txid: source.getId(), vout: 0 }))
      const transaction = paying(inputs, [toUser(900n), saying(orderId)])
      chain.mine(own, foreign, transaction)
      chain.mineEmpty(2)
      expect((await read(transaction.getId())).transfers).toEqual([
        { recipient, currency: native, amount: 0n, fromOthers: 900n },
      ])
    })

    test('to somebody else is nothing', async () => {
      const { transfers } = await read(payment(toUserLegacy(5n), saying(orderId)))
      expect(transfers).toEqual([{ recipient, currency: native, amount: 0n }])
    })

    test('in another currency is nothing', async () => {
      const { transfers } = await read(payment(toUser(5n), saying(orderId)), [
        { recipient, currency: solver.legacy.address },
      ])
      expect(transfers[0]?.amount).toBe(0n)
    })

    test('to what is no address of the network is refused', async () => {
      const id = payment(toUser(5n), saying(orderId))
      for (const wrong of ['', '0x12', 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq']) {
        await expect(read(id, [{ recipient: wrong, currency: native }])).rejects.toMatchObject({
          code: 'INVALID_ADDRESS',
        })
      }
    })

    test('that is not final, or nobody knows, is refused', async () => {
      const young = payment(toUser(5n))
      chain.drop(2)
      await expect(read(young)).rejects.toMatchObject({ code: 'TRANSACTION_NOT_FINAL' })
      chain.mineEmpty(2)
      expect((await read(young)).transfers[0]?.amount).toBe(5n)
      await expect(read('ee'.repeat(32))).rejects.toMatchObject({ code: 'TRANSACTION_MISSING' })
    })
  })

  describe('a withdrawal request', () => {
    const utxo = (txid: string, change: object = {}) => ({ txid, vout: 1, value: '5000', ...change })
    const readRequest = (allocatorUtxos: readonly object[], change: object = {}) =>
      reader().readWithdrawRequest(
        {
          depository,
          currency: native,
          amount: 1n,
          recipient,
          nonce: '1',
          additionalData: { 'bitcoin-vm': { allocatorUtxos, feeRate: 2 } },
          ...change,
        },
        aSignal(),
      )
    const held = () => payment(toUser(1n), { script: depositoryKey.legacy.script, value: 5_000n })

    test('whose outputs hold what it says is spelled for the allocator', async () => {
      const facts = await readRequest([utxo(held())])
      expect(facts).toMatchObject({ kind: 'withdraw-request', depository, currency: native })
      expect(facts.recipient).toBe(Buffer.from(user.witness.script).toString('base64'))
      expect(facts.evidence?.finalityRule).toBe('3 confirmations')
    })

    test.each<[string, object]>([
      ['more than it holds', { value: '5001' }],
      ['less than it holds', { value: '4999' }],
      ['an output of somebody else', { vout: 0, value: '1' }],
      ['an output that does not exist', { vout: 2 }],
      ['an output far behind the last', { vout: 4_000_000_000 }],
    ])('F-134: that claims %s is refused', async (_name, change) => {
      await expect(readRequest([utxo(held(), change)])).rejects.toMatchObject({
        code: 'INVALID_WITHDRAW_REQUEST',
      })
    })

    test('that names a transaction nobody knows, one output twice or no output is refused', async () => {
      await expect(readRequest([utxo('ee'.repeat(32))])).rejects.toMatchObject({
        code: 'TRANSACTION_MISSING',
      })
      const id = held()
      for (const utxos of [[utxo(id), utxo(id)], []]) {
        await expect(readRequest(utxos)).rejects.toMatchObject({ code: 'INVALID_WITHDRAW_REQUEST' })
      }
      await expect(readRequest([], { additionalData: {} })).rejects.toMatchObject({
        code: 'INVALID_WITHDRAW_REQUEST',
      })
    })
  })
})
