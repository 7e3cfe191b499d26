import { inspect } from 'node:util'
import { ConfigurationError, type Hex, hexToBytes, Secret, signingDigest } from '@causeway/core'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { parsePrivateKey } from './privateKey.ts'
import { createRawKeySigner } from './rawKeySigner.ts'
import { recoverSigner } from './recoverSigner.ts'

const solverKey: Hex = `0x${'1234567890'.repeat(7).slice(0, 64)}`
const orderB: Hex = '0x3066f8a2439e215c99a81077465f375dd7cbf90eb2d7c24b91e2bf1be7b595a4'
const orderBSignature: Hex =
  '0x798fbd518f9e4aad2866ae0b5c2ae51a5c8aeb145ee960cb37eeb7c25eed28fc69a3efb8ed3cce6755b7544ad4a9e62ca8b534368092fd1d3a28095771cf90b41b'
const order = (id: Hex) => ({ purpose: 'order' as const, orderId: id })

describe('raw key signer', () => {
  test('signs order B as the protocol sheet says', async () => {
    const signer = createRawKeySigner({ privateKey: new Secret(solverKey) })
    expect(signer.address).toBe('0x2e988a386a799f506693793c6a5af6b54dfaabfb')
    expect(await signer.sign(order(orderB))).toBe(orderBSignature)
  })

  test('equals another implementation on random keys and ids, with low s and v 27 or 28', async () => {
    for (let index = 1; index <= 50; index += 1) {
      const key: Hex = `0x${(((BigInt(index) * 7n ** 80n) % 2n ** 250n) + 1n).toString(16).padStart(64, '0')}`
      const orderId: Hex = `0x${((BigInt(index) * 11n ** 70n) % 2n ** 256n).toString(16).padStart(64, '0')}`
      const signer = createRawKeySigner({ privateKey: new Secret(key) })
      const signature = await signer.sign(order(orderId))
      expect(signature).toBe(await privateKeyToAccount(key).signMessage({ message: { raw: orderId } }))
      expect(recoverSigner(signingDigest(order(orderId)), signature)).toBe(signer.address)
    }
  })

  test('never shows its key', async () => {
    const signer = createRawKeySigner({ privateKey: new Secret(solverKey) })
    const shown = [
      inspect(signer, { depth: 9, showHidden: true }),
      JSON.stringify(signer),
      String(signer),
    ].join()
    expect(shown).not.toContain(solverKey.slice(2, 20))
  })
})

describe('private keys', () => {
  const order_ = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'
  test.each([
    ['empty', ''],
    ['too short', '0x1234'],
    ['no hex', `0x${'zz'.repeat(32)}`],
    ['zero', `0x${'00'.repeat(32)}`],
    ['the order of the curve', `0x${order_}`],
    ['all ones', `0x${'ff'.repeat(32)}`],
  ])('refuses one that is %s, without repeating it', (_name, text) => {
    expect(() => parsePrivateKey(new Secret(text))).toThrow(ConfigurationError)
    if (text.length > 4) expect(() => parsePrivateKey(new Secret(text))).not.toThrow(text)
  })

  test('takes what a file holds: without 0x, upper case, a line end', () => {
    const { address } = createRawKeySigner({
      privateKey: parsePrivateKey(new Secret(`${solverKey.slice(2).toUpperCase()}\n`)),
    })
    expect(address).toBe('0x2e988a386a799f506693793c6a5af6b54dfaabfb')
  })
})

describe('recoverSigner', () => {
  const digest = signingDigest(order(orderB))
  const bytes = hexToBytes(orderBSignature)
  const hex = (value: Uint8Array): Hex => `0x${Buffer.from(value).toString('hex')}`
  const withByte = (index: number, value: number) => {
    const copy = Uint8Array.from(bytes)
    copy[index] = value
    return hex(copy)
  }
  const n = BigInt(`0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141`)
  const s = BigInt(hex(bytes.subarray(32, 64)))
  const highS: Hex = `0x${orderBSignature.slice(2, 66)}${(n - s).toString(16).padStart(64, '0')}1c`

  test.each([
    ['64 bytes', orderBSignature.slice(0, 130)],
    ['a byte too many', `${orderBSignature}00`],
    ['v 0', withByte(64, 0)],
    ['v 29', withByte(64, 29)],
    ['high s', highS],
    ['r of zero', `0x${'00'.repeat(32)}${orderBSignature.slice(66)}`],
    ['r beyond the order', `0x${'ff'.repeat(32)}${orderBSignature.slice(66)}`],
    ['no hex', '0xzz'],
    ['nothing', '0x'],
  ])('refuses %s', (_name, signature) => {
    // CAST: the refused spellings are not all hex.
    expect(recoverSigner(digest, signature as Hex)).toBeUndefined()
  })

  test('finds another signer for another digest', () => {
    const other = recoverSigner(signingDigest(order(`0x${'11'.repeat(32)}`)), orderBSignature)
    expect(other).not.toBe('0x2e988a386a799f506693793c6a5af6b54dfaabfb')
  })
})
