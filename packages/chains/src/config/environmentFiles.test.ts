// Goal: whoever mistypes ENVIRONMENT is told so, with the right ones; every other file that fails is named with why, and
// nothing of its content, which may hold the key of an endpoint.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFindings } from '@causeway/core/config'
import { expect, onTestFinished, test } from 'vitest'
import { readEnvironmentFiles } from './environmentFiles.ts'
import { fillInByDeploying, fillInByHand } from './unfilled.ts'

async function directoryWith(files: Readonly<Record<string, string>>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-files-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text)
  return directory
}

async function read(directory: string, environment: string, names: readonly string[]) {
  const found = createFindings()
  const files = await readEnvironmentFiles({ directory, environment }, names, found)
  return { files, problems: found.list.map(({ seen }) => seen), codes: found.list.map(({ code }) => code) }
}

test('files are read in the order of their names, of their environment alone', async () => {
  const directory = await directoryWith({
    'chains.own.json': '{"a":1}',
    'quote.own.json': '[2]',
    'chains.local.json': 'x',
  })
  expect(await read(directory, 'own', ['quote', 'chains'])).toMatchObject({
    files: [[2], { a: 1 }],
    problems: [],
  })
})

test('every file that cannot be read is named, with why and without its text', async () => {
  const directory = await directoryWith({
    'chains.own.json': '{"a":1}',
    'half.own.json': '{"httpRpcUrl":"https://canary.example/key"',
    'comma.own.json': '{"a":1,}',
    'unquoted.own.json': '{"key": canary}',
  })
  await mkdir(join(directory, 'folder.own.json'))
  const names = ['missing', 'chains', 'half', 'comma', 'unquoted', 'folder']
  const { files, problems } = await read(directory, 'own', names)
  expect(files).toEqual([undefined, { a: 1 }, undefined, undefined, undefined, undefined])
  expect(problems).toEqual([
    'missing.own.json: does not exist (causeway config draft writes one)',
    expect.stringMatching(/^half\.own\.json: is no JSON \(.+\)$/),
    'comma.own.json: is no JSON (at character 7)',
    'unquoted.own.json: is no JSON',
    'folder.own.json: cannot be opened (EISDIR)',
  ])
  expect(problems.join()).not.toContain('canary')
})

test('an ENVIRONMENT without files is named as such, once, with those that have some', async () => {
  const directory = await directoryWith({
    'chains.own.json': '{}',
    'chains.hub.other.json': '{}',
    'chains.mainnets.prod.json': '{}',
  })
  const { files, problems, codes } = await read(directory, 'mainnet.prod', ['chains', 'chains.hub', 'quote'])
  expect(files).toEqual([undefined, undefined, undefined])
  expect(codes).toEqual(['environment-unknown'])
  expect(problems).toEqual([
    `ENVIRONMENT is mainnet.prod, and chains.mainnet.prod.json is not in ${directory}; known: mainnets.prod, own`,
  ])
  // An environment is one with a chain file, whichever files are wanted.
  expect((await read(directory, 'mainnet.prod', ['quote'])).problems).toEqual(problems)
})

test('a CONFIG_DIR that is no folder is named as such', async () => {
  const { problems } = await read('/nowhere/at/all', 'own', ['chains', 'quote'])
  expect(problems).toEqual(['CONFIG_DIR: the folder /nowhere/at/all cannot be listed'])
})

test('O-101: each place that is to be filled in is named in words, and its file is not taken for one that is', async () => {
  const depository = fillInByDeploying('the depository on base')
  const directory = await directoryWith({
    'chains.own.json': JSON.stringify({ chains: [{ id: 'base', depository }, { id: 'optimism' }] }),
    'quote.own.json': JSON.stringify({ chains: { base: { fillContract: fillInByDeploying('a contract') } } }),
    'solver.own.json': '{"whole":true}',
    'allocator.own.json': JSON.stringify({ firstBlock: fillInByHand('a block') }),
  })
  const found = createFindings()
  const names = ['chains', 'quote', 'solver', 'allocator']
  const files = await readEnvironmentFiles({ directory, environment: 'own' }, names, found)
  expect(files).toEqual([undefined, undefined, { whole: true }, undefined])
  expect(found.list).toMatchObject([
    {
      code: 'configuration-unfilled',
      severity: 'stops',
      setting: 'chains.own.json: chains[0].depository',
      seen: 'fill in by contracts deploy: the address of the depository on base',
      fix: expect.stringContaining('contracts deploy'),
    },
    { setting: 'quote.own.json: chains.base.fillContract' },
    {
      setting: 'allocator.own.json: firstBlock',
      seen: 'fill in by hand: a block',
      fix: expect.stringContaining('files-of-your-own'),
    },
  ])
})

test('O-101: the command that deploys reads what it fills in itself, and asks for the rest', async () => {
  const directory = await directoryWith({
    'chains.own.json': JSON.stringify({ chains: [{ depository: fillInByDeploying('the depository') }] }),
    'quote.own.json': JSON.stringify({ chains: { base: { fillContract: fillInByDeploying('it'), id: 1 } } }),
    'chains.hub.own.json': JSON.stringify([{ a: fillInByDeploying('it'), b: fillInByHand('a number') }]),
  })
  const found = createFindings()
  const names = ['chains', 'quote', 'chains.hub']
  const folder = { directory, environment: 'own', isDeploying: true }
  expect(await readEnvironmentFiles(folder, names, found)).toEqual([
    { chains: [{ depository: `0x${'0'.repeat(40)}` }] },
    { chains: { base: { id: 1 } } },
    undefined,
  ])
  expect(found.list.map(({ setting }) => setting)).toEqual(['chains.hub.own.json: [0].b'])
})
