import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { createVitest, parseCLI } from 'vitest/node'
import { filteredArguments, oneAtATime, suiteArguments, suiteFiles, suites } from './suites.ts'

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

test('the faults bring the long sizes of files that run elsewhere', () => {
  const words = suiteArguments('faults', () => ['test/a.test.ts', suiteFiles.faults[0]])
  expect(words).toEqual([...suiteFiles.faults, 'test/a.test.ts'])
})

test('no other suite reads files for it', () => {
  const never = () => expect.unreachable()
  expect(suiteArguments('clients', never)).toEqual(['--project', 'clients'])
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
