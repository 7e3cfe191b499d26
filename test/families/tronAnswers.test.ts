// Goal: what real Tron nodes answered is read as what it says, and nothing else is. Method: bodies published by
// others, with their source beside them; transactions made by tronweb; random bytes. What only constructed
// bodies prove says so in its name.
import type { Hex } from '@causeway/core'
import { createTronCodec, tronAddress, tronEvmAddress } from '@causeway/core/encodings'
import type { StoredBody } from '@causeway/localnet/standIns/bodies'
import { httpBodies } from '@causeway/localnet/standIns/http'
import { encodeTransaction, tronBodies } from '@causeway/localnet/standIns/tron'
import fc from 'fast-check'
import { utils } from 'tronweb'
import { describe, expect, test } from 'vitest'
import {
  parseBlockInfos,
  parseConstantBool,
  parseHasContract,
  parseHeader,
  parseInfo,
  parseTransaction,
} from '../../packages/families/src/tron/reading/answers.ts'
import { referencesOrder } from '../../packages/families/src/tron/reading/payments.ts'
import { readRawTransaction } from '../../packages/families/src/tron/reading/rawTransaction.ts'
import { MalformedAnswerError } from '../../packages/rpc/src/malformedAnswer.ts'
import {
  blockInfos,
  constantCall,
  contract,
  header,
  infoWithLog,
  otherTransaction,
  outcome,
  tokenTransfer,
} from './tronSupport/storedBodies.ts'

const idOf = ({ body }: StoredBody): string => Object(body).id ?? Object(body).txID

describe('a recorded body', () => {
  test('of a token transfer has its log without the prefix byte', () => {
    expect(parseInfo(infoWithLog.body, idOf(infoWithLog))).toEqual({
      blockNumber: 156n,
      timestampSeconds: 1_790_865_477n,
      succeeded: true,
      logs: [
        {
          address: '0xd53adb8bb7b45de60d0dc3d03ba0c187093b919d',
          topics: [
            '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
            '0x0000000000000000000000007e5f4552091a69125d5dfcb7b8c2659029395bdf',
            '0x000000000000000000000000dcf2957055e8fcde477a077ecfeddf5ab2357547',
          ],
          data: '0x00000000000000000000000000000000000000000000000000000000000f4240',
          logIndex: 0n,
        },
      ],
    })
  })

  test('of a transaction is what the bytes behind its id say', () => {
    expect(parseTransaction(tokenTransfer.body, idOf(tokenTransfer))).toEqual({
      from: '0x495511a493d8c362be4267224e6d81013a6862ee',
      to: '0xeca9bc828a3005b9a3b909f2cc5c2a54794de05f',
      input: `0xa9059cbb00000000000000000000004150125bea243a640bf85348873b6c4f3c517aee7a${'1'.padStart(64, '0')}`,
      value: 0n,
      memo: '0x',
    })
  })

  test('of a transaction that pays and calls nobody has no recipient', () => {
    expect(parseTransaction(otherTransaction.body, idOf(otherTransaction))).toEqual({
      from: undefined,
      to: undefined,
      input: '0x',
      value: 0n,
      memo: '0x',
    })
  })

  test('of a block has its time in seconds and its id as hash', () => {
    expect(parseHeader(header.body, 66_987_565n)).toEqual({
      number: 66_987_565n,
      hash: '0x0000000003fe262d52bfa4b2814f816fd2e57af5b98a33d60d8630a03a908e0e',
      timestampSeconds: 1_777_445_121n,
    })
  })

  test('of a block’s infos has transfers of TRX without a result as successes', () => {
    const transactionId = '0419405287081aa44f4d78725e6fabac8d14e71abf9e28825ad4f4e61a5bccb7'
    const found = parseBlockInfos(blockInfos.body, { transactionId, blockNumber: 66_987_565n })
    expect(found).toMatchObject({ logsBefore: 0n, info: { succeeded: true, logs: [] } })
  })

  test('of a constant call is refused where a bool is asked for and a number comes', () => {
    expect(() => parseConstantBool(constantCall.body)).toThrow(MalformedAnswerError)
    const word = (value: number) => ({
      ...Object(constantCall.body),
      constant_result: [`${value}`.padStart(64, '0')],
    })
    expect([parseConstantBool(word(0)), parseConstantBool(word(1))]).toEqual([false, true])
  })

  test('of a contract shows that it is one', () => {
    expect(parseHasContract(contract.body)).toBe(true)
  })

  test('F-84: of a contract without bytecode, which another contract made, shows that it is one', () => {
    const { bytecode: _left, ...made } = { bytecode: '', ...Object(contract.body) }
    for (const body of [made, { ...made, bytecode: '' }]) expect(parseHasContract(body)).toBe(true)
  })
})

describe('{}', () => {
  const id = 'ab'.repeat(32)
  test('means that there is no such thing', () => {
    expect(parseHeader({})).toBeUndefined()
    expect(parseInfo({}, id)).toBeUndefined()
    expect(parseTransaction({}, id)).toBeUndefined()
    expect(parseHasContract({})).toBe(false)
  })

  test.each([[[]], [null], [''], [0], [httpBodies.nodeError.body], [{ id: '' }]])(
    'is not what %j is',
    (body) => {
      expect(() => parseHeader(body)).toThrow(MalformedAnswerError)
      expect(() => parseInfo(body, id)).toThrow(MalformedAnswerError)
      expect(() => parseTransaction(body, id)).toThrow(MalformedAnswerError)
      expect(() => parseHasContract(body)).toThrow(MalformedAnswerError)
    },
  )
})

describe('proven by constructed bodies alone: an outcome of', () => {
  test.each<[string, unknown, unknown, boolean]>([
    ['nothing at all', undefined, undefined, true],
    ['a receipt without a result', undefined, {}, true],
    ['SUCCESS', undefined, { result: 'SUCCESS' }, true],
    ['DEFAULT', 'SUCESS', { result: 'DEFAULT' }, true],
    ['FAILED beside a successful receipt', 'FAILED', { result: 'SUCCESS' }, false],
    ['REVERT', undefined, { result: 'REVERT' }, false],
    ['OUT_OF_ENERGY', undefined, { result: 'OUT_OF_ENERGY' }, false],
    ['a name that nobody knows', undefined, { result: 'FINE' }, false],
  ])('%s', (_what, result, receipt, succeeded) => {
    expect(parseInfo(outcome.body(result, receipt), idOf(infoWithLog))?.succeeded).toBe(succeeded)
  })
})

const account = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)
const data = fc.uint8Array({ maxLength: 200 }).map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)
const amount = fc.bigInt({ min: 1n, max: BigInt(Number.MAX_SAFE_INTEGER) })

const written = (encoded: ReturnType<typeof encodeTransaction>) =>
  tronBodies.transaction.body({ ...encoded, succeeded: true })

describe('what tronweb encodes', () => {
  test('as a transfer is read as it', () => {
    fc.assert(
      fc.property(account, account, amount, data, (from, to, value, memo) => {
        const { transactionId, rawHex } = encodeTransaction(
          from,
          { kind: 'transfer', to, amount: value },
          memo,
        )
        const read = parseTransaction(written({ transactionId, rawHex }), transactionId)
        expect(read).toEqual({ from, to, value, input: '0x', memo })
      }),
    )
  })

  test('as a call is read as it, and as a TRC-10 transfer pays nobody', () => {
    fc.assert(
      fc.property(account, account, amount, data, (from, to, callValue, input) => {
        const call = encodeTransaction(from, { kind: 'trigger', to, data: input, callValue })
        expect(parseTransaction(written(call), call.transactionId)).toEqual({
          from,
          to,
          value: callValue,
          input,
          memo: '0x',
        })
        const token = encodeTransaction(from, { kind: 'transferAsset', to, amount: callValue })
        expect(parseTransaction(written(token), token.transactionId)).toMatchObject({
          to: undefined,
          value: 0n,
        })
      }),
    )
  })

  test('as an address is ours in every spelling', () => {
    fc.assert(
      fc.property(account, (bytes) => {
        const base58 = utils.address.fromHex(`41${bytes.slice(2)}`)
        expect(tronAddress(bytes)).toBe(base58)
        expect(tronEvmAddress(base58)).toBe(bytes)
        expect(createTronCodec().canonicalAddress(base58)).toBe(base58)
      }),
    )
  })
})

describe('raw bytes', () => {
  test('2,000 random ones and cut ones are a transaction or refused', () => {
    const { rawHex } = encodeTransaction(
      `0x${'11'.repeat(20)}`,
      { kind: 'transfer', to: `0x${'22'.repeat(20)}`, amount: 5n },
      '0xabcd',
    )
    const whole = Buffer.from(rawHex, 'hex')
    const cut = fc.nat(whole.length - 1).map((length) => whole.subarray(0, length))
    const changed = fc.tuple(fc.nat(whole.length - 1), fc.nat(255)).map(([at, byte]) => {
      const copy = Buffer.from(whole)
      copy[at] = byte
      return copy
    })
    fc.assert(
      fc.property(fc.oneof(cut, changed, fc.uint8Array({ maxLength: 300 })), (bytes) => {
        try {
          const { to, value } = readRawTransaction(bytes, 'gettransactionbyid')
          expect(to === undefined || to.length === 42).toBe(true)
          expect(value).toBeGreaterThanOrEqual(0n)
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedAnswerError)
        }
      }),
      { numRuns: 2_000, endOnFailure: true },
    )
  })

  test.each<[string, string]>([
    ['a number that never ends', '08ffffffffffffffffffffff'],
    ['bytes that are longer than the message', '0aff01'],
    ['a field cut short', '09aabb'],
  ])('%s is refused', (_what, hex) => {
    expect(() => readRawTransaction(Buffer.from(hex, 'hex'), 'x')).toThrow(MalformedAnswerError)
  })

  /** A transfer of TRX whose amount is this varint. */
  function transferOf(amountHex: string): Uint8Array {
    const member = (tag: string, hex: string) =>
      `${tag}${(hex.length / 2).toString(16).padStart(2, '0')}${hex}`
    const parties = member('0a', `41${'11'.repeat(20)}`) + member('12', `41${'22'.repeat(20)}`)
    const transfer = `${parties}18${amountHex}`
    return Buffer.from(member('5a', `0801${member('12', member('12', transfer))}`), 'hex')
  }

  test('with a negative amount are refused', () => {
    expect(readRawTransaction(transferOf('05'), 'x').value).toBe(5n)
    expect(() => readRawTransaction(transferOf('ffffffffffffffffff01'), 'x')).toThrow(MalformedAnswerError)
  })

  test('with an amount that a number cannot hold are refused, not rounded', () => {
    expect(readRawTransaction(transferOf('ffffffffffffff0f'), 'x').value).toBe(2n ** 53n - 1n)
    for (const above of ['8080808080808010', '8180808080808010', 'ffffffffffffffff7f']) {
      expect(() => readRawTransaction(transferOf(above), 'x')).toThrow(MalformedAnswerError)
    }
  })

  test('with two contracts or none are refused', () => {
    const two = Buffer.concat([transferOf('05'), transferOf('05')])
    for (const bytes of [two, new Uint8Array()]) {
      expect(() => readRawTransaction(bytes, 'x')).toThrow(MalformedAnswerError)
    }
  })
})

test('an order id that lacks its first digit is none', () => {
  const orderId: Hex = `0x${'0d'.repeat(32)}`
  const own = { from: undefined, to: undefined, value: 0n, input: '0x', memo: '0x' } as const
  expect(referencesOrder({ ...own, memo: orderId }, orderId)).toBe(true)
  expect(referencesOrder({ ...own, memo: `0x${orderId.slice(3)}` }, orderId)).toBe(false)
})

describe('calldata and memo', () => {
  const first: Hex = `0x${'0d'.repeat(32)}`
  const second: Hex = `0x${'0e'.repeat(32)}`
  const own = { from: undefined, to: undefined, value: 0n } as const
  const names = (input: Hex, memo: Hex) =>
    [first, second].map((orderId) => referencesOrder({ ...own, input, memo }, orderId))

  test('P-40: that end with different order ids name none', () => {
    expect(names(first, second)).toEqual([false, false])
    expect(names(second, `0xff${first.slice(2)}`)).toEqual([false, false])
  })

  test('that end with one id name it', () => {
    expect(names(first, first)).toEqual([true, false])
    expect(names('0x', second)).toEqual([false, true])
  })

  test('name the one that stands beside padded arguments or a short text', () => {
    const address: Hex = `0xa9059cbb${'00'.repeat(12)}${'ab'.repeat(20)}`
    const amount: Hex = `${address}${(900).toString(16).padStart(64, '0')}`
    const text: Hex = `0x${'ab'.repeat(20)}${'00'.repeat(12)}`
    for (const input of [address, amount, text]) expect(names(input, first)).toEqual([true, false])
    expect(names(second, '0x68656c6c6f')).toEqual([false, true])
  })
})
