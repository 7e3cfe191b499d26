// Goal: an operator learns of a key that cannot be used, lies open or is not the one that is meant, and of none its digits.
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFindings } from '@causeway/core/config'
import { afterAll, expect, test } from 'vitest'
import { examineKeySetting, examineSigningKey } from './examineKey.ts'
import { parsePrivateKey } from './privateKey.ts'
import { createRawKeySigner } from './rawKeySigner.ts'

const key = `0x${'5a'.repeat(32)}`
const { address } = createRawKeySigner({ privateKey: parsePrivateKey(key, 'key') })
const folder = mkdtempSync(join(tmpdir(), 'causeway-key-'))
afterAll(() => rmSync(folder, { recursive: true }))

function fileWith(text: string, mode: number): string {
  const path = join(folder, `${mode.toString(8)}-${text.length}`)
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

async function examine(environment: Readonly<Record<string, string>>) {
  const found = createFindings()
  const readFile = (path: string) => readFileSync(path, 'utf8')
  const modeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.mode
  const signer = await examineSigningKey({ environment, readFile, modeOf }, found)
  const second = examineKeySetting('ED25519_PRIVATE_KEY', { environment, readFile, modeOf }, found)
  expect(JSON.stringify(found.list)).not.toMatch(/(5a){8}|canary/)
  return { signer, second, list: found.list.map(({ code, severity, setting }) => [code, severity, setting]) }
}

test('a key that nobody else may read is told with its address', async () => {
  const { signer, list } = await examine({ ECDSA_PRIVATE_KEY_FILE: fileWith(`${key}\n`, 0o400) })
  expect(signer).toBe(address)
  expect(list).toEqual([['key-read', 'note', 'ECDSA_PRIVATE_KEY']])
})

test('a key that every account of the machine may read is used and told', async () => {
  const { signer, list } = await examine({
    ECDSA_PRIVATE_KEY_FILE: fileWith(key, 0o444),
    ED25519_PRIVATE_KEY_FILE: fileWith(key, 0o644),
  })
  expect(signer).toBeDefined()
  expect(list).toEqual([
    ['key-exposed', 'degrades', 'ECDSA_PRIVATE_KEY_FILE'],
    ['key-read', 'note', 'ECDSA_PRIVATE_KEY'],
    ['key-exposed', 'degrades', 'ED25519_PRIVATE_KEY_FILE'],
  ])
})

test.each([
  ['none', {}, 'ECDSA_PRIVATE_KEY'],
  ['a file that is missing', { ECDSA_PRIVATE_KEY_FILE: '/nowhere/canary' }, 'ECDSA_PRIVATE_KEY_FILE'],
  ['one in two places', { ECDSA_PRIVATE_KEY: key, ECDSA_PRIVATE_KEY_FILE: '/x' }, 'ECDSA_PRIVATE_KEY'],
  ['one that is no key', { ECDSA_PRIVATE_KEY: 'canary' }, 'ECDSA_PRIVATE_KEY'],
  ['one of a service that is not named', { SIGNING_MODULE: 'aws-kms' }, 'AWS_KMS_SIGNER_KEY_ID'],
  ['a module that nobody knows', { SIGNING_MODULE: 'canary-7f3a9b2c5d41' }, 'SIGNING_MODULE'],
])('%s stops the start by its setting', async (_what, environment, setting) => {
  const { signer, list } = await examine(environment)
  expect(signer).toBeUndefined()
  expect(list).toEqual([['key-wrong', 'stops', setting]])
})

test('two modules in one environment contradict each other', async () => {
  const { list } = await examine({ ECDSA_PRIVATE_KEY: key, AWS_KMS_SIGNER_KEY_ID: 'alias/canary' })
  expect(list).toContainEqual(['setting-contradicts', 'degrades', 'AWS_KMS_SIGNER_KEY_ID'])
})
