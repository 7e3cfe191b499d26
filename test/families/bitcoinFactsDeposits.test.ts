// Goal: deposits on Bitcoin (rule F-131), each case by name, through both APIs. Method: real
// transactions in constructed blocks (`provenance: constructed`) behind a stand-in of bitcoind and Esplora.

import {
  type BitcoinNode,
  ConstructedChain,
  keyOf,
  startBitcoinNode,
  timeAt,
} from '@causeway/localnet/standIns/bitcoin'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  additional,
  additionalKey,
  aSignal,
  depository,
  depositoryKey,
  funding,
  native,
  noOrder,
  type Output,
  openChain,
  orderId,
  paying,
  saying,
  user,
} from './bitcoinSupport/bitcoinBed.ts'

const chain = new ConstructedChain()
const toPrimary = (value: bigint): Output => ({ script: depositoryKey.legacy.script, value })
const toAdditional = (value: bigint): Output => ({ script: additionalKey.witness.script, value })
const change: Output = { script: user.witness.script, value: 7n }
const other = keyOf('other').nested.address

let node: BitcoinNode
beforeAll(async () => {
  node = await startBitcoinNode(chain)
})
afterAll(() => node.stop())

/** A final transaction of the user, or of `from`, with these outputs. */
function deposit(outputs: readonly Output[], from: Output = change): string {
  const source = funding(from)
  const transaction = paying([{ txid: source.getId(), vout: 0 }], outputs)
  chain.mine(source, transaction)
  chain.mineEmpty(2)
  return transaction.getId()
}

describe.each(['node', 'esplora'] as const)('through %s', (api) => {
  const read = (transactionId: string) =>
    openChain({ api, urls: [node.url(api)] }).reader.readDeposits({ transactionId }, aSignal())
  const readOne = async (transactionId: string) => (await read(transactionId)).deposits[0]

  describe('a deposit', () => {
    test('F-131: has the id, the depositor and the amount that its outputs say', async () => {
      const transactionId = deposit([toPrimary(5_000n), saying(orderId), change])
      const facts = await read(transactionId)
      expect(facts.deposits).toEqual([
        {
          onchainIndex: '1',
          depository,
          depositId: orderId,
          depositor: user.witness.address,
          currency: native,
          amount: 5_000n,
        },
      ])
      const height = chain.tipHeight - 2
      expect(facts).toMatchObject({ transactionId, blockTimestampSeconds: BigInt(timeAt(height)) })
      expect(facts.evidence).toMatchObject({
        chainId: 'bitcoin',
        blockNumber: BigInt(height),
        blockHash: chain.blockAt(height)?.hash,
        finalityRule: '3 confirmations',
      })
    })

    test('takes an id in upper case and echoes the transaction id in lower case', async () => {
      const transactionId = deposit([toPrimary(1n), saying(`0x${'AB'.repeat(32)}`)])
      const facts = await read(transactionId.toUpperCase())
      expect(facts.transactionId).toBe(transactionId)
      expect(facts.deposits[0]?.depositId).toBe(orderId)
    })

    test('sums several outputs to one depository', async () => {
      const id = deposit([toPrimary(1n), change, toPrimary(20n), toPrimary(300n)])
      expect(await readOne(id)).toMatchObject({ amount: 321n, depositId: noOrder, onchainIndex: '0' })
    })

    test('may fund an additional depository', async () => {
      expect(await readOne(deposit([toAdditional(9n), saying(orderId)]))).toMatchObject({
        depository: additional,
        amount: 9n,
      })
    })

    test.each<[string, keyof typeof sources]>([
      ['a legacy', 'legacy'],
      ['a segwit', 'witness'],
      ['a nested segwit', 'nested'],
      ['a taproot', 'taproot'],
    ])('comes from %s output', async (_name, kind) => {
      const id = deposit([toPrimary(1n)], { script: sources[kind].script, value: 9n })
      expect((await readOne(id))?.depositor).toBe(sources[kind].address)
    })

    test('may have an explicit depositor beside its id', async () => {
      const id = deposit([toPrimary(1n), saying(`${orderId}|depositor=${other}|`)])
      expect(await readOne(id)).toMatchObject({ depositor: other, depositId: orderId })
    })

    test('may have an explicit depositor without an id', async () => {
      const id = deposit([toPrimary(1n), saying(`|depositor=${other}|`)])
      expect(await readOne(id)).toMatchObject({ depositor: other, depositId: noOrder, onchainIndex: '0' })
    })

    test('may have an explicit depositor beside an id that is too short', async () => {
      const id = deposit([toPrimary(1n), saying(`${orderId.slice(0, -1)}|depositor=${other}|`)])
      expect(await readOne(id)).toMatchObject({ depositor: other, depositId: noOrder })
    })

    test('takes the first of several ids, and where it stands', async () => {
      const second = `0x${'cd'.repeat(32)}`
      const id = deposit([saying('hello'), toPrimary(1n), saying(orderId), saying(second)])
      expect(await readOne(id)).toMatchObject({ depositId: orderId, onchainIndex: '2' })
    })

    test('skips an id that is no hex and takes the next one', async () => {
      const id = deposit([toPrimary(1n), saying(`0x${'zz'.repeat(32)}`), saying(orderId)])
      expect(await readOne(id)).toMatchObject({ depositId: orderId, onchainIndex: '2' })
    })

    test('skips a depositor that is no address and takes the next one', async () => {
      const id = deposit([toPrimary(1n), saying(`|depositor=nobody|x|depositor=${other}|`)])
      expect((await readOne(id))?.depositor).toBe(other)
    })

    test.each([
      ['nobody', 'nobody'],
      ['an address of another network', 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'],
      ['the native sentinel', native],
    ])('whose only depositor is %s falls back to the first input', async (_name, depositor) => {
      const id = deposit([toPrimary(1n), saying(`|depositor=${depositor}|`)])
      expect((await readOne(id))?.depositor).toBe(user.witness.address)
    })

    test.each([
      ['a mistyped key', `|depositer=${other}|`],
      ['no equals sign', `|depositor${other}|`],
      ['no leading pipe', `depositor=${other}|`],
      ['no trailing pipe', `|depositor=${other}`],
      ['another case', `|Depositor=${other}|`],
    ])('with metadata of %s falls back to the first input', async (_name, metadata) => {
      const id = deposit([toPrimary(1n), saying(metadata)])
      expect((await readOne(id))?.depositor).toBe(user.witness.address)
    })

    test('F-131: reads a push with a length of two bytes', async () => {
      const id = deposit([toPrimary(1n), saying(`${orderId}${' '.repeat(300)}|depositor=${other}|`)])
      expect(await readOne(id)).toMatchObject({ depositId: orderId, depositor: other })
    })

    test.each<[string, Uint8Array]>([
      ['OP_RETURN alone', Uint8Array.of(0x6a)],
      ['OP_RETURN with a number', Uint8Array.of(0x6a, 0x51)],
      ['a cut push', Uint8Array.of(0x6a, 0x4d)],
      ['bytes that are no text', Uint8Array.of(0x6a, 4, 0xff, 0xfe, 0x80, 0x81)],
      ['the id behind another opcode', Uint8Array.of(0x51, 0x6a, 66, ...Buffer.from(orderId))],
    ])('beside %s has no id', async (_name, script) => {
      const id = deposit([{ script, value: 0n }, toPrimary(1n)])
      expect(await readOne(id)).toMatchObject({ depositId: noOrder, onchainIndex: '0' })
    })
  })

  describe('a transaction that spends from', () => {
    test.each<[string, Output]>([
      ['the primary depository', { script: depositoryKey.legacy.script, value: 9n }],
      ['an additional depository', { script: additionalKey.witness.script, value: 9n }],
    ])('F-131: %s is a withdrawal and holds no deposit', async (_name, from) => {
      expect((await read(deposit([toPrimary(1n), saying(orderId)], from))).deposits).toEqual([])
    })
  })

  describe('is refused', () => {
    test('a transaction that pays no depository', async () => {
      await expect(read(deposit([change, saying(orderId)]))).rejects.toMatchObject({
        code: 'NO_VALUE_TO_DEPOSITORY',
      })
    })

    test('one that pays it nothing', async () => {
      await expect(read(deposit([toPrimary(0n)]))).rejects.toMatchObject({ code: 'NO_VALUE_TO_DEPOSITORY' })
    })

    test('one that funds two depositories', async () => {
      await expect(read(deposit([toPrimary(1n), toAdditional(1n)]))).rejects.toMatchObject({
        code: 'MULTIPLE_DEPOSITORIES_FUNDED',
      })
    })

    test('one whose first input has no address and that names no depositor', async () => {
      const bare = { script: Uint8Array.of(0x51), value: 9n }
      await expect(read(deposit([toPrimary(1n)], bare))).rejects.toMatchObject({ code: 'DEPOSITOR_UNKNOWN' })
    })

    test('one with too few confirmations, until it has them', async () => {
      const source = funding(change)
      const transaction = paying([{ txid: source.getId(), vout: 0 }], [toPrimary(1n)])
      chain.mine(source)
      chain.announce(transaction)
      const id = transaction.getId()
      const unfinal = { code: 'TRANSACTION_NOT_FINAL', retryAfterSeconds: 600 }
      await expect(read(id)).rejects.toMatchObject(unfinal)
      chain.mine(transaction)
      await expect(read(id)).rejects.toMatchObject(unfinal)
      chain.mineEmpty(1)
      await expect(read(id)).rejects.toMatchObject(unfinal)
      chain.mineEmpty(1)
      expect((await read(id)).deposits).toHaveLength(1)
    })
  })
})

const sources = {
  legacy: user.legacy,
  witness: user.witness,
  nested: user.nested,
  taproot: keyOf('user').taproot,
}
