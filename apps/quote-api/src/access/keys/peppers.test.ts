import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigurationError, Secret } from '@causeway/core'
import { expect, onTestFinished, test } from 'vitest'
import { loadLocalPeppers, parsePeppers } from './peppers.ts'

const first = 'ab'.repeat(32)
const second = 'CD'.repeat(32)

test('the first pepper hashes, the others verify', () => {
  const { currentId, byId } = parsePeppers(new Secret(`v2:${second}; v1:${first}`))
  expect(currentId).toBe('v2')
  expect([...byId].map(([id, pepper]) => [id, Buffer.from(pepper).toString('hex')])).toEqual([
    ['v2', second.toLowerCase()],
    ['v1', first],
  ])
})

test.each([
  ['nothing', ''],
  ['no id', first],
  ['a short one', `v1:${first.slice(2)}`],
  ['one that is no hex', `v1:${'zz'.repeat(32)}`],
  ['two of one id', `v1:${first};v1:${second}`],
  ['a loose end', `v1:${first};`],
])('%s is refused without being printed', (_name, setting) => {
  const parse = () => parsePeppers(new Secret(setting))
  expect(parse).toThrow(ConfigurationError)
  expect(parse).toThrow(/API_KEY_PEPPERS/)
  expect(parse).not.toThrow(new RegExp(first.slice(0, 20)))
})

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-peppers-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

test('processes that start at the same time share one local pepper, readable by its owner alone', async () => {
  const folder = await emptyFolder()
  const loaded = await Promise.all([1, 2, 3, 4].map(() => loadLocalPeppers(folder)))
  const texts = loaded.map(({ byId }) => Buffer.from(byId.get('local') ?? []).toString('hex'))
  expect(new Set(texts).size).toBe(1)
  expect(texts[0]).toMatch(/^[0-9a-f]{64}$/)
  const file = join(folder, 'secrets/api-key.pepper')
  expect((await stat(file)).mode & 0o077).toBe(0)
  expect(await readFile(file, 'utf8')).toBe(texts[0])
})

test('a damaged local pepper is no reason to make another', async () => {
  const folder = await emptyFolder()
  await loadLocalPeppers(folder)
  await writeFile(join(folder, 'secrets/api-key.pepper'), 'abc')
  await expect(loadLocalPeppers(folder)).rejects.toThrow(/api-key.pepper is damaged/)
})
