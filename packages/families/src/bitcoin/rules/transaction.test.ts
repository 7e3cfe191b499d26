// Parsing of a transaction's bytes, and the refusals by name. A transaction with two valid encodings could be shown
// differently to two readers.
import { createHash } from 'node:crypto'
import { Transaction } from 'bitcoinjs-lib'
import { describe, expect, test } from 'vitest'
import {
  inputDigits,
  little,
  longer,
  outputDigits,
  sized,
  transactionDigits,
} from '../../../test/bitcoinBytes.ts'
import {
  bitcoinTransactionId,
  encodeBitcoinTransaction,
  legacySighashes,
  parseBitcoinTransaction,
} from './transaction.ts'

const bytesOf = (digits: string) => Uint8Array.from(Buffer.from(digits, 'hex'))
const read = (digits: string) => parseBitcoinTransaction(bytesOf(digits))
const many = '01'.repeat(65_536)
const witness = `02${sized('aa')}${sized('bbcc')}`
const flagged = { flag: '0001', witnesses: witness }

describe('is read', () => {
  test.each<[string, string]>([
    ['one input and one output', transactionDigits()],
    ['no input and no output', transactionDigits({ inputs: [], outputs: [] })],
    ['no output', transactionDigits({ outputs: [] })],
    ['a version that is negative for other readers', transactionDigits({ version: 'ffffffff' })],
    [
      'a script of 253 bytes',
      transactionDigits({ outputs: [outputDigits(1n, sized(many.slice(0, 2 * 253)))] }),
    ],
    ['a script of 65,536 bytes', transactionDigits({ outputs: [outputDigits(1n, sized(many))] })],
    ['a script that ends within a push', transactionDigits({ outputs: [outputDigits(1n, sized('4c05aa'))] })],
    ['64 bytes', transactionDigits({ outputs: [outputDigits(1n, sized('51515151'))] })],
    ['253 outputs', transactionDigits({ outputs: Array.from({ length: 253 }, () => outputDigits(1n)) })],
  ])('%s', (_what, digits) => {
    const transaction = read(digits)
    if (transaction === undefined) throw new Error('a valid transaction was refused')
    expect(Buffer.from(encodeBitcoinTransaction(transaction)).toString('hex')).toBe(digits)
  })

  test('a witness, which the id does not cover', () => {
    const transaction = read(transactionDigits(flagged))
    expect(transaction?.inputs[0]?.witness).toEqual([bytesOf('aa'), bytesOf('bbcc')])
    const bare = read(transactionDigits())
    if (transaction === undefined || bare === undefined) throw new Error('a valid transaction was refused')
    expect(bitcoinTransactionId(transaction)).toBe(bitcoinTransactionId(bare))
  })

  test('a value above half of what eight bytes hold, which is never less than nothing', () => {
    const digits = transactionDigits({ outputs: [outputDigits(2n ** 64n - 1n), outputDigits(2n ** 63n)] })
    const transaction = read(digits)
    if (transaction === undefined) throw new Error('a valid transaction was refused')
    expect(transaction.outputs.map(({ value }) => value)).toEqual([2n ** 64n - 1n, 2n ** 63n])
    expect(Buffer.from(encodeBitcoinTransaction(transaction)).toString('hex')).toBe(digits)
  })
})

describe('is refused', () => {
  const tooMany: [string, string][] = [
    ['65,535', 'fdffff'],
    ['4,294,967,295', 'feffffffff'],
    ['2^53', `ff${little(2n ** 53n, 8)}`],
    ['2^64 - 1', 'ffffffffffffffffff'],
  ]
  const longForms = Object.entries(longer).flatMap(([form, length]): [string, string][] => [
    [`a number of inputs in ${form}`, transactionDigits({ inputCount: length(1) })],
    [`a number of outputs in ${form}`, transactionDigits({ outputCount: length(1) })],
    [
      `the length of an input's script in ${form}`,
      transactionDigits({ inputs: [inputDigits({ script: `${length(1)}51` })] }),
    ],
    [
      `the length of an output's script in ${form}`,
      transactionDigits({ outputs: [outputDigits(1n, `${length(1)}51`)] }),
    ],
    [
      `a number of witness elements in ${form}`,
      transactionDigits({ flag: '0001', witnesses: `${length(1)}01aa` }),
    ],
    [
      `the length of a witness element in ${form}`,
      transactionDigits({ flag: '0001', witnesses: `01${length(1)}aa` }),
    ],
  ])
  const counts = tooMany.flatMap(([number, count]): [string, string][] => [
    [`${number} inputs that are not there`, transactionDigits({ inputCount: count })],
    [`${number} outputs that are not there`, transactionDigits({ outputCount: count })],
    [
      `a script of ${number} bytes that are not there`,
      transactionDigits({ outputs: [outputDigits(1n, count)] }),
    ],
    [
      `${number} witness elements that are not there`,
      transactionDigits({ flag: '0001', witnesses: `${count}01aa` }),
    ],
  ])
  test.each<[string, string]>([
    ['nothing', ''],
    ['a version alone', '01000000'],
    ['a tail', transactionDigits({ tail: '00' })],
    ['a tail behind witnesses', transactionDigits({ ...flagged, tail: '00' })],
    ['a witness flag and no witness', transactionDigits({ flag: '0001', witnesses: '00' })],
    ['a witness flag and no input', transactionDigits({ flag: '0001', inputs: [] })],
    ['an unknown witness flag', transactionDigits({ ...flagged, flag: '0002' })],
    ['witnesses without a flag', transactionDigits({ witnesses: witness })],
    [
      'witnesses for more inputs than there are',
      transactionDigits({ ...flagged, witnesses: witness + witness }),
    ],
    ...longForms,
    ...counts,
  ])('%s', (_what, digits) => {
    expect(read(digits)).toBeUndefined()
  })

  test.each([transactionDigits(), transactionDigits(flagged)])('%s, cut at any byte', (digits) => {
    for (let length = 0; length < digits.length; length += 2) {
      expect(read(digits.slice(0, length))).toBeUndefined()
    }
  })
})

describe('what a legacy signature signs', () => {
  const digits = transactionDigits({ inputs: [inputDigits(), inputDigits({ vout: 4 })] })
  const hashed = (preimage: string) => {
    const once = createHash('sha256').update(Buffer.from(preimage, 'hex')).digest()
    return createHash('sha256').update(once).digest('hex')
  }
  /** The transaction with one script in the place of the input's, and the hash type. */
  const preimageOf = (index: number, script: string) => {
    const inputs = [0, 1].map((at) =>
      inputDigits({ vout: at + 3, script: at === index ? sized(script) : '00' }),
    )
    return `${transactionDigits({ inputs })}01000000`
  }
  const sighashesOf = (script: string) => {
    const transaction = read(digits)
    if (transaction === undefined) throw new Error('a valid transaction was refused')
    const hashes = legacySighashes(transaction, [bytesOf(script), bytesOf(script)])
    return hashes.map((hash) => Buffer.from(hash).toString('hex'))
  }
  const byLibrary = (script: string) => {
    const transaction = Transaction.fromBuffer(bytesOf(digits))
    return [0, 1].map((index) =>
      Buffer.from(transaction.hashForSignature(index, bytesOf(script), Transaction.SIGHASH_ALL)).toString(
        'hex',
      ),
    )
  }

  test('is what the library hashes for a script of addresses', () => {
    const script = `76a914${'ab'.repeat(20)}88ac`
    expect(sighashesOf(script)).toEqual(byLibrary(script))
    expect(sighashesOf(script)).toEqual([0, 1].map((index) => hashed(preimageOf(index, script))))
  })

  test('has the pushes of a script as they are, which the library writes anew', () => {
    const script = `4c14${'ab'.repeat(20)}010587`
    expect(sighashesOf(script)).toEqual([0, 1].map((index) => hashed(preimageOf(index, script))))
    expect(sighashesOf(script)).not.toEqual(byLibrary(script))
  })
})
