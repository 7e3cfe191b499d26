import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import { expect, onTestFinished, test } from 'vitest'
import { readConfigFiles } from './readConfigFiles.ts'

async function directoryWith(files: Readonly<Record<string, string>>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-files-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text)
  return directory
}

test('files are read in the order of their names', async () => {
  const directory = await directoryWith({ 'a.json': '{"a":1}', 'b.json': '[2]' })
  expect(await readConfigFiles(directory, ['b.json', 'a.json'])).toEqual([[2], { a: 1 }])
})

test('every file that cannot be read is named, with why', async () => {
  const directory = await directoryWith({ 'a.json': '{"a":1}', 'half.json': '{"a":' })
  const failed = readConfigFiles(directory, ['missing.json', 'a.json', 'half.json', '.'])
  await expect(failed).rejects.toThrow(ConfigurationError)
  await expect(failed).rejects.toThrow(
    /is ENVIRONMENT right\?\n- missing\.json: does not exist\n- half\.json: is no JSON \(.+\)\n- \.: cannot be opened \(EISDIR\)$/,
  )
})
