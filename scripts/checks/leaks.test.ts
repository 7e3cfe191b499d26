import { describe, expect, test } from 'vitest'
import { leaksCheck } from './leaks.ts'

const slash = '/'

describe('leaks check', () => {
  test.each([
    ['a home directory', `see ${slash}home${slash}ann${slash}causeway`],
    ['a home directory of a Mac', `see ${slash}Users${slash}ann${slash}causeway`],
    ['the root account', `cd ${slash}root${slash}causeway`],
    ['a registry host', `registry=https:${slash}${slash}registry.example.org${slash}`],
    ['a lockfile tarball', `resolution: {${'tarball'}: https:${slash}${slash}example.org${slash}a.tgz}`],
    ['a private key', `-----BEGIN EC ${'PRIVATE'} KEY-----`],
  ])('reports %s with its line', (_what, leak) => {
    const findings = leaksCheck.find([{ path: 'notes.md', text: `first line\n${leak}\n` }])
    expect(findings.map((finding) => finding.file)).toContain('notes.md:2')
  })

  test('accepts ordinary paths, URLs and variables', () => {
    const text = [
      'https://github.com/foundry-rs/foundry',
      `$HOME${slash}causeway`,
      `.${slash}work${slash}x`,
      'packages/core/src',
    ].join('\n')
    expect(leaksCheck.find([{ path: 'notes.md', text }])).toEqual([])
  })
})
