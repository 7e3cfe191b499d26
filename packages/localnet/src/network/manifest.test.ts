import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readManifest, releaseOf, writeManifest } from './manifest.ts'
import { testDeployment } from './testDeployment.ts'

const manifest = {
  networkId: `0x${'07'.repeat(32)}`,
  deploymentHash: 'abc',
  deployment: testDeployment(),
} as const
let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'causeway-manifest-'))
  path = join(folder, 'manifest.json')
})

afterEach(async () => {
  await rm(folder, { recursive: true })
})

describe('manifest', () => {
  it('reads back what was written', async () => {
    await writeManifest(path, manifest)
    expect(await readManifest(path)).toEqual({ kind: 'read', ...manifest })
  })

  it('O-102: names the release that made the network', async () => {
    expect(await releaseOf(path)).toBe('unknown')
    await writeManifest(path, { ...manifest, release: '0.4.1' })
    expect([await releaseOf(path), await readManifest(path)]).toEqual([
      '0.4.1',
      { kind: 'read', ...manifest, release: '0.4.1' },
    ])
    const foreign = JSON.stringify({ release: '../up', deployment: { hub: {} } })
    await writeFile(path, foreign)
    expect(await releaseOf(path)).toBe('unknown')
  })

  it('is missing where there is none', async () => {
    expect(await readManifest(path)).toEqual({ kind: 'missing' })
  })

  it.each([
    ['half of a file', (text: string) => text.slice(0, 400)],
    ['a contract that is left out', (text: string) => text.replace('"depository"', '"depot"')],
    ['another version', (text: string) => text.replace('"version": 1', '"version": 9')],
  ])('refuses %s', async (_what, damage) => {
    await writeManifest(path, manifest)
    await writeFile(path, damage(await readFile(path, 'utf8')))
    expect(await readManifest(path)).toEqual({ kind: 'unusable' })
  })
})
