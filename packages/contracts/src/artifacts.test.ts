// Goal: the compiler runs once per content of the sources, and the committed ABIs are what it says.
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { contractsFolder, loadArtifacts, readSources } from './artifacts.ts'
import { codeHashOf } from './codeHash.ts'
import { compile } from './compile.ts'
import { compilationHash, type SoliditySource } from './compilerInput.ts'
import { contractSources } from './contractNames.ts'
import { earlierCodes } from './earlierCodes.ts'
import { renderAbis } from './renderAbis.ts'
import { deployedNames, renderCodes } from './renderCodes.ts'

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

// Compiled anew: what a cache holds could be anybody's.
test(
  'O-121: the committed codes and hashes are what the sources give, byte for byte',
  compiling,
  async () => {
    const committed = await readFile(new URL('./codes.generated.ts', import.meta.url), 'utf8')
    const artifacts = compile(await readSources(contractsFolder), contractSources)
    expect(renderCodes(artifacts) === committed).toBe(true)
  },
)

/** The sources of the commit that made a release; none where the clone does not go back to it. */
async function sourcesOfRelease(version: string): Promise<readonly SoliditySource[]> {
  const run = promisify(execFile)
  const git = async (...words: readonly string[]) =>
    (await run('git', words, { cwd: contractsFolder })).stdout.split('\n').filter((line) => line !== '')
  const [isShallow] = await git('rev-parse', '--is-shallow-repository').catch(() => ['true'])
  if (isShallow === 'true') return []
  const [commit] = await git(
    ...['log', '--reverse', '--format=%H', `-S"version": "${version}"`, '--', ':/package.json'],
  )
  if (commit === undefined) return []
  const paths = (await git('ls-tree', '-r', '--name-only', commit)).filter((path) => path.endsWith('.sol'))
  return Promise.all(
    paths.map(async (path) => ({
      path,
      content: (await run('git', ['show', `${commit}:./${path}`], { cwd: contractsFolder })).stdout,
    })),
  )
}

test(
  'O-121: the codes of 0.2.0 are what its sources give, where the clone has them',
  compiling,
  async ({ skip }) => {
    const sources = await sourcesOfRelease('0.2.0')
    skip(sources.length === 0, 'the clone has no history')
    const artifacts = compile(sources, contractSources)
    const fixture = new URL('../test/fixtures/fillContract-0.2.0.hex', import.meta.url)
    expect(artifacts.FillContract.bytecode === (await readFile(fixture, 'utf8')).trim()).toBe(true)
    const given = earlierCodes.map(({ name }) => {
      const { runtimeBytecode, immutables } = artifacts[name]
      return { name, codeHash: codeHashOf(runtimeBytecode, immutables), immutables }
    })
    expect(given).toEqual(earlierCodes)
  },
)

describe('every contract of the folder', () => {
  /** Made by contracts that are deployed, where nobody else can put them. */
  const inner = ['DepositSweep', 'OrderClone', 'PermittedCalls', 'PermittedDeposit']
  const contractsOf = async () =>
    (await readSources(contractsFolder)).flatMap(({ path, content }) =>
      [...content.matchAll(/^contract (\w+)/gm)].map(([, name = '']) => ({ name, path, content })),
    )

  test('is named with its source, and is deployed or made by one that is', async () => {
    const found = (await contractsOf()).map(({ name, path }) => [name, path])
    expect(Object.fromEntries(found)).toEqual(contractSources)
    expect(new Set([...deployedNames, ...inner])).toEqual(new Set(Object.keys(contractSources)))
  })

  test.each(inner)('%s is made by one deployed contract', async (name) => {
    const making = [`new ${name}(`, `new ${name}{`, `type(${name}).creationCode`]
    const makers = (await contractsOf()).filter(({ content }) =>
      making.some((words) => content.includes(words)),
    )
    expect(makers).toHaveLength(1)
    expect(deployedNames).toContain(makers[0]?.name)
  })
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
