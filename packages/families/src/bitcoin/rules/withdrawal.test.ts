// Vectors of the public protocol for bitcoin-vm, PSBTs made by another library, and what is no PSBT.

import type { Hex } from '@causeway/core'
import {
  bitcoinMainnet,
  bitcoinNetworks,
  InvalidAddressError,
  InvalidWithdrawalError,
} from '@causeway/core/encodings'
import { networks, Psbt, payments, Transaction } from 'bitcoinjs-lib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { damaged, outcomeOf } from '../../../../core/test/fixtures/hostileBytes.ts'
import { outputScript, scriptAddress } from './script.ts'
import { bitcoinTransactionId, parseBitcoinTransaction } from './transaction.ts'
import { bitcoinWithdrawalId, bitcoinWithdrawalTransfer, decodeBitcoinWithdrawal } from './withdrawal.ts'

const depository = '1KT3zCYUrmQxjcveUNs1Rs7WcXDcPQZ4av'
const recipient = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'
const legacyScript = outputScript(depository, bitcoinMainnet)
const witnessScript = outputScript(recipient, bitcoinMainnet)
const opReturn = payments.embed({ data: [Buffer.from('an order')] }).output ?? new Uint8Array()

const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`

/** A transaction that pays `value` to the depository. */
function funding(value: bigint): Transaction {
  const transaction = new Transaction()
  transaction.addInput(new Uint8Array(32).fill(7), 1, 0xffffffff, Uint8Array.of(0x51))
  transaction.addOutput(legacyScript, value)
  return transaction
}

/** Spends two outputs, 100,000 satoshi of a legacy and 50,000 of a segwit script. */
function spending(paid = 140_000n): Psbt {
  const old = funding(100_000n)
  return new Psbt()
    .addInput({ hash: old.getId(), index: 0, nonWitnessUtxo: old.toBuffer() })
    .addInput({ hash: '22'.repeat(32), index: 3, witnessUtxo: { script: witnessScript, value: 50_000n } })
    .addOutput({ address: recipient, value: paid })
    .addOutput({ script: opReturn, value: 0n })
}

describe('the id of a withdrawal', () => {
  test.each<[Hex, Hex]>([
    [
      '0x70736274ff0100520200000001aabbccdd',
      '0x2afe732745aaa8d89797e381b272726ba93de0e3e9d2fc248fc0b92db7da2eef',
    ],
    ['0x70736274ff', '0x842a23bf2d8f0fd2ad55aedbff5d20616eb6f268cbddfc426e572feb3021fb46'],
    ['0x70736274FF', '0x842a23bf2d8f0fd2ad55aedbff5d20616eb6f268cbddfc426e572feb3021fb46'],
  ])('of %s is the published one', (withdrawal, id) => {
    expect(bitcoinWithdrawalId(withdrawal)).toBe(id)
  })

  test('is refused for what is no hex', () => {
    // CAST: what arrives from outside before anything is known about it.
    expect(() => bitcoinWithdrawalId('70736274ff' as Hex)).toThrow(InvalidWithdrawalError)
  })
})

describe('a withdrawal', () => {
  test('P-115: pays its first output and the fee', () => {
    const withdrawal = decodeBitcoinWithdrawal(hexOf(spending().toBuffer()))
    expect(withdrawal.fee).toBe(10_000n)
    expect(bitcoinWithdrawalTransfer(withdrawal, bitcoinMainnet)).toEqual({
      currency: 'bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8',
      amount: 150_000n,
      recipient,
    })
  })

  test('says what each input spends', () => {
    const { inputs, transaction } = decodeBitcoinWithdrawal(hexOf(spending().toBuffer()))
    expect(inputs.map(({ txid, vout, spent }) => ({ txid, vout, spent }))).toEqual([
      { txid: funding(100_000n).getId(), vout: 0, spent: { value: 100_000n, script: legacyScript } },
      { txid: '22'.repeat(32), vout: 3, spent: { value: 50_000n, script: witnessScript } },
    ])
    expect(transaction.outputs[1]).toEqual({ value: 0n, script: Uint8Array.from(opReturn) })
  })

  test('is read with the partial signatures of its inputs', () => {
    const publicKey = Uint8Array.of(2, ...new Uint8Array(32).fill(5))
    // The shortest signature that the other library takes for one: r and s are 1.
    const signature = Uint8Array.of(0x30, 6, 2, 1, 1, 2, 1, 1, 1)
    const psbt = spending().updateInput(0, { partialSig: [{ pubkey: publicKey, signature }] })
    const signed = decodeBitcoinWithdrawal(hexOf(psbt.toBuffer()))
    expect(signed).toEqual(decodeBitcoinWithdrawal(hexOf(spending().toBuffer())))
  })

  test('of a test network pays an address of that network', () => {
    const address = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
    const psbt = new Psbt({ network: networks.regtest })
      .addInput({ hash: '22'.repeat(32), index: 0, witnessUtxo: { script: witnessScript, value: 9n } })
      .addOutput({ address, value: 9n })
    const withdrawal = decodeBitcoinWithdrawal(hexOf(psbt.toBuffer()))
    expect(bitcoinWithdrawalTransfer(withdrawal, bitcoinNetworks.regtest).recipient).toBe(address)
  })
})

describe('is refused', () => {
  const valid = spending().toBuffer()
  const bare = (psbt: Psbt) => hexOf(psbt.toBuffer())
  const tampered = (from: string, to: string): Hex => {
    const digits = Buffer.from(valid).toString('hex')
    expect(digits).toContain(from)
    return `0x${digits.replace(from, to)}`
  }
  const little = (value: bigint) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64LE(value)
    return bytes.toString('hex')
  }
  const unspecified = () =>
    new Psbt().addInput({ hash: '22'.repeat(32), index: 0 }).addOutput({ address: recipient, value: 1n })

  test.each<[string, () => Hex]>([
    ['nothing', () => '0x'],
    ['the magic alone', () => '0x70736274ff'],
    ['the published bytes, which are cut', () => '0x70736274ff0100520200000001aabbccdd'],
    ['another magic', () => tampered('70736274ff', '70736274fe')],
    ['a tail', () => `${hexOf(valid)}00`],
    ['a missing byte', () => hexOf(valid.subarray(0, -1))],
    ['a version 2', () => tampered('70736274ff', '70736274ff01fb0402000000')],
    ['a transaction instead', () => hexOf(funding(1n).toBuffer())],
    [
      'an output that is spent twice',
      () => {
        const first = Buffer.from(funding(100_000n).getHash()).toString('hex')
        return tampered(`${'22'.repeat(32)}03000000`, `${first}00000000`)
      },
    ],
    ['an input that does not say what it spends', () => bare(unspecified())],
    ['outputs that hold more than the inputs', () => bare(spending(150_001n))],
    [
      'an old transaction that is another one',
      () => tampered(`${little(100_000n)}19`, `${little(200_000n)}19`),
    ],
    [
      'an output that holds more than there can be',
      () => tampered(`${little(50_000n)}16`, `${little(2n ** 63n)}16`),
    ],
    [
      'a length that is not in its shortest form',
      () => tampered(`${little(50_000n)}16`, `${little(50_000n)}fd1600`),
    ],
  ])('%s', (_what, bytes) => {
    expect(() => decodeBitcoinWithdrawal(bytes())).toThrow(InvalidWithdrawalError)
  })

  test('a withdrawal without outputs or whose first output has no address', () => {
    const input = { hash: '22'.repeat(32), index: 0, witnessUtxo: { script: witnessScript, value: 9n } }
    const noAddress = new Psbt().addInput(input).addOutput({ script: opReturn, value: 0n })
    const noOutput = new Psbt().addInput(input)
    for (const psbt of [noAddress, noOutput]) {
      expect(() => bitcoinWithdrawalTransfer(decodeBitcoinWithdrawal(bare(psbt)), bitcoinMainnet)).toThrow(
        InvalidWithdrawalError,
      )
    }
  })
})

test('2,000 hostile withdrawals are refused by name or paid to an address', () => {
  const built = [0n, 1n, 140_000n, 150_000n, 150_001n].map((paid) => hexOf(spending(paid).toBuffer()))
  const signed = fc.constantFrom(...built)
  fc.assert(
    fc.property(damaged(signed), (bytes) => {
      const transfer = outcomeOf(() =>
        bitcoinWithdrawalTransfer(decodeBitcoinWithdrawal(bytes), bitcoinMainnet),
      )
      if (transfer !== undefined) {
        expect(transfer.amount).toBeGreaterThanOrEqual(0n)
        expect(scriptAddress(outputScript(transfer.recipient, bitcoinMainnet), bitcoinMainnet)).toBe(
          transfer.recipient,
        )
      }
    }),
    { numRuns: 2_000, endOnFailure: true },
  )
})

describe('a transaction', () => {
  const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
  const transactions = fc
    .record({
      inputs: fc.array(
        fc.tuple(
          bytesOf(32),
          fc.nat(),
          fc.uint8Array({ maxLength: 300 }),
          fc.array(fc.uint8Array({ maxLength: 80 })),
        ),
        { minLength: 1, maxLength: 4 },
      ),
      outputs: fc.array(fc.tuple(fc.uint8Array({ maxLength: 60 }), fc.bigInt({ min: 0n, max: 2n ** 50n })), {
        maxLength: 4,
      }),
    })
    .map(({ inputs, outputs }) => {
      const transaction = new Transaction()
      for (const [hash, index, script, witness] of inputs) {
        transaction.setWitness(transaction.addInput(hash, index, 1, script), witness)
      }
      for (const [script, value] of outputs) transaction.addOutput(script, value)
      return transaction
    })

  test('of another library reads back with its id and its witnesses', () => {
    fc.assert(
      fc.property(transactions, (transaction) => {
        const parsed = parseBitcoinTransaction(transaction.toBuffer())
        if (parsed === undefined) throw new Error('a valid transaction was refused')
        expect(bitcoinTransactionId(parsed)).toBe(transaction.getId())
        expect(parsed.inputs.map(({ witness }) => witness)).toEqual(
          transaction.ins.map(({ witness }) => witness),
        )
        expect(parsed.outputs.map(({ value }) => value)).toEqual(transaction.outs.map(({ value }) => value))
      }),
      { endOnFailure: true },
    )
  })

  test('is read from hostile bytes without any exception', () => {
    const bytes = damaged(transactions.map((transaction) => hexOf(transaction.toBuffer())))
    fc.assert(
      fc.property(bytes, (hex) => {
        const parsed = parseBitcoinTransaction(Buffer.from(hex.slice(2), 'hex'))
        if (parsed !== undefined) expect(bitcoinTransactionId(parsed)).toMatch(/^[0-9a-f]{64}$/)
      }),
      { numRuns: 2_000, endOnFailure: true },
    )
  })

  test('with a witness flag and no witness is refused', () => {
    const digits = Buffer.from(funding(1n).toBuffer()).toString('hex')
    const flagged = `${digits.slice(0, 8)}0001${digits.slice(8, -8)}00${digits.slice(-8)}`
    expect(parseBitcoinTransaction(Buffer.from(flagged, 'hex'))).toBeUndefined()
  })
})

describe('the script of an address', () => {
  test.each([
    depository,
    recipient,
    '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy',
    'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3',
    'bc1p5d7rjq7g6rdk2yhzks9smlaqtedr4dekq08ge8ztwac72sfr9rusxg3297',
  ])('%s gives the address back', (address) => {
    expect(scriptAddress(outputScript(address, bitcoinMainnet), bitcoinMainnet)).toBe(address)
  })

  test.each<[string, string]>([
    ['the native sentinel', 'bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8'],
    ['a test network', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'],
    ['a version without spending rules', 'bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs'],
  ])('is refused for %s', (_what, address) => {
    expect(() => outputScript(address, bitcoinMainnet)).toThrow(InvalidAddressError)
  })

  test.each<[string, readonly number[]]>([
    ['nothing', []],
    ['OP_RETURN', [0x6a, 2, 1, 2]],
    ['a public key', [0x21, 2, ...new Uint8Array(32), 0xac]],
    ['a version 0 program of 19 bytes', [0, 19, ...new Uint8Array(19)]],
    ['a version without spending rules', [0x60, 20, ...new Uint8Array(20)]],
    ['a program with a tail', [0, 20, ...new Uint8Array(21)]],
    ['a program of one byte', [0x51, 1, 1]],
  ])('of %s does not exist', (_what, script) => {
    expect(scriptAddress(Uint8Array.from(script), bitcoinMainnet)).toBeUndefined()
  })
})
