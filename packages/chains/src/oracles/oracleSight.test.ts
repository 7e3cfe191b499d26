import { Secret } from '@causeway/core'
import { expect, test } from 'vitest'
import { createOracleSight } from './oracleSight.ts'

const signers = ['0xaa', '0xbb', '0xcc'] as const
const oracles = signers.map((signer) => ({
  signer,
  name: signer,
  url: new Secret('http://oracle'),
  apiKey: undefined,
}))
const silent = expect.objectContaining({ code: 'ORACLES_SILENT' })

test('O-105: too few oracles that answer are told after a while, a word of one ends it, and who asks nobody tells nothing', () => {
  let now = 1_000
  const sight = createOracleSight({ oracles, threshold: 2 }, () => now)
  const said = (...answering: readonly string[]) =>
    sight.note(signers.map((signer) => ({ signer, chainIds: answering.includes(signer) ? [] : undefined })))
  const told = () => {
    try {
      return sight.assertEnough()
    } catch (error) {
      return error
    }
  }
  expect(told()).toBeUndefined()
  said('0xaa')
  expect(told()).toBeUndefined()
  now += 15_001
  said('0xaa')
  expect(told()).toEqual(silent)
  said('0xaa', '0xcc')
  expect(told()).toBeUndefined()
  // Both answered a moment ago.
  said()
  expect(told()).toBeUndefined()
  now += 15_001
  // No longer the process that asks.
  expect(told()).toBeUndefined()
  said()
  expect(told()).toEqual(silent)
})
