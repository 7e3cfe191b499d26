import { describe, expect, test } from 'vitest'
import { linksCheck } from './links.ts'

function problems(text: string): readonly string[] {
  return linksCheck
    .find([
      { path: 'docs/internals/a.md', text },
      {
        path: 'docs/decisions/0001.md',
        text: '# 1. A decision\n\n## Context, `then` [more](https://example.org)\n',
      },
    ])
    .map((finding) => finding.problem)
}

describe('links check', () => {
  test('accepts files, folders, places in a page and addresses of the web', () => {
    expect(
      problems(
        '# Here\n[a](../decisions/0001.md#context-then-more) [b](../decisions) [c](#here) [d](https://example.org)',
      ),
    ).toEqual([])
  })

  test('refuses a page that was moved', () => {
    expect(problems('[a](../decisions/0002.md)')).toEqual([
      'links to ../decisions/0002.md, which does not exist',
    ])
  })

  test('refuses a heading that got another name, and one of an example', () => {
    expect(problems('[a](../decisions/0001.md#options) [b](#start)\n```sh\n# Start\n```\n')).toEqual([
      'links to ../decisions/0001.md#options, and docs/decisions/0001.md has no such heading',
      'links to #start, and docs/internals/a.md has no such heading',
    ])
  })
})
