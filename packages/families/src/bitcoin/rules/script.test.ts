// Which scripts are an address, and which address; bitcoinjs-lib's own reading is the judge of both ways.

import { bitcoinNetworks } from '@causeway/core/encodings'
import { address, script as library, networks, payments } from 'bitcoinjs-lib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeScript, outputScript, readScript, type ScriptForm, scriptAddress } from './script.ts'

const { mainnet } = bitcoinNetworks
const hash = 'ab'.repeat(20)
const bytesOf = (digits: string) => Uint8Array.from(Buffer.from(digits, 'hex'))
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })

const forms = fc.oneof(
  fc.record({
    kind: fc.constantFrom('public-key-hash' as const, 'script-hash' as const),
    hash: bytes(20),
  }),
  fc.record({ kind: fc.constant('witness' as const), version: fc.constant(0), program: bytes(20) }),
  fc.record({ kind: fc.constant('witness' as const), version: fc.constant(0), program: bytes(32) }),
  fc.record({
    kind: fc.constant('witness' as const),
    version: fc.integer({ min: 1, max: 16 }),
    program: fc.uint8Array({ minLength: 2, maxLength: 40 }),
  }),
) satisfies fc.Arbitrary<ScriptForm>

test('a form that was written is read back', () => {
  fc.assert(
    fc.property(forms, (form) => {
      expect(readScript(encodeScript(form))).toEqual({ ...form })
    }),
    { endOnFailure: true },
  )
})

test.each([
  [16, 2],
  [16, 40],
  [1, 2],
  [1, 40],
])('a program of version %d and %d bytes has a form, at the bounds of both', (version, length) => {
  const form = { kind: 'witness', version, program: new Uint8Array(length).fill(3) } as const
  expect(readScript(encodeScript(form))).toEqual(form)
})

test.each<[keyof typeof bitcoinNetworks, networks.Network]>([
  ['mainnet', networks.bitcoin],
  ['testnet', networks.testnet],
  ['regtest', networks.regtest],
])('what pays hashes on %s is what the library pays to, under its address', (name, network) => {
  const ours = bitcoinNetworks[name]
  const paid = fc.oneof(
    bytes(20).map((own) => payments.p2pkh({ hash: own, network })),
    bytes(20).map((own) => payments.p2sh({ hash: own, network })),
    bytes(20).map((own) => payments.p2wpkh({ hash: own, network })),
    bytes(32).map((own) => payments.p2wsh({ hash: own, network })),
  )
  fc.assert(
    fc.property(paid, ({ output, address: shown }) => {
      if (output === undefined || shown === undefined) throw new Error('the library pays nothing')
      expect(outputScript(shown, ours)).toEqual(Uint8Array.from(output))
      expect(scriptAddress(output, ours)).toBe(shown)
    }),
    { endOnFailure: true },
  )
})

test('what the library finds no address of, or one of another form, has none here but taproot', () => {
  const hostile = fc.oneof(
    fc.uint8Array({ maxLength: 45 }),
    forms.map((form) => encodeScript(form)),
    fc.tuple(forms, fc.nat(44), fc.nat(255)).map(([form, at, byte]) => {
      const script = encodeScript(form)
      return script.with(at % script.length, byte)
    }),
  )
  fc.assert(
    fc.property(hostile, (script) => {
      const shown = scriptAddress(script, mainnet)
      const form = readScript(script)
      if (shown === undefined) return
      expect(outputOf(shown)).toEqual(script)
      if (form?.kind !== 'witness' || form.version === 0) {
        expect(address.fromOutputScript(script, networks.bitcoin)).toBe(shown)
      }
    }),
    { numRuns: 2_000, endOnFailure: true },
  )
})

/** The script that an address was made of, by its own parts. */
function outputOf(shown: string): Uint8Array {
  if (!shown.startsWith('bc1')) return address.toOutputScript(shown, networks.bitcoin)
  const { version, data } = address.fromBech32(shown)
  return library.compile([version === 0 ? 0 : 0x50 + version, data])
}

describe('has no address:', () => {
  test.each<[string, string]>([
    ['nothing', ''],
    ['a hash of a key, cut', `76a914${hash}88`],
    ['a hash of a key with a tail', `76a914${hash}88ac00`],
    ['a hash of a key in a long push of one byte', `76a94c14${hash}88ac`],
    ['a hash of a key in a long push of two bytes', `76a94d1400${hash}88ac`],
    ['a hash of a key in a long push of four bytes', `76a94e14000000${hash}88ac`],
    ['a hash of a key of 19 bytes', `76a913${hash.slice(2)}88ac`],
    ['a hash of a key under another check', `76a914${hash}88ad`],
    ['a hash of a script in a long push', `a94c14${hash}87`],
    ['a hash of a script of 32 bytes', `aa20${'ab'.repeat(32)}87`],
    ['a hash of a script, cut within its push', `a914${hash.slice(2)}`],
    ['a program in a long push', `004c14${hash}`],
    ['a program whose push says more than there is', `0020${hash}`],
    ['a program whose push says less than there is', `0013${hash}`],
    ['a version that is pushed as a byte', `010114${hash}`],
    ['a version 0 that is pushed as a byte', `010014${hash}`],
    ['a version 1 program of 41 bytes', `5129${'ab'.repeat(41)}`],
    ['a version 1 program of one byte, pushed as a number', '5151'],
    ['a version -1', `4f14${hash}`],
    ['a version 17', `6114${hash}`],
    ['a push without its length', '4c'],
    ['a push whose length is cut', '4d01'],
    ['a push of 2^32 - 1 bytes', '4effffffff'],
    ['OP_RETURN with a push cut short', '6a05aa'],
    ['100,000 operations', '51'.repeat(100_000)],
  ])('%s', (_what, digits) => {
    expect(readScript(bytesOf(digits))).toBeUndefined()
    expect(scriptAddress(bytesOf(digits), mainnet)).toBeUndefined()
  })

  test('a program of version 1 of another length than taproot’s has one: it is some output’s', () => {
    expect(scriptAddress(bytesOf('51024e73'), mainnet)).toBe('bc1pfeessrawgf')
  })
})
