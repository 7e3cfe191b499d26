// Owner signatures on Bitcoin (rule P-109): the vectors that BIP-322 publishes, signatures over what another
// library builds, and what signs nothing.

import { bitcoinMainnet, bitcoinNetworks, InvalidAddressError } from '@causeway/core/encodings'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  hexOf,
  owners,
  signBip137,
  signBip322,
  signTaproot,
} from '../../../../core/test/vectors/ownerKeys.ts'
import { isBitcoinOwnerSignature } from './ownerSignature.ts'

const message = '4858b62795cca74847e9e151a657ee55940a6fa1a4dc9a3ca6617917970ce4a6'
const bytesOf = (hex: string) => Uint8Array.from(Buffer.from(hex.slice(2), 'hex'))
const isSigned = (owner: string, signature: string | Uint8Array, text = message) =>
  isBitcoinOwnerSignature({
    message: text,
    signature: typeof signature === 'string' ? bytesOf(signature) : signature,
    owner,
    network: bitcoinMainnet,
  })

describe('the published signature', () => {
  const segwit = 'bc1q9vza2e8x573nczrlzms0wvx3gsqjx7vavgkx0l'
  const taproot = 'bc1ppv609nr0vr25u07u95waq5lucwfm6tde4nydujnu8npg4q75mr5sxq8lt3'
  const published: [string, string, string, string][] = [
    [
      'of nothing by P2WPKH',
      segwit,
      '',
      'AkcwRAIgM2gBAQqvZX15ZiysmKmQpDrG83avLIT492QBzLnQIxYCIBaTpOaD20qRlEylyxFSeEA2ba9YOixpX8z46TSDtS40ASECx/EgAxlkQpQ9hYjgGu6EBCPMVPwVIVJqO4XCsMvViHI=',
    ],
    [
      'of text by P2WPKH',
      segwit,
      'Hello World',
      'AkcwRAIgZRfIY3p7/DoVTty6YZbWS71bc5Vct9p9Fia83eRmw2QCICK/ENGfwLtptFluMGs2KsqoNSk89pO7F29zJLUx9a/sASECx/EgAxlkQpQ9hYjgGu6EBCPMVPwVIVJqO4XCsMvViHI=',
    ],
    [
      'of text by P2TR',
      taproot,
      'Hello World',
      'AUHd69PrJQEv+oKTfZ8l+WROBHuy9HKrbFCJu7U1iK2iiEy1vMU5EfMtjc+VSHM7aU0SDbak5IUZRVno2P5mjSafAQ==',
    ],
  ]
  test.each(published)('%s is the owner’s, and of no other text', (_what, owner, text, base64) => {
    const signature = Uint8Array.from(Buffer.from(base64, 'base64'))
    expect(isSigned(owner, signature, text)).toBe(true)
    expect(isSigned(owner, signature, `${text}.`)).toBe(false)
  })
})

describe('a signature of the owner', () => {
  test.each<[string, string, string]>([
    ['BIP-137 for P2PKH', owners.p2pkh, signBip137(message, 31)],
    ['BIP-137 for P2PKH of an uncompressed key', owners.uncompressed, signBip137(message, 27)],
    ['BIP-137 for P2SH-P2WPKH', owners.nested, signBip137(message, 35)],
    ['BIP-137 for P2SH-P2WPKH with the header of P2PKH', owners.nested, signBip137(message, 31)],
    ['BIP-137 for P2WPKH', owners.p2wpkh, signBip137(message, 39)],
    ['BIP-137 for P2WPKH with the header of P2PKH', owners.p2wpkh, signBip137(message, 31)],
    ['BIP-322 for P2SH-P2WPKH', owners.nested, signBip322(message, 'nested')],
    ['BIP-322 for P2WPKH', owners.p2wpkh, signBip322(message, 'p2wpkh')],
    ['BIP-322 for P2TR', owners.p2tr, signTaproot(message)],
    ['BIP-322 for P2TR with a hash type', owners.p2tr, signTaproot(message, 1)],
  ])('P-109: %s holds for its text alone', (_what, owner, signature) => {
    expect(isSigned(owner, signature)).toBe(true)
    expect(isSigned(owner, signature, message.replace('4', '5'))).toBe(false)
  })

  test('holds on the network of the address alone', () => {
    const signature = bytesOf(signBip322(message, 'p2wpkh'))
    const asked = { message, signature, owner: owners.p2wpkh, network: bitcoinNetworks.testnet }
    expect(() => isBitcoinOwnerSignature(asked)).toThrow(InvalidAddressError)
  })
})

describe('signs nothing:', () => {
  const witness = bytesOf(signBip322(message, 'p2wpkh'))
  const taprootWitness = bytesOf(signTaproot(message))
  const typed = bytesOf(signTaproot(message, 1))
  const plain = taprootWitness.subarray(2)
  /** A witness of one element. */
  const taprootOf = (...signature: readonly number[]) => Uint8Array.of(1, signature.length, ...signature)
  const legacy = bytesOf(signBip137(message, 31))
  /** The signature ends with its hash type, and its length stands in front of it. */
  const otherType = witness.with(1 + (witness[1] ?? 0), 2)
  const withHeader = (header: number) => hexOf(Uint8Array.of(header, ...legacy.subarray(1)))

  test.each<[string, string, string]>([
    ['BIP-137 for P2TR', owners.p2tr, signBip137(message, 39)],
    ['BIP-137 of P2WPKH for P2PKH', owners.p2pkh, signBip137(message, 39)],
    ['BIP-137 of P2SH for P2WPKH', owners.p2wpkh, signBip137(message, 35)],
    ['BIP-137 of an uncompressed key for P2WPKH', owners.p2wpkh, signBip137(message, 27)],
    [
      'BIP-137 of an uncompressed key for the address of its compressed form',
      owners.p2pkh,
      signBip137(message, 27),
    ],
    ['BIP-137 of another owner', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', signBip137(message, 31)],
    ['a header below 27', owners.p2pkh, withHeader(26)],
    ['a header above 42', owners.p2pkh, withHeader(43)],
    ['BIP-322 of taproot for P2WPKH', owners.p2wpkh, signTaproot(message)],
    ['BIP-322 of P2WPKH for P2TR', owners.p2tr, signBip322(message, 'p2wpkh')],
    ['BIP-322 of P2WPKH for P2SH-P2WPKH', owners.nested, signBip322(message, 'p2wpkh')],
    ['BIP-322 for P2PKH', owners.p2pkh, signBip322(message, 'p2wpkh')],
    ['BIP-322 of another owner', 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', signBip322(message, 'p2wpkh')],
    [
      'BIP-322 for a script of 32 bytes',
      'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3',
      signBip322(message, 'p2wpkh'),
    ],
    ['BIP-322 that covers no outputs', owners.p2wpkh, signBip322(message, 'p2wpkh', 2)],
    ['BIP-322 whose hash type was changed', owners.p2wpkh, hexOf(otherType)],
    ['taproot whose hash type was changed', owners.p2tr, hexOf(typed.with(-1, 2))],
    ['taproot with the default type written out', owners.p2tr, hexOf(taprootOf(...plain, 0))],
    ['taproot with a byte behind its hash type', owners.p2tr, hexOf(taprootOf(...typed.subarray(2), 0))],
    ['taproot with a byte behind the signature', owners.p2tr, hexOf(taprootOf(...plain, 7, 7))],
    ['taproot that covers no outputs', owners.p2tr, signTaproot(message, 2)],
    ['nothing', owners.p2wpkh, '0x'],
    ['no witness', owners.p2wpkh, '0x00'],
    ['a witness with a tail', owners.p2wpkh, `${hexOf(witness)}00`],
    [
      'a witness whose number of elements is in two bytes',
      owners.p2wpkh,
      `0xfd0200${hexOf(witness).slice(4)}`,
    ],
    [
      'a witness whose first length is in two bytes',
      owners.p2wpkh,
      `0x02fd${hexOf(witness).slice(4, 6)}00${hexOf(witness).slice(6)}`,
    ],
    ['a witness of more elements than there are', owners.p2wpkh, `0x${'ff'.repeat(9)}`],
    ['a witness whose first element is longer than all', owners.p2wpkh, `0x02feffffffff${'00'.repeat(60)}`],
    ['a cut witness', owners.p2wpkh, hexOf(witness.subarray(0, -1))],
    ['a witness with a third element', owners.p2wpkh, hexOf(Uint8Array.of(3, ...witness.subarray(1), 0))],
    [
      'a taproot witness with a script',
      owners.p2tr,
      hexOf(Uint8Array.of(2, ...taprootWitness.subarray(1), 0)),
    ],
    ['zeros as a recoverable signature', owners.p2pkh, `0x${'00'.repeat(65)}`],
    ['zeros behind a header', owners.p2pkh, `0x1f${'00'.repeat(64)}`],
    ['zeros as a taproot signature', owners.p2tr, `0x0140${'00'.repeat(64)}`],
    ['a short signature', owners.p2pkh, hexOf(legacy.subarray(0, 64))],
    ['a long signature', owners.p2pkh, `${hexOf(legacy)}00`],
  ])('%s', (_what, owner, signature) => {
    expect(isSigned(owner, signature)).toBe(false)
  })
})

test('an owner that nobody can be is refused by name', () => {
  const native = 'bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8'
  for (const owner of [native, 'bitcoin', owners.tron]) {
    expect(() => isSigned(owner, signBip137(message, 31))).toThrow(InvalidAddressError)
  }
})

test('changed bytes sign nothing and throw nothing', () => {
  const signed = [
    { owner: owners.p2pkh, signature: bytesOf(signBip137(message, 31)) },
    { owner: owners.p2wpkh, signature: bytesOf(signBip322(message, 'p2wpkh')) },
    { owner: owners.p2tr, signature: bytesOf(signTaproot(message)) },
  ]
  fc.assert(
    fc.property(
      fc.constantFrom(...signed),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      ({ owner, signature }, at, change) => {
        const changed = Uint8Array.from(signature)
        const position = at % signature.length
        // The header's two forms of one kind are no change, so the first byte stays.
        fc.pre(position > 0)
        changed[position] = (changed[position] ?? 0) ^ change
        expect(isSigned(owner, changed)).toBe(false)
      },
    ),
    { numRuns: 150, endOnFailure: true },
  )
})

test('2,000 hostile signatures throw nothing', () => {
  const witness = fc
    .array(fc.uint8Array({ maxLength: 74 }), { maxLength: 3 })
    .map((items) =>
      Buffer.concat([
        Uint8Array.of(items.length),
        ...items.flatMap((item) => [Uint8Array.of(item.length), item]),
      ]),
    )
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.uint8Array({ minLength: 65, maxLength: 65 }),
    witness.map((items) => Uint8Array.from(items)),
  )
  fc.assert(
    fc.property(
      fc.constantFrom(...[owners.p2pkh, owners.nested, owners.p2wpkh, owners.p2tr]),
      bytes,
      (owner, signature) => {
        expect(isSigned(owner, signature)).toBe(false)
      },
    ),
    { numRuns: 2_000, endOnFailure: true },
  )
})
