// Parsing of a PSBT's bytes, and the refusals by name. A caller writes the bytes, and what a reader believes about them
// decides whose money is burnt.

import { InvalidWithdrawalError } from '@causeway/core/encodings'
import { describe, expect, test } from 'vitest'
import {
  entry,
  inputDigits,
  little,
  longer,
  outputDigits,
  psbtDigits,
  sized,
  spentEntry,
  transactionDigits,
} from '../../../test/bitcoinBytes.ts'
import { bitcoinTransactionId, parseBitcoinTransaction } from './transaction.ts'
import { decodeBitcoinWithdrawal } from './withdrawal.ts'

const noPsbt = 'it is no PSBT'
const tooMuch = 'an output holds more bitcoin than there can be'
const decode = (digits: string) => decodeBitcoinWithdrawal(`0x${digits}`)

function reasonOf(digits: string): unknown {
  try {
    decode(digits)
  } catch (error) {
    if (error instanceof InvalidWithdrawalError) return error.data['reason']
    throw error
  }
  return 'nothing is wrong'
}

const publicKey = `02${'05'.repeat(32)}`
/** DER of r and s that are 1, and the hash type "all". */
const signature = '300602010102010101'
/** Holds 10 satoshi in its second output. */
const old = transactionDigits({ outputs: [outputDigits(7n), outputDigits(10n)] })
const oldId = idOf(old)
const spending = (vout: number) => ({
  transaction: transactionDigits({ inputs: [inputDigits({ txid: oldId, vout })] }),
})

function idOf(digits: string): string {
  const transaction = parseBitcoinTransaction(Uint8Array.from(Buffer.from(digits, 'hex')))
  if (transaction === undefined) throw new Error('a valid transaction was refused')
  return bitcoinTransactionId(transaction)
}

describe('is read', () => {
  test.each<[string, string]>([
    ['what an input spends', psbtDigits()],
    ['an old transaction', psbtDigits({ ...spending(1), input: [entry('00', old)] })],
    ['both, when they agree', psbtDigits({ ...spending(1), input: [entry('00', old), spentEntry] })],
    ['keys in any order', psbtDigits({ input: [entry('fc01', 'aa'), entry('03', '01000000'), spentEntry] })],
    ['unknown keys', psbtDigits({ input: [spentEntry, entry('fc0101', 'aabb'), entry('fdaabb', '')] })],
    [
      'a signature',
      psbtDigits({ input: [spentEntry, entry(`02${publicKey}`, signature), entry('04', '0014')] }),
    ],
    [
      'fields of outputs',
      psbtDigits({ output: [entry(`02${publicKey}`, 'aabbccdd00000000'), entry('fc', '')] }),
    ],
    ['version 0, said', psbtDigits({ global: [entry('00', transactionDigits()), entry('fb', '00000000')] })],
    [
      // Beside the transaction and what the input spends.
      '10,000 keys',
      psbtDigits({ output: Array.from({ length: 9_998 }, (_, index) => entry(`fc${little(index, 4)}`, '')) }),
    ],
    [
      'the transaction behind other keys',
      psbtDigits({ global: [entry('fc', '01'), entry('00', transactionDigits())] }),
    ],
  ])('%s', (_what, digits) => {
    const { inputs, transaction, fee } = decode(digits)
    expect(fee).toBe(1n)
    expect(inputs.map(({ spent }) => spent)).toEqual([{ value: 10n, script: Uint8Array.of(0x51) }])
    expect(transaction.outputs).toEqual([{ value: 9n, script: Uint8Array.of(0x51) }])
  })

  test('an input without a claim is named, and so is what holds more than there can be', () => {
    expect(reasonOf(psbtDigits({ input: [] }))).toBe('an input does not say what it spends')
    for (const value of [2n ** 63n, 2n ** 64n - 1n, 2_100_000_000_000_001n]) {
      expect(reasonOf(psbtDigits({ input: [entry('01', outputDigits(value))] }))).toBe(tooMuch)
      const transaction = transactionDigits({ outputs: [outputDigits(value)] })
      expect(reasonOf(psbtDigits({ transaction }))).toBe(tooMuch)
    }
  })

  test('as much as there can be is read', () => {
    const all = 2_100_000_000_000_000n
    expect(decode(psbtDigits({ input: [entry('01', outputDigits(all))] })).fee).toBe(all - 9n)
  })

  test('two inputs that spend one output are named', () => {
    const transaction = transactionDigits({ inputs: [inputDigits(), inputDigits()] })
    // One map more: that of the second input, in the place of the output's.
    const digits = psbtDigits({ transaction, output: [spentEntry], tail: '00' })
    expect(reasonOf(digits)).toBe('it spends an output twice')
  })
})

describe('is refused', () => {
  const longForms = Object.entries(longer).flatMap(([form, length]): [string, string][] => [
    [`the length of a key in ${form}`, psbtDigits({ input: [`${length(1)}01${sized(outputDigits(10n))}`] })],
    [`the length of a value in ${form}`, psbtDigits({ input: [entry('01', outputDigits(10n), length)] })],
    [
      `the length of a spent script in ${form}`,
      psbtDigits({ input: [entry('01', `${little(10, 8)}${length(1)}51`)] }),
    ],
    [
      `the length of an unknown value in ${form}`,
      psbtDigits({ input: [spentEntry, entry('fc', 'aa', length)] }),
    ],
  ])
  const versions: [string, string][] = ['01000000', '02000000', '00000001'].flatMap(
    (version): [string, string][] => [
      [`version ${version}`, psbtDigits({ global: [entry('fb', version)] })],
      [
        `version ${version} with a transaction`,
        psbtDigits({ global: [entry('00', transactionDigits()), entry('fb', version)] }),
      ],
    ],
  )
  /** Known fields that no wallet writes like this, though nothing here needs them. */
  const malformedFields: [string, string][] = [
    [
      'a spent output under a longer key',
      psbtDigits({ input: [spentEntry, entry('01ff', outputDigits(10n))] }),
    ],
    [
      'a signature of a key that is no point',
      psbtDigits({ input: [spentEntry, entry(`0205${publicKey.slice(2)}`, signature)] }),
    ],
    ['a taproot signature of 63 bytes', psbtDigits({ input: [spentEntry, entry('13', 'aa'.repeat(63))] })],
    ['a derivation that is cut', psbtDigits({ input: [spentEntry, entry(`06${publicKey}`, 'aabbcc')] })],
    ['a derivation of nothing', psbtDigits({ output: [entry(`02${publicKey}`, '')] })],
  ]
  const manyKeys = Array.from({ length: 9_999 }, (_, index) => entry(`fc${little(index, 4)}`, ''))
  const lengths = ['ff', `ff${little(2n ** 53n, 8)}`, 'ffffffffffffffffff', 'feffffffff', 'fdffff', '20']
  test.each<[string, string]>([
    ['another magic', psbtDigits({ magic: '70736274fe' })],
    ['no transaction', psbtDigits({ global: [] })],
    [
      'two transactions',
      psbtDigits({ global: [entry('00', transactionDigits()), entry('00', transactionDigits())] }),
    ],
    ['a transaction with a tail', psbtDigits({ transaction: transactionDigits({ tail: '00' }) })],
    [
      'a signed transaction',
      psbtDigits({ transaction: transactionDigits({ inputs: [inputDigits({ script: sized('51') })] }) }),
    ],
    [
      'a transaction with witnesses',
      psbtDigits({ transaction: transactionDigits({ flag: '0001', witnesses: '0101aa' }) }),
    ],
    [
      'a global key that occurs twice',
      psbtDigits({ global: [entry('00', transactionDigits()), entry('fc', 'aa'), entry('fc', 'aa')] }),
    ],
    [
      'a key of an input that occurs twice',
      psbtDigits({ input: [spentEntry, entry('01', outputDigits(11n))] }),
    ],
    [
      'an unknown key that occurs twice',
      psbtDigits({ input: [spentEntry, entry('fc', 'aa'), entry('fc', 'bb')] }),
    ],
    [
      'a signature that occurs twice',
      psbtDigits({
        input: [spentEntry, entry(`02${publicKey}`, signature), entry(`02${publicKey}`, signature)],
      }),
    ],
    [
      'a key of an output that occurs twice',
      psbtDigits({ output: [entry('fc', 'aa'), spentEntry, entry('fc', 'aa')] }),
    ],
    ['a tail', psbtDigits({ tail: 'aa' })],
    ['a map too many', psbtDigits({ tail: '00' })],
    ['a map too few', psbtDigits().slice(0, -2)],
    ['more than 10,000 keys', psbtDigits({ output: manyKeys })],
    ['a map that does not end', psbtDigits({ tail: spentEntry }).slice(0, -2)],
    ['a spent output with a tail', psbtDigits({ input: [entry('01', `${outputDigits(10n)}00`)] })],
    ['a spent output that is cut', psbtDigits({ input: [entry('01', outputDigits(10n).slice(0, -2))] })],
    ['an empty spent output', psbtDigits({ input: [entry('01', '')] })],
    ['a value alone as a spent output', psbtDigits({ input: [entry('01', little(10, 8))] })],
    [
      'an old transaction of another id',
      psbtDigits({ ...spending(1), input: [entry('00', transactionDigits())] }),
    ],
    ['an old transaction with a tail', psbtDigits({ ...spending(1), input: [entry('00', `${old}00`)] })],
    ['an old transaction that is none', psbtDigits({ ...spending(1), input: [entry('00', '00')] })],
    [
      'an old transaction without that output',
      psbtDigits({ ...spending(2), input: [entry('00', old), spentEntry] }),
    ],
    [
      'an old transaction that contradicts the spent output',
      psbtDigits({ ...spending(0), input: [entry('00', old), spentEntry] }),
    ],
    [
      'a signature of no public key',
      psbtDigits({ input: [spentEntry, entry(`02${publicKey.slice(2)}`, signature)] }),
    ],
    ...malformedFields,
    ...versions,
    ...longForms,
    ...lengths.flatMap((length): [string, string][] => [
      [`a value whose length is ${length}`, psbtDigits({ input: [`0101${length}`] })],
      [`a last value whose length is ${length}`, psbtDigits({ output: [`01fc${length}`] }).slice(0, -2)],
      [`a key whose length is ${length}`, psbtDigits({ input: [spentEntry, length] })],
    ]),
  ])('%s', (_what, digits) => {
    expect(reasonOf(digits)).toBe(noPsbt)
  })

  test('one that is cut at any byte', () => {
    const digits = psbtDigits({ ...spending(1), input: [entry('00', old), spentEntry] })
    for (let length = 0; length < digits.length; length += 2) {
      expect(reasonOf(digits.slice(0, length))).toBe(noPsbt)
    }
  })
})
