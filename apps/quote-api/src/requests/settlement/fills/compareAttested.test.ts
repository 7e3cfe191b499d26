// Goal: a debit counts as proven only by enough allowed signatures over exactly its own message, to the last unit.
// Adversary: whoever can write rows and debits a sponsor for nothing, for another order, or one unit more.
import { createHash } from 'node:crypto'
import type { Hex } from '@causeway/core'
import { recoverSigner } from '@causeway/signer'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { judgeDebit } from './compareAttested.ts'

const digestOf = (name: string): Hex => `0x${createHash('sha256').update(name).digest('hex')}`
const accountOf = (name: string) => privateKeyToAccount(digestOf(name))
const messageId = digestOf('message of the fill')
const other = digestOf('message of another order')
const amount = 1_234_567n
// CAST: addresses are hex in any case.
const allowed = ['one', 'two', 'three'].map((name) => ({
  signer: accountOf(name).address.toLowerCase() as Hex,
}))
const rules = { oracles: allowed, threshold: 2, recover: recoverSigner }

async function evidenceOf(names: readonly string[], signed: Hex = messageId, named: Hex = messageId) {
  const signatures = await Promise.all(
    names.map(async (name) => ({
      signature: await accountOf(name).signMessage({ message: { raw: signed } }),
    })),
  )
  return { kind: 'solver-fill', messageId: named, signatures }
}

test('O-197: enough allowed signatures over the own message prove the amount that was quoted', async () => {
  const evidence = await evidenceOf(['one', 'two'])
  expect(judgeDebit({ amount, evidence, messageId, debitMicroUsd: amount }, rules)).toBeUndefined()
})

test.each([
  ['more', 1n],
  ['less', -1n],
])('one unit %s than was quoted is a difference of one unit', async (_word, unit) => {
  const evidence = await evidenceOf(['one', 'two'])
  expect(judgeDebit({ amount: amount + unit, evidence, messageId, debitMicroUsd: amount }, rules)).toEqual({
    problem: 'amount',
    differenceMicroUsd: 1n,
  })
})

test.each<[string, () => Promise<unknown>, string]>([
  ['one signature of two', () => evidenceOf(['one']), 'signatures'],
  ['one signer twice', () => evidenceOf(['one', 'one']), 'signatures'],
  ['a signer that nobody listed', () => evidenceOf(['one', 'stranger']), 'signatures'],
  ['signatures over another message', () => evidenceOf(['one', 'two'], other), 'signatures'],
  ['a proof of another order', () => evidenceOf(['one', 'two'], other, other), 'message'],
  ['no proof', async () => null, 'message'],
  [
    'words in place of signatures',
    async () => ({ kind: 'solver-fill', messageId, signatures: [{ signature: '0x' }] }),
    'signatures',
  ],
])('O-197: %s proves nothing of it', async (_what, evidence, problem) => {
  const posted = { amount, evidence: await evidence(), messageId, debitMicroUsd: amount }
  expect(judgeDebit(posted, rules)).toEqual({ problem, differenceMicroUsd: amount })
})

test('a debit whose fill cannot be shown is unproven, whatever is signed', async () => {
  const evidence = await evidenceOf(['one', 'two'])
  const posted = { amount, evidence, messageId: undefined, debitMicroUsd: amount }
  expect(judgeDebit(posted, rules)).toEqual({ problem: 'message', differenceMicroUsd: amount })
})
