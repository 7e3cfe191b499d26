import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { createVitest } from 'vitest/node'
import { longFiles } from './longestFirst.ts'
import { suiteFiles } from './suites.ts'

const root = dirname(dirname(import.meta.dirname))

test('every long file exists, is told once and runs in npm test', () => {
  expect(longFiles.filter((file) => !existsSync(join(root, file)))).toEqual([])
  expect(new Set(longFiles).size).toBe(longFiles.length)
  const elsewhere: readonly string[] = Object.values(suiteFiles).flat()
  expect(longFiles.filter((file) => elsewhere.includes(file))).toEqual([])
})

test('the configured order begins each project with its long files, in their order', async () => {
  const vitest = await createVitest('test', { root, watch: false, project: ['unit', 'e2e'] })
  try {
    const { sequencer: Configured } = vitest.config.sequence
    const files = await vitest.globTestSpecifications()
    const sorted = await new Configured(vitest).sort([...files].reverse())
    expect(sorted).toHaveLength(files.length)
    const names = sorted.map(({ project }) => project.name)
    expect(names.lastIndexOf('unit')).toBeLessThan(names.indexOf('e2e'))
    const first = sorted.slice(names.indexOf('e2e')).slice(0, longFiles.length)
    expect(first.map(({ moduleId }) => moduleId)).toEqual(longFiles.map((file) => join(root, file)))
  } finally {
    await vitest.close()
  }
})
