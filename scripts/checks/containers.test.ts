import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DCLinter } from 'dclint'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { servedFolders } from '../../apps/quote-api/src/http/docs/readDocs.ts'
import { containersCheck, readStages } from './containers.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const dockerfile = readFileSync(join(root, 'docker', 'Dockerfile'), 'utf8')

function problems(text: string): readonly string[] {
  return containersCheck.find([{ path: 'docker/Dockerfile', text }]).map(({ problem }) => problem)
}

describe('containers check', () => {
  test('accepts the images of this repository', () => {
    expect(problems(dockerfile)).toEqual([])
  })

  test('Q-120: the image of quote-api has the pages that it serves, and no other has pages', () => {
    const copying = readStages(dockerfile).stages.flatMap(({ name, instructions }) =>
      instructions
        .filter(({ text }) => text.startsWith('docs'))
        .map(({ keyword, text }) => [name, keyword, text]),
    )
    expect(copying).toEqual([['quote-api', 'COPY', 'docs docs']])
    const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n')
    const ofDocs = ignored.filter((line) => /^!?docs\b/.test(line))
    expect(ofDocs).toEqual(['docs/*', ...servedFolders.map((folder) => `!docs/${folder}`)])
  })

  test.each<[string, RegExp, string, string]>([
    ['a floating base', /node:[\d.]+-bookworm-slim/, 'node:latest', 'needs a tag with a version'],
    ['a root user', /USER .*/, 'USER root', 'needs USER uid:gid other than root'],
    ['no user', /USER .*/, '', 'needs USER uid:gid other than root'],
    ['no health check', /HEALTHCHECK .*/, '', 'needs a HEALTHCHECK in exec form'],
    ['a command that a shell runs', /CMD \["node".*apps\/oracle.*/, 'CMD node a.js', 'CMD in exec form'],
    ['ADD', /COPY configs configs/, 'ADD configs configs', 'instead of ADD'],
    ['an install without the lockfile', / --frozen-lockfile/, '', 'install with --frozen-lockfile'],
  ])('refuses %s', (_what, from, to, problem) => {
    const changed = dockerfile.replace(from, to)
    expect(changed).not.toBe(dockerfile)
    expect(problems(changed).join('\n')).toContain(problem)
  })
})

/** Findings of the compose schema and of dclint's rules. */
function composeProblems(path: string): readonly string[] {
  const linter = new DCLinter({
    // The order of keys is the reader's: what a service is comes before how it is fenced.
    rules: {
      'service-keys-order': 0,
      'services-alphabetical-order': 0,
      'top-level-properties-order': 0,
      'require-quotes-in-ports': [1, { quoteType: 'double' }],
    },
    quiet: false,
    debug: false,
    exclude: [],
  })
  const [result] = linter.lintFiles([path], false)
  return z
    .array(z.object({ message: z.string() }))
    .parse(result?.messages)
    .map(({ message }) => message)
}

describe('the compose file', () => {
  const path = join(root, 'docker', 'compose.yaml')

  test('is valid', () => {
    expect(composeProblems(path)).toEqual([])
  })

  test('Q-131: that of the shop is valid too, and publishes nothing beyond its machine', () => {
    const shop = join(root, 'examples', 'shop', 'compose.yaml')
    expect(composeProblems(shop)).toEqual([])
    const ports = [...readFileSync(shop, 'utf8').matchAll(/^ +- "([^"]+:\d+:\d+)"$/gm)].map(
      ([, port]) => port,
    )
    expect(ports.map((port) => port?.split(':')[0])).toEqual(['127.0.0.1', '127.0.0.1'])
    expect(readFileSync(shop, 'utf8')).not.toMatch(/^\s+API_KEY:/m)
  })

  test.each([
    [
      'a key that compose does not know',
      'restart: unless-stopped',
      'restarts: unless-stopped',
      'additional properties',
    ],
    ['a limit that is none', 'pids_limit: 128', 'pids_limit: [128]', 'pids_limit'],
    ['a port without quotes', '"127.0.0.1:3000:3000"', '127.0.0.1:3000:3000', 'quotes'],
    ['an image without version', 'haproxy:3.2.6', 'haproxy:latest', 'concrete version tag'],
  ])('is refused with %s', (_what, from, to, problem) => {
    const text = readFileSync(path, 'utf8')
    expect(text).toContain(from)
    const folder = mkdtempSync(join(tmpdir(), 'causeway-compose-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const changed = join(folder, 'compose.yaml')
    writeFileSync(changed, text.replace(from, to))
    expect(composeProblems(changed).join('\n')).toContain(problem)
  })
})
