// Goal: a fill wallet's transaction that sweeps a deposit address spends its own line first, and each output of the
// address by the sweeper's branch, with signatures that the script of each input accepts. Method: the library hashes
// what is signed, and the curve checks it.

import type { Hex } from '@causeway/core'
import { hexToBytes } from '@causeway/core'
import { bitcoinNetworkOf } from '@causeway/core/encodings'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { describe, expect, test } from 'vitest'
import { bitcoinDepositAddress, namedOutputs, sweepSecret, sweptOutputs } from '../depositAddress.ts'
import { bitcoinLibrary } from '../library.ts'
import { outputScript } from '../script.ts'
import {
  type LinePlan,
  lineDust,
  lineLeft,
  lineVirtualBytes,
  lineWallet,
  readLineStep,
  signLineTransaction,
} from './lineTransaction.ts'
import { paymentTag, readPaymentTag, untagged } from './paymentTag.ts'

const network = bitcoinNetworkOf('regtest')
const wallet = lineWallet(Uint8Array.from(Buffer.alloc(32, 0x42)), network)
const nonce: Hex = `0x${'a1'.repeat(32)}`
const { script } = bitcoinDepositAddress(
  {
    orderSigner: `0x${'05'.repeat(20)}`,
    sweeper: `0x${Buffer.from(wallet.publicKey).toString('hex')}`,
    depositor: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
    nonce,
  },
  network,
)
const output = (byte: string, value: bigint, vout = 0) => ({ txid: byte.repeat(32), vout, value })
const depository = outputScript('mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', network)
const plan: LinePlan = {
  parent: output('aa', 50_000n, 1),
  gathered: [output('bb', 7_000n)],
  swept: { script, nonce, outputs: [output('cc', 100_000n), output('dd', 30_000n, 3)] },
  payments: [{ script: depository, value: 120_000n }],
  orderId: `0x${'3f'.repeat(32)}`,
  tag: paymentTag(wallet.key, 'paid', nonce),
}
const fee = 2_000n
const { Transaction, payments, script: scripts } = bitcoinLibrary()

function sign(paid = fee) {
  const { raw, left } = signLineTransaction(wallet, plan, paid)
  return { left, read: Transaction.fromHex(raw.slice(2)) }
}

/** True if the first witness item of the input signs the whole transaction for this script, by this key. */
function isSigned(index: number, value: bigint, scriptCode: Uint8Array, publicKey: Uint8Array): boolean {
  const { read } = sign()
  const digest = read.hashForWitnessV0(index, scriptCode, value, Transaction.SIGHASH_ALL)
  const { signature, hashType } = scripts.signature.decode(read.ins[index]?.witness[0] ?? new Uint8Array())
  return hashType === Transaction.SIGHASH_ALL && secp256k1.verify(signature, digest, publicKey)
}

describe('a sweep in the line', () => {
  test('spends the line, then what it gathers, then the address', () => {
    const { read } = sign()
    const spent = read.ins.map(({ hash, index }) => [Buffer.from(hash).toString('hex'), index])
    expect(spent).toEqual([
      ['aa'.repeat(32), 1],
      ['bb'.repeat(32), 0],
      ['cc'.repeat(32), 0],
      ['dd'.repeat(32), 3],
    ])
    expect(read.ins.map(({ sequence }) => sequence)).toEqual([
      plan.tag.sequence,
      ...[0xffff_fffd, 0xffff_fffd, 0xffff_fffd],
    ])
    expect([read.version, read.locktime]).toEqual([2, plan.tag.lockTime])
  })

  test('gives the rest of all of them back to the line', () => {
    expect(lineLeft(plan, fee)).toBe(50_000n + 7_000n + 130_000n - 120_000n - fee)
    const { read, left } = sign()
    expect(left).toBe(65_000n)
    expect(read.outs.map(({ value }) => value)).toEqual([65_000n, 120_000n, 0n])
  })

  test('is signed by the wallet for its own outputs', () => {
    const keyScript = payments.p2pkh({ pubkey: wallet.publicKey }).output ?? new Uint8Array()
    expect(isSigned(0, 50_000n, keyScript, wallet.publicKey)).toBe(true)
    expect(isSigned(1, 7_000n, keyScript, wallet.publicKey)).toBe(true)
  })

  test('is signed for each output of the address by its own key, in the branch of the sweeper', () => {
    const scriptCode = hexToBytes(script)
    const sweepKey = secp256k1.getPublicKey(sweepSecret(wallet.key, nonce), true)
    expect(isSigned(2, 100_000n, scriptCode, sweepKey)).toBe(true)
    expect(isSigned(3, 30_000n, scriptCode, sweepKey)).toBe(true)
    for (const input of sign().read.ins.slice(2)) {
      const [, branch, shown] = input.witness
      expect(input.witness).toHaveLength(3)
      expect(Buffer.from(branch ?? []).toString('hex')).toBe('01')
      expect(Buffer.from(shown ?? [])).toEqual(Buffer.from(scriptCode))
    }
  })

  test('is no larger than it was reckoned, and by a byte for each signature at most smaller', () => {
    const { read } = sign()
    const reckoned = lineVirtualBytes(wallet, plan)
    expect(reckoned).toBeGreaterThanOrEqual(read.virtualSize())
    expect(reckoned - read.virtualSize()).toBeLessThanOrEqual(2)
  })
})

test('signatures have the low one of their two values, which nodes ask for', () => {
  for (let paid = 1n; paid <= 8n; paid += 1n)
    for (const { witness } of sign(paid).read.ins) {
      const { signature } = scripts.signature.decode(witness[0] ?? new Uint8Array())
      expect(secp256k1.Signature.fromCompact(signature).hasHighS()).toBe(false)
    }
})

describe('a line goes on', () => {
  const { swept: _swept, ...plain } = { ...plan, payments: [], gathered: [] }
  const leaving = (left: bigint) => () => signLineTransaction(wallet, plain, 50_000n - left)

  test('with what is not dust', () => {
    expect(leaving(lineDust)().left).toBe(lineDust)
    expect(leaving(lineDust - 1n)).toThrow('leaves its line nothing')
    expect(leaving(50_001n)).toThrow('leaves its line nothing')
  })

  test('where the first output pays the wallet, and nowhere else', () => {
    const transaction = {
      version: 2,
      lockTime: 0,
      inputs: [
        { txid: 'aa'.repeat(32), vout: 1, scriptSig: new Uint8Array(), sequence: 0xffff_fffd, witness: [] },
      ],
      outputs: [{ script: wallet.script, value: 9n }],
    }
    expect(readLineStep(transaction, wallet)).toMatchObject({
      parent: { txid: 'aa'.repeat(32), vout: 1 },
      tag: undefined,
      left: 9n,
    })
    for (const change of [
      { inputs: [] },
      { outputs: [] },
      { outputs: [{ script: depository, value: 9n }, ...transaction.outputs] },
    ])
      expect(readLineStep({ ...transaction, ...change }, wallet)).toBeUndefined()
  })
})

test.each<[string, number, number, boolean]>([
  ['the least numbers', 0x8000_0000, 500_000_000, true],
  ['the largest', 0x8000_0000 + 2 ** 30 - 1, 500_000_000 + 2 ** 30 - 1, true],
  ['a sequence below', 0x7fff_ffff, 500_000_000, false],
  ['a sequence above', 0x8000_0000 + 2 ** 30, 500_000_000, false],
  ['a time below', 0x8000_0000, 499_999_999, false],
  ['a time above', 0x8000_0000, 500_000_000 + 2 ** 30, false],
  ['no tag', untagged.sequence, untagged.lockTime, false],
])('a tag has two numbers of thirty bits: %s', (_what, sequence, lockTime, isTag) => {
  const inputs = [{ txid: '', vout: 0, scriptSig: new Uint8Array(), sequence, witness: [] }]
  expect(readPaymentTag({ inputs, lockTime })).toEqual(isTag ? { sequence, lockTime } : undefined)
})

describe('outputs that an endpoint names', () => {
  const many = Array.from({ length: 120 }, (_, index) => output('ee', BigInt(index), index))

  test('are checked once each, the hundred of the largest claims first', () => {
    const named = namedOutputs([...many, ...many])
    expect(named.map(({ value }) => value)).toEqual(
      Array.from({ length: 100 }, (_, index) => BigInt(119 - index)),
    )
  })

  test('stand in one order, by value, then transaction, then place', () => {
    const ordered = [
      output('02', 10_001n),
      output('01', 10_000n, 1),
      output('01', 10_000n, 2),
      output('03', 10_000n),
    ]
    for (const outputs of [ordered, ordered.toReversed()]) {
      expect(namedOutputs(outputs)).toEqual(ordered)
      expect(sweptOutputs(outputs)).toEqual(ordered)
    }
  })

  test('are swept ten at a time', () => {
    const large = Array.from({ length: 12 }, (_, index) => output('ee', 50_000n, index))
    expect(sweptOutputs(large)).toEqual(large.slice(0, 10))
  })

  test('are swept from 10,000 satoshi on', () => {
    expect(sweptOutputs([output('01', 9_999n), output('02', 10_000n)])).toEqual([output('02', 10_000n)])
  })
})
