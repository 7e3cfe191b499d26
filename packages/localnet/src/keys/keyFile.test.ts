import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { generateLocalKeys } from './generateKeys.ts'
import { readKeyFile, writeKeyFile } from './keyFile.ts'
import { countingKeys } from './testKeys.ts'

const networkId = `0x${'5a'.repeat(32)}` as const
const keys = generateLocalKeys(countingKeys())
let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'causeway-keys-'))
  path = join(folder, 'keys.json')
})

afterEach(async () => {
  await rm(folder, { recursive: true })
})

describe('key file', () => {
  it('reads back what was written', async () => {
    await writeKeyFile(path, { networkId, keys })
    expect(await readKeyFile(path)).toEqual({ kind: 'read', networkId, keys })
  })

  it('is readable for its owner alone and leaves no draft', async () => {
    await writeKeyFile(path, { networkId, keys })
    expect(((await stat(path)).mode & 0o777).toString(8)).toBe('600')
    expect(await readdir(folder)).toEqual(['keys.json'])
  })

  it('is missing where there is none', async () => {
    expect(await readKeyFile(path)).toEqual({ kind: 'missing' })
  })

  it.each([
    ['half of a file', (text: string) => text.slice(0, text.length / 2)],
    ['an empty file', () => ''],
    ['other JSON', () => '{"keys": []}'],
    ['another version', (text: string) => text.replace('"version": 1', '"version": 2')],
    [
      'an address that is not the key’s',
      (text: string) => text.replace(keys.custody.address, keys.sponsor.address),
    ],
    [
      'a key above the curve’s order',
      (text: string) => text.replace(keys.keeper.privateKey, `0x${'f'.repeat(64)}`),
    ],
    ['a role that is left out', (text: string) => text.replace('"sponsor"', '"sponsors"')],
  ])('refuses %s', async (_what, damage) => {
    await writeKeyFile(path, { networkId, keys })
    await writeFile(path, damage(await readFile(path, 'utf8')))
    expect(await readKeyFile(path)).toEqual({ kind: 'unusable' })
  })

  it('refuses two roles with one key', async () => {
    await writeKeyFile(path, { networkId, keys: { ...keys, custody: keys.fillWallet } })
    expect(await readKeyFile(path)).toEqual({ kind: 'unusable' })
  })
})
