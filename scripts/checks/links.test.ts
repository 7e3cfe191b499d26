import { describe, expect, test } from 'vitest'
import { linksCheck } from './links.ts'

function problems(text: string): readonly string[] {
  return linksCheck
    .find([
      { path: 'docs/internals/a.md', text },
      { path: 'docs/decisions/0001.md', text: '' },
    ])
    .map((finding) => finding.problem)
}

describe('links check', () => {
  test('accepts files, folders, places in a page and addresses of the web', () => {
    expect(
      problems('[a](../decisions/0001.md#context) [b](../decisions) [c](#here) [d](https://example.org)'),
    ).toEqual([])
  })

  test('refuses a page that was moved', () => {
    expect(problems('[a](../decisions/0002.md)')).toEqual([
      'links to ../decisions/0002.md, which does not exist',
    ])
  })
})
