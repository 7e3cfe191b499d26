import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DCLinter } from 'dclint'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { containersCheck } from './containers.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const dockerfile = readFileSync(join(root, 'docker', 'Dockerfile'), 'utf8')

function problems(text: string): readonly string[] {
  return containersCheck.find([{ path: 'docker/Dockerfile', text }]).map(({ problem }) => problem)
}

describe('containers check', () => {
  test('accepts the images of this repository', () => {
    expect(problems(dockerfile)).toEqual([])
  })

  test.each<[string, RegExp, string, string]>([
    ['a floating base', /node:26-bookworm-slim/, 'node:latest', 'needs a tag with a version'],
    ['a root user', /USER .*/, 'USER root', 'needs USER uid:gid other than root'],
    ['no user', /USER .*/, '', 'needs USER uid:gid other than root'],
    ['no health check', /HEALTHCHECK .*/, '', 'needs a HEALTHCHECK in exec form'],
    ['a command that a shell runs', /CMD \["node", "apps\/oracle.*/, 'CMD node a.js', 'CMD in exec form'],
    ['ADD', /COPY configs configs/, 'ADD configs configs', 'instead of ADD'],
    ['an install without the lockfile', / --frozen-lockfile/, '', 'install with --frozen-lockfile'],
  ])('refuses %s', (_what, from, to, problem) => {
    const changed = dockerfile.replace(from, to)
    expect(changed).not.toBe(dockerfile)
    expect(problems(changed).join('\n')).toContain(problem)
  })
})

test('the compose file is valid, and its services are locked down alike', () => {
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
  const [result] = linter.lintFiles([join(root, 'docker', 'compose.yaml')], false)
  const messages = z.array(z.object({ line: z.number(), message: z.string() })).parse(result?.messages)
  expect(messages).toEqual([])
})
