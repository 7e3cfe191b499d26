import { describe, expect, test } from 'vitest'
import { errorCodesOf, errorsCheck } from './errors.ts'

function problems(args: { items: string; source: string; path?: string }): readonly string[] {
  const text = `# Errors\n\n${args.items}`
  return errorsCheck
    .find([
      { path: 'docs/reference/errors.md', text },
      { path: args.path ?? 'apps/quote-api/src/errors.ts', text: args.source },
    ])
    .map((finding) => finding.problem)
}

describe('error codes check', () => {
  test('accepts a page that lists exactly the codes of the source', () => {
    const source = "class A extends DomainError { readonly code = 'AMOUNT_TOO_LOW' }"
    expect(problems({ items: '- `AMOUNT_TOO_LOW` `{field?}`: x. y\n', source })).toEqual([])
  })

  test('reports a code that the page lacks and a code that nothing answers', () => {
    const source = "class A extends DomainError { readonly code = 'AMOUNT_TOO_LOW' }"
    expect(problems({ items: '- `NO_QUOTES` (503): x. y\n', source })).toEqual([
      'AMOUNT_TOO_LOW is not in docs/reference/errors.md',
      'no code answers NO_QUOTES',
    ])
  })

  test('looks only at what the services can answer, not at tests or the local network', () => {
    const source = "const a = { code: 'ONLY_IN_A_TEST' }"
    expect(problems({ items: '', source, path: 'apps/quote-api/src/a.test.ts' })).toEqual([])
    expect(problems({ items: '', source, path: 'packages/localnet/src/a.ts' })).toEqual([])
  })

  test('reports a missing page', () => {
    expect(errorsCheck.find([])).toEqual([{ file: 'docs/reference/errors.md', problem: 'is missing' }])
  })

  test('finds codes in classes, objects, choices and types, and leaves comparisons and Node codes alone', () => {
    const source = `
      class A { readonly code = 'ONE_CODE' }
      class B { readonly code: 'TWO_A' | 'TWO_B' }
      const c = { errorCode: late ? 'THREE_A' : 'THREE_B' }
      if (error.code === 'COMPARED') throw { code: 'ECONNREFUSED' }
      this.code = options.code ?? 'FOUR_CODE'
      const quoteErrorKinds = { FIVE_CODE: 'invalid_request' } as const
      const policy = { errorCodes: { internal: 'SIX_CODE' }, codeForField: (f) => (f ? 'SEVEN_CODE' : undefined) }
      // code: 'COMMENT'
    `
    expect([...errorCodesOf(source)].sort()).toEqual([
      'FIVE_CODE',
      'FOUR_CODE',
      'ONE_CODE',
      'SEVEN_CODE',
      'SIX_CODE',
      'THREE_A',
      'THREE_B',
      'TWO_A',
      'TWO_B',
    ])
  })
})
