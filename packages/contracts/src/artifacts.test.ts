// Goal: the compiler runs once per content of the sources, and the committed ABIs are what it says.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { contractsFolder, loadArtifacts, readSources } from './artifacts.ts'
import { compile } from './compile.ts'
import { compilationHash } from './compilerInput.ts'
import { contractSources } from './contractNames.ts'
import { renderAbis } from './renderAbis.ts'

/** The compiler needs seconds on a quiet machine, and many of them on a busy one. */
const compiling = { timeout: 180_000 }

describe('loadArtifacts', () => {
  let cacheFolder: string
  beforeAll(async () => {
    cacheFolder = await mkdtemp(join(tmpdir(), 'causeway-contracts-'))
  })
  afterAll(() => rm(cacheFolder, { recursive: true }))

  test('reads a second time from the file that the first time wrote', compiling, async () => {
    const artifacts = await loadArtifacts(cacheFolder)
    expect(artifacts.Depository.bytecode).toMatch(/^0x[0-9a-f]{2000,}$/)
    const [file, ...others] = await readdir(cacheFolder)
    expect(others).toEqual([])

    const marked = { ...artifacts, Hub: { ...artifacts.Hub, bytecode: '0xfe' } }
    await writeFile(join(cacheFolder, String(file)), JSON.stringify(marked))
    expect((await loadArtifacts(cacheFolder)).Hub.bytecode).toBe('0xfe')
  })
})

test('the committed ABIs are those of the sources: run scripts/generateAbis.ts', compiling, async () => {
  const committed = await readFile(new URL('./abis.generated.ts', import.meta.url), 'utf8')
  expect(renderAbis(await loadArtifacts(), 'packages/contracts/contracts') === committed).toBe(true)
})

test('another source or another compiler names another compilation', async () => {
  const sources = await readSources(contractsFolder)
  const [first, ...rest] = sources
  if (first === undefined) throw new Error('no sources')
  const hashes = [
    compilationHash(sources, contractSources, '0.8.37'),
    compilationHash(sources, contractSources, '0.8.36'),
    compilationHash([{ ...first, content: `${first.content} ` }, ...rest], contractSources, '0.8.37'),
  ]
  expect(new Set(hashes).size).toBe(3)
})

test('a source that does not compile is refused with the line that is wrong', compiling, () => {
  const broken = {
    path: 'chain/Depository.sol',
    content: 'pragma solidity 0.8.37; contract Depository { uint x = "y"; }',
  }
  expect(() => compile([broken], contractSources)).toThrow(/chain\/Depository\.sol/)
})
