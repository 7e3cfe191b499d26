import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { suites } from '../testRunner/suites.ts'
import { readStages } from './containers.ts'

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

const packageJson = (): unknown => JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

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

  test('every suite that `npm test` leaves out is a job', () => {
    const text = readFileSync(join(folder, 'suites.yml'), 'utf8')
    const { jobs } = workflowSchema.parse(parse(text))
    const scripts = Object.keys(
      z.object({ scripts: z.record(z.string(), z.string()) }).parse(packageJson()).scripts,
    )
    const sharded = jobs['short']?.strategy.matrix['suite'] ?? []
    const commands = Object.values(jobs).flatMap((job) => job.steps.flatMap((step) => step.run ?? []))
    const alone = suites.filter((suite) => commands.some((run) => run.startsWith(`npm run test:${suite}`)))
    expect([...sharded, ...alone].sort()).toEqual([...suites].sort())
    expect(scripts).toEqual(expect.arrayContaining(suites.map((suite) => `test:${suite}`)))
  })

  test('actions are pinned by commit', () => {
    const texts = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'))
    const used = texts.flatMap((text) => text.match(/uses: .*/g) ?? [])
    expect(used.length).toBeGreaterThan(0)
    for (const line of used) expect(line).toMatch(/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })

  test('every image is built, and its packages and those of Debian are looked up in lists of weaknesses', () => {
    const { jobs } = workflowSchema.parse(parse(readFileSync(join(folder, 'images.yml'), 'utf8')))
    const stages = readStages(readFileSync(join(root, 'docker/Dockerfile'), 'utf8')).stages
    const services = stages.filter(({ instructions }) =>
      instructions.some(({ keyword }) => keyword === 'CMD'),
    )
    expect(jobs['build']?.strategy.matrix['service']).toEqual(services.map(({ name }) => name))
    const commandsOf = (job: string) => (jobs[job]?.steps ?? []).map(({ run = '' }) => run).join('\n')
    expect(commandsOf('build')).toMatch(/docker build [\s\S]*debsecan .*--only-fixed[\s\S]*test ! -s/)
    expect(commandsOf('packages')).toMatch(/npm run sbom[\s\S]*audit --prod/)
    const folders = jobs['manifests']?.strategy.matrix['folder'] ?? []
    expect(folders.filter((path) => existsSync(join(root, path, 'kustomization.yaml')))).toHaveLength(2)
  })

  test('the package asks for the Node version that CI starts with', () => {
    const { engines } = z.object({ engines: z.object({ node: z.string() }) }).parse(packageJson())
    expect(engines.node).toBe('>=20.19')
  })
})
