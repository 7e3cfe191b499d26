import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { createVitest, parseCLI } from 'vitest/node'
import { filteredArguments, oneAtATime, suiteCommand, suiteFiles, suites } from './suites.ts'

const root = dirname(dirname(import.meta.dirname))

test.each(suites)('every file of %s exists, in order, and runs in no other suite', (suite) => {
  const files: readonly string[] = suiteFiles[suite]
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([])
  expect(files).toEqual(files.toSorted())
  const others: readonly string[] = suites
    .filter((other) => other !== suite)
    .flatMap((other) => suiteFiles[other])
  expect(files.filter((file) => others.includes(file))).toEqual([])
})

test('O-134: every suite is run by its name, and no more than 20 scripts are there', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  expect(Object.keys(scripts).length).toBeLessThanOrEqual(20)
  const own = Object.keys(scripts).filter((name) => name.startsWith('test:'))
  const named = suites.filter((suite) => own.includes(`test:${suite}`))
  expect(own.sort()).toEqual(['test:all', 'test:mutation', ...named.map((suite) => `test:${suite}`)].sort())
  for (const suite of named) expect(scripts[`test:${suite}`]).toContain(`scripts/test.ts --suite=${suite}`)
  expect(suites.map(suiteCommand)).toEqual(
    suites.map((suite) => (named.includes(suite) ? `npm run test:${suite}` : `npm test -- --suite=${suite}`)),
  )
})

test('O-134: a suite that is none is refused with the names of all', () => {
  const words = ['--conditions=source', join(root, 'scripts/test.ts'), '--suite=alert']
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8' })
  expect([status, stdout]).toEqual([2, ''])
  expect(stderr).toContain(`--suite: expected one of ${suites.join(', ')}, bitcoind.`)
})

test.each([
  [['packages/core'], ['--project', 'unit', 'packages/core/']],
  [
    ['apps/oracle/', 'packages/core'],
    ['--project', 'unit', 'apps/oracle/', 'packages/core/'],
  ],
  [
    ['packages/core', '-t', 'rounds down'],
    ['--project', 'unit', 'packages/core/', '-t', 'rounds down'],
  ],
])('folders of packages stand for their unit tests: %j', (words, args) => {
  expect(filteredArguments(words)).toEqual(args)
})

test.each([
  [['packages/core/test']],
  [['settlement']],
  [['test/demo.test.ts']],
  [['packages/core', 'apps/oracle/test/faultyPeers.test.ts']],
])('other words run what they name, of any suite: %j', (words) => {
  expect(filteredArguments(words)).toEqual(words)
})

test('files that are tried again run one at a time, whatever their project allows', async () => {
  const { options } = parseCLI(['vitest', 'run', oneAtATime])
  const vitest = await createVitest('test', { ...options, root, watch: false })
  try {
    expect(vitest.projects.map(({ config }) => config.maxWorkers)).toEqual(vitest.projects.map(() => 1))
  } finally {
    await vitest.close()
  }
})
