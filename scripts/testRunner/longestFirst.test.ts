import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { createVitest } from 'vitest/node'
import { longFiles } from './longestFirst.ts'
import { suiteFiles } from './suites.ts'

const root = dirname(dirname(import.meta.dirname))

test('every long file exists and is told once', () => {
  expect(longFiles.filter((file) => !existsSync(join(root, file)))).toEqual([])
  expect(new Set(longFiles).size).toBe(longFiles.length)
})

test('the configured order begins each project with its long files, in their order', async () => {
  const vitest = await createVitest('test', { root, watch: false, project: ['unit', 'e2e', 'faults'] })
  try {
    const { sequencer: Configured } = vitest.config.sequence
    const files = await vitest.globTestSpecifications()
    const sorted = await new Configured(vitest).sort([...files].reverse())
    expect(sorted).toHaveLength(files.length)
    const names = sorted.map(({ project }) => project.name)
    expect(names.lastIndexOf('unit')).toBeLessThan(names.indexOf('e2e'))
    for (const project of ['e2e', 'faults']) {
      const own = sorted.filter((_, index) => names[index] === project).map(({ moduleId }) => moduleId)
      const long = longFiles.map((file) => join(root, file)).filter((file) => own.includes(file))
      expect(long.length).toBeGreaterThan(5)
      expect(own.slice(0, long.length)).toEqual(long)
    }
  } finally {
    await vitest.close()
  }
})

test('shards are together every file of a suite, each once, whatever this machine remembers', async () => {
  const shards = await Promise.all(
    [1, 2, 3].map(async (index) => {
      const vitest = await createVitest('test', {
        root,
        watch: false,
        project: 'families',
        shard: `${index}/3`,
      })
      try {
        const { sequencer: Configured } = vitest.config.sequence
        const sharded = await new Configured(vitest).shard(
          (await vitest.globTestSpecifications()).toReversed(),
        )
        return sharded.map(({ moduleId }) => relative(root, moduleId))
      } finally {
        await vitest.close()
      }
    }),
  )
  expect(shards.flat().toSorted()).toEqual([...suiteFiles.families])
  for (const [index, shard] of shards.entries()) {
    // The longest three begin a shard each.
    expect(shard[0]).toBe(longFiles.filter((file) => suiteFiles.families.some((own) => own === file))[index])
  }
})
