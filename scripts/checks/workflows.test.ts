import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { suiteCommand, suites } from '../testRunner/suites.ts'
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
      permissions: z.record(z.string(), z.string()).optional(),
      'timeout-minutes': z.number(),
      strategy: z.object({ matrix: z.record(z.string(), z.array(z.string())) }),
      steps: z.array(
        z.object({
          uses: z.string().optional(),
          run: z.string().optional(),
          env: z.record(z.string(), z.string()).default({}),
        }),
      ),
    }),
  ),
})

/** The images of the Dockerfile: stages that run something. */
const services = readStages(readFileSync(join(root, 'docker/Dockerfile'), 'utf8'))
  .stages.filter(({ instructions }) => instructions.some(({ keyword }) => keyword === 'CMD'))
  .map(({ name }) => name)

const packageJson = (): unknown => JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

describe('workflows', () => {
  test('every workflow is valid YAML, may only read, and cancels older runs', () => {
    const files = readdirSync(folder)
    expect(files).toContain('ci.yml')
    const mayMore = files.filter((file) => {
      const { jobs } = workflowSchema.parse(parse(readFileSync(join(folder, file), 'utf8')))
      return Object.values(jobs).some(({ permissions }) => permissions !== undefined)
    })
    expect(mayMore).toEqual(['release.yml'])
  })

  test('CI runs the command of .ci/run, begun by the oldest Node that can and by the line that is pinned', () => {
    const { jobs } = workflowSchema.parse(parse(readFileSync(join(folder, 'ci.yml'), 'utf8')))
    const commands = Object.values(jobs).flatMap((job) => job.steps.flatMap((step) => step.run ?? []))
    expect(commands).toEqual(['npm test'])
    expect(readFileSync(join(root, '.ci', 'run'), 'utf8')).toMatch(/^npm test$/m)
    expect(jobs['test']?.strategy.matrix['node']).toEqual(['20.19', '26'])
  })

  test('every suite that `npm test` leaves out is a job', () => {
    const text = readFileSync(join(folder, 'suites.yml'), 'utf8')
    const { jobs } = workflowSchema.parse(parse(text))
    const sharded = jobs['short']?.strategy.matrix['suite'] ?? []
    const commands = Object.values(jobs).flatMap((job) => job.steps.flatMap((step) => step.run ?? []))
    const alone = suites.filter((suite) => commands.some((run) => run.startsWith(suiteCommand(suite))))
    expect([...sharded, ...alone].sort()).toEqual([...suites].sort())
  })

  test('actions are pinned by commit', () => {
    const texts = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'))
    const used = texts.flatMap((text) => text.match(/uses: .*/g) ?? [])
    expect(used.length).toBeGreaterThan(0)
    for (const line of used) expect(line).toMatch(/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })

  test('every image is built, and its packages and those of Debian are looked up in lists of weaknesses', () => {
    const { jobs } = workflowSchema.parse(parse(readFileSync(join(folder, 'images.yml'), 'utf8')))
    expect(jobs['build']?.strategy.matrix['service']).toEqual(services)
    const commandsOf = (job: string) => (jobs[job]?.steps ?? []).map(({ run = '' }) => run).join('\n')
    expect(commandsOf('build')).toMatch(/docker build [\s\S]*debsecan .*--only-fixed[\s\S]*test ! -s/)
    expect(commandsOf('packages')).toMatch(/npm run tools -- sbom[\s\S]*audit --prod/)
    const folders = jobs['manifests']?.strategy.matrix['folder'] ?? []
    expect(folders.filter((path) => existsSync(join(root, path, 'kustomization.yaml')))).toHaveLength(2)
  })

  test('the package asks for the oldest Node that CI starts with', () => {
    const { engines } = z.object({ engines: z.object({ node: z.string() }) }).parse(packageJson())
    expect(engines.node).toBe('>=20.19')
  })
})

/** Gaps in a release workflow: facts that an operator could not verify, or ways for others to publish an image. */
function doubtsAboutRelease(text: string): readonly string[] {
  const { on, jobs } = workflowSchema.extend({ on: z.unknown() }).parse(parse(text))
  const { images, ...others } = jobs
  const steps = images?.steps ?? []
  const place = (pattern: RegExp) => steps.findIndex(({ run = '' }) => pattern.test(run))
  const tag = place(/^test "\$GITHUB_REF_NAME" = "v\$\(node -p .*\.version'\)"$/)
  const build = place(
    /docker buildx build [^\n]*\\\n +--provenance mode=max --sbom true --push [\s\S]*--metadata-file [\s\S]*containerimage\.digest[\s\S]*"image=\$image@\$digest" >> /,
  )
  const sign = place(
    /^cosign sign --yes "\$IMAGE"\ncosign verify --certificate-oidc-issuer \S+ \\\n +--certificate-identity "\S+@\$GITHUB_REF" "\$IMAGE"\n/,
  )
  const used = steps.flatMap(({ uses }) => uses ?? [])
  const holds: Readonly<Record<string, boolean>> = {
    'runs for what is no release': JSON.stringify(on) === '{"push":{"tags":["v*"]}}',
    'has a job beside the images': Object.keys(others).length === 0,
    'leaves an image out': JSON.stringify(images?.strategy.matrix['service']) === JSON.stringify(services),
    'may do more than push and sign':
      JSON.stringify(images?.permissions) === '{"contents":"read","packages":"write","id-token":"write"}',
    'releases a commit of another version': tag !== -1 && tag < build,
    'pushes without provenance and bill': build !== -1,
    'signs something else than the digest that was pushed':
      sign > build && /^\$\{\{ steps\.build\.outputs\.image \}\}$/.test(steps[sign]?.env['IMAGE'] ?? ''),
    'uses actions of others': used.every((name) =>
      /^(actions\/checkout|sigstore\/cosign-installer)@/.test(name),
    ),
  }
  return Object.keys(holds).filter((doubt) => holds[doubt] !== true)
}

describe('the release', () => {
  const text = readFileSync(join(folder, 'release.yml'), 'utf8')

  test('O-119: every image is pushed with provenance and bill, and signed by its digest', () => {
    expect(doubtsAboutRelease(text)).toEqual([])
  })

  test.each([
    ['runs for what is no release', 'tags: ["v*"]', 'branches: [main]'],
    ['runs for what is no release', '    tags: ["v*"]', '    tags: ["v*"]\n  pull_request_target:'],
    ['leaves an image out', ', allocator]', ']'],
    [
      'may do more than push and sign',
      '      packages: write',
      '      packages: write\n      actions: write',
    ],
    ['releases a commit of another version', 'run: test "$GITHUB_REF_NAME"', 'run: echo "$GITHUB_REF_NAME"'],
    ['pushes without provenance and bill', '--provenance mode=max --sbom true', '--sbom true'],
    ['pushes without provenance and bill', 'mode=max --sbom true', 'mode=max --sbom false'],
    ['pushes without provenance and bill', 'image=$image@$digest', 'image=$image'],
    ['signs something else than the digest that was pushed', 'sign --yes "$IMAGE"', 'sign --yes "$TAG"'],
    [
      'signs something else than the digest that was pushed',
      'steps.build.outputs.image }}',
      'github.event.inputs.image }}',
    ],
    ['uses actions of others', 'sigstore/cosign-installer@', 'sigstorre/cosign-installer@'],
  ])('O-119: a release that %s is noticed (%s)', (doubt, part, other) => {
    expect(text).toContain(part)
    expect(doubtsAboutRelease(text.replace(part, other))).toContain(doubt)
  })
})
