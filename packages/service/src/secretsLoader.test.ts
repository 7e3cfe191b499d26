import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { defaultSecretsDirectory, findForeignKeys, loadSecrets } from './secretsLoader.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'causeway-secrets-'))
})
afterEach(async () => {
  await rm(directory, { recursive: true })
})

test('files complete the environment, which wins', async () => {
  await writeFile(join(directory, 'b'), 'RPC_URL=from-file\nKEY=from-file\n')
  await writeFile(join(directory, 'a'), "export API_KEYS='k:l;m:n'\n")
  const environment = { KEY: 'from-environment', PATH: '/bin', UNSET: undefined }
  expect(await loadSecrets({ environment, directory })).toEqual({
    API_KEYS: 'k:l;m:n',
    RPC_URL: 'from-file',
    KEY: 'from-environment',
    PATH: '/bin',
  })
})

test('O-140: SECRETS_DIR names another place than the default, and is a default itself when it is blank', async () => {
  await writeFile(join(directory, 'a'), 'KEY=from-file')
  expect(await loadSecrets({ environment: { SECRETS_DIR: directory } })).toMatchObject({ KEY: 'from-file' })
  expect(defaultSecretsDirectory).toBe('/vault/secrets')
  const blank = await loadSecrets({ environment: { SECRETS_DIR: ' ' } })
  expect(blank).toEqual(await loadSecrets({ environment: {}, directory: '/vault/secrets' }))
})

test('a variable that is present but unset is completed', async () => {
  await writeFile(join(directory, 'a'), 'KEY=from-file')
  expect(await loadSecrets({ environment: { KEY: undefined }, directory })).toEqual({ KEY: 'from-file' })
})

test.each(['', ' ', '\t'])('O-140: an environment variable of %j hides no secret', async (blank) => {
  await writeFile(join(directory, 'a'), 'ECDSA_PRIVATE_KEY=0x01\nAPI_KEYS=k:l\n')
  const environment = { ECDSA_PRIVATE_KEY: blank, API_KEYS: blank, PORT: blank }
  expect(await loadSecrets({ environment, directory })).toEqual({
    ECDSA_PRIVATE_KEY: '0x01',
    API_KEYS: 'k:l',
  })
})

test('an empty line of one file hides no secret of another', async () => {
  await writeFile(join(directory, 'a'), 'API_KEYS=\n')
  await writeFile(join(directory, 'b'), 'API_KEYS=k:l\n')
  await writeFile(join(directory, 'c'), "API_KEYS=''\n")
  expect(await loadSecrets({ environment: {}, directory })).toEqual({ API_KEYS: 'k:l' })
})

test('directories are skipped and links to files are followed', async () => {
  await mkdir(join(directory, '..data'))
  await writeFile(join(directory, '..data', 'app'), 'KEY=1')
  await symlink(join('..data', 'app'), join(directory, 'app'))
  expect(await loadSecrets({ environment: {}, directory })).toEqual({ KEY: '1' })
})

test('no directory is no secrets, something else in its place refuses the start', async () => {
  expect(await loadSecrets({ environment: { A: '1' }, directory: join(directory, 'none') })).toEqual({
    A: '1',
  })
  await writeFile(join(directory, 'file'), '')
  await expect(loadSecrets({ environment: {}, directory: join(directory, 'file') })).rejects.toThrow(
    ConfigurationError,
  )
})

test('files that disagree or are malformed refuse the start by name', async () => {
  await writeFile(join(directory, 'a'), 'KEY=1')
  await writeFile(join(directory, 'b'), 'KEY=1')
  expect(await loadSecrets({ environment: {}, directory })).toEqual({ KEY: '1' })
  await writeFile(join(directory, 'b'), 'KEY=2')
  await expect(loadSecrets({ environment: {}, directory })).rejects.toThrow('the secrets file b')
  await writeFile(join(directory, 'b'), 'not a line')
  await expect(loadSecrets({ environment: {}, directory })).rejects.toThrow('line 1 of the secrets file b')
})

test.each([
  ['ALLOCATOR_ECDSA_PRIVATE_KEY'],
  ['ALLOCATOR_ECDSA_PRIVATE_KEY_FILE'],
  ['ALLOCATOR_ED25519_PRIVATE_KEY'],
  ['ALLOCATOR_ED25519_PRIVATE_KEY_FILE'],
  ['ALLOCATOR_AWS_KMS_SIGNER_KEY_ID'],
])('L-99: %s is taken by the allocator alone', (name) => {
  const environment = { [name]: 'secret' }
  expect(findForeignKeys('allocator', environment)).toEqual([])
  expect(findForeignKeys('other', environment)).toEqual([expect.stringContaining(`${name} is `)])
  expect(findForeignKeys('other', environment).join()).not.toContain('secret')
  expect(findForeignKeys('other', { [name]: ' ' })).toEqual([])
})

test('custody’s key is in no service', () => {
  for (const name of ['CUSTODY_PRIVATE_KEY', 'CUSTODY_PRIVATE_KEY_FILE']) {
    for (const service of ['allocator', 'other'] as const) {
      expect(findForeignKeys(service, { [name]: 'secret' })).toEqual([expect.stringContaining(name)])
    }
  }
})
