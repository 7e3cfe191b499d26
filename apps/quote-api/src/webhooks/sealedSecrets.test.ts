// Goal: what signs messages can be read back with its pepper, and by nobody and for no other key without it.
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Peppers } from '../access/keys/peppers.ts'
import { openSecrets, sealSecrets } from './sealedSecrets.ts'

const peppersOf = (...ids: string[]): Peppers => ({
  currentId: ids[0] ?? '',
  byId: new Map(ids.map((id) => [id, randomBytes(32)])),
})
const peppers = peppersOf('new', 'old')
const secrets = { signingSecret: 'whsec_of a test', headers: { authorization: 'Bearer of a test' } }

test('secrets come back as they were, and their text is not in what is stored', () => {
  const sealed = sealSecrets(peppers, 'abcdefghij', secrets)
  expect(openSecrets(peppers, 'abcdefghij', sealed)).toEqual(secrets)
  expect(sealed.sealed.toString('latin1')).not.toContain('of a test')
  expect(sealed.pepperId).toBe('new')
  expect(sealSecrets(peppers, 'abcdefghij', secrets).sealed).not.toEqual(sealed.sealed)
})

test('they cannot be read for another key, under another pepper, or when a bit changed', () => {
  const sealed = sealSecrets(peppers, 'abcdefghij', secrets)
  const flipped = Buffer.from(sealed.sealed)
  flipped[20] = (flipped[20] ?? 0) ^ 1
  for (const [key, stored, known] of [
    ['jihgfedcba', sealed, peppers],
    ['abcdefghij', { ...sealed, pepperId: 'old' }, peppers],
    ['abcdefghij', sealed, peppersOf('other')],
    ['abcdefghij', { ...sealed, sealed: flipped }, peppers],
    ['abcdefghij', { ...sealed, sealed: Buffer.alloc(0) }, peppers],
  ] as const) {
    expect(() => openSecrets(known, key, stored)).toThrow('cannot be read')
  }
})
