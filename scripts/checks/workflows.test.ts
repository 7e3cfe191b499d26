import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const folder = join(root, '.github', 'workflows')

const workflowSchema = z.object({
  name: z.string(),
  permissions: z.object({ contents: z.literal('read') }).strict(),
  concurrency: z.object({ group: z.string(), 'cancel-in-progress': z.literal(true) }),
  jobs: z.record(
    z.string(),
    z.object({
      'timeout-minutes': z.number(),
      strategy: z.object({ matrix: z.record(z.string(), z.array(z.string())) }),
      steps: z.array(z.object({ uses: z.string().optional(), run: z.string().optional() })),
    }),
  ),
})

describe('workflows', () => {
  test('every workflow is valid YAML, may only read, and cancels older runs', () => {
    const files = readdirSync(folder)
    expect(files).toContain('ci.yml')
    for (const file of files) workflowSchema.parse(parse(readFileSync(join(folder, file), 'utf8')))
  })

  test('CI runs the command of .ci/run, on the floor and on every newer Node with long support', () => {
    const { jobs } = workflowSchema.parse(parse(readFileSync(join(folder, 'ci.yml'), 'utf8')))
    const commands = Object.values(jobs).flatMap((job) => job.steps.flatMap((step) => step.run ?? []))
    expect(commands).toEqual(['npm test'])
    expect(readFileSync(join(root, '.ci', 'run'), 'utf8')).toMatch(/^npm test$/m)
    expect(jobs['test']?.strategy.matrix['node']).toEqual(['20', '22', '24', '26'])
  })

  test('the package asks for the Node version that CI starts with', () => {
    const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(engines.node).toBe('>=20.19')
  })
})
