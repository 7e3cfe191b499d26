// Goal: a deposit address on Bitcoin is emptied by its sweeper at once, by its depositor after a month, and by nobody
// else. Adversary: the finder of an address that two requests share, or a user whose refund account could never sign.
// Method: the library parses the script again; a real node judges what spends it in
// test/families/bitcoind/nodeSweeps.live.ts.

import type { Hex } from '@causeway/core'
import { hexToBytes } from '@causeway/core'
import { bitcoinNetworkOf } from '@causeway/core/encodings'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  bitcoinDepositAddress,
  bitcoinDepositName,
  depositorWaitsBlocks,
  sweepSecret,
  sweptOutputs,
} from './depositAddress.ts'
import { bitcoinLibrary } from './library.ts'
import { depositScriptBytes, virtualBytesOf } from './quoting/virtualSize.ts'
import { orderScript, outputScript } from './script.ts'

const network = bitcoinNetworkOf('regtest')
const secret = Uint8Array.from(Buffer.alloc(32, 0x5e))
const sweeper: Hex = `0x${Buffer.from(secp256k1.getPublicKey(secret, true)).toString('hex')}`
const stranger: Hex = `0x${Buffer.from(secp256k1.getPublicKey(Buffer.alloc(32, 7), true)).toString('hex')}`
const witness = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const legacy = 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn'
const orderSigner: Hex = `0x${'05'.repeat(20)}`
const termsOf = (nonce: Hex, depositor = witness) => ({ orderSigner, sweeper, depositor, nonce })
const nonce: Hex = `0x${'a1'.repeat(32)}`
const random = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)

describe('a deposit address', () => {
  test('F-138: is the hash of a script with two ways, the second of which opens a month later', () => {
    const { address, script = '0x' } = bitcoinDepositAddress(termsOf(nonce), network)
    const { payments, script: scripts } = bitcoinLibrary()
    const sweepKey = Buffer.from(secp256k1.getPublicKey(sweepSecret(secret, nonce), true)).toString('hex')
    expect(scripts.toASM(hexToBytes(script))).toBe(
      [
        ...['OP_IF', sweepKey, 'OP_CHECKSIG', 'OP_ELSE'],
        // The library calls BIP 112 by the name that it had before.
        ...['e010', 'OP_NOP3', 'OP_DROP'],
        'OP_DUP OP_HASH160 751e76e8199196d454941c45d1b3a323f1433bd6 OP_EQUALVERIFY OP_CHECKSIG',
        'OP_ENDIF',
      ].join(' '),
    )
    expect(Buffer.from('e010', 'hex').readUInt16LE()).toBe(depositorWaitsBlocks)
    const { regtest } = bitcoinLibrary().networks
    const wanted = payments.p2wsh({
      redeem: { output: hexToBytes(script), network: regtest },
      network: regtest,
    })
    expect(address).toBe(wanted.address)
  })

  test('is another one for another number, depositor or sweeper', () => {
    fc.assert(
      fc.property(random, random, (one, other) => {
        fc.pre(one !== other)
        const addresses = [
          termsOf(one),
          termsOf(other),
          termsOf(one, legacy),
          { ...termsOf(one), sweeper: stranger },
        ].map((terms) => bitcoinDepositAddress(terms, network).address)
        expect(new Set(addresses).size).toBe(addresses.length)
      }),
      { numRuns: 20 },
    )
  })

  test.each([
    ['of taproot', 'bcrt1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqc8gma6'],
    ['behind a script hash', '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc'],
    ['behind the hash of a script', 'bcrt1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qzf4jry'],
  ])('F-138: refunds no address %s, which does not tell who signs for it', (_what, depositor) => {
    expect(() => bitcoinDepositAddress(termsOf(nonce, depositor), network)).toThrow('refundTo')
  })

  test('has a sweeper that is a key of the curve', () => {
    for (const wrong of [
      `0x02${'5e'.repeat(32)}`,
      '0x',
      sweeper.toUpperCase(),
      `0x04${'5e'.repeat(32)}`,
      `${sweeper}00`,
      `0x${sweeper}`,
    ])
      expect(() => bitcoinDepositAddress({ ...termsOf(nonce), sweeper: wrong }, network)).toThrow(
        'no public key',
      )
  })

  test('is named by twenty bytes that no other form of address has', () => {
    const { address } = bitcoinDepositAddress(termsOf(nonce), network)
    const program = outputScript(address, network).subarray(2)
    expect(bitcoinDepositName(address, network)).toBe(
      `0x${Buffer.from(program.subarray(0, 20)).toString('hex')}`,
    )
    for (const other of [witness, legacy]) expect(() => bitcoinDepositName(other, network)).toThrow('script')
  })

  test('is swept at the size that quotes charge', () => {
    const { script = '0x', address } = bitcoinDepositAddress(termsOf(nonce), network)
    expect(hexToBytes(script)).toHaveLength(depositScriptBytes)
    const change = outputScript(witness, network)
    const outputs = [change, outputScript(address, network), orderScript(nonce)]
    expect(virtualBytesOf({ inputs: ['witness', 'deposit-address'], outputs })).toBe(307)
  })
})

describe('a sweep', () => {
  const output = fc.record({
    txid: random.map((text) => text.slice(2)),
    vout: fc.nat(3),
    value: fc.bigInt(0n, 100_000n),
  })

  test('F-138: takes the ten most valuable outputs, whoever names them in whatever order, and no dust', () => {
    fc.assert(
      fc.property(fc.array(output, { maxLength: 30 }), fc.nat(), (outputs, seed) => {
        const shuffled = outputs
          .map((one, at) => ({ one, key: (at * 7_919 + seed) % 31 }))
          .toSorted((a, b) => a.key - b.key)
          .map(({ one }) => one)
        const swept = sweptOutputs(outputs)
        expect(sweptOutputs(shuffled)).toEqual(swept)
        const worth = outputs.filter(({ value }) => value >= 10_000n)
        expect(swept).toHaveLength(Math.min(10, worth.length))
        const least = swept.at(-1)?.value ?? 0n
        expect(worth.filter(({ value }) => value > least).length).toBeLessThan(10)
      }),
      { numRuns: 50 },
    )
  })
})
