import { describe, expect, test } from 'vitest'
import { specificationCheck } from './specification.ts'

const rule = '**Q-1** A leading zero of an amount is read as none.'
const proof = "test('Q-1: a leading zero is read as none', () => {})"

function problems(args: {
  quotes?: string
  ledger?: string
  tests?: string
  source?: string
}): readonly string[] {
  const { quotes = rule, ledger = '', tests = proof, source = '' } = args
  const page = (name: string, text: string) => ({ path: `docs/specification/${name}.md`, text })
  return specificationCheck
    .find([
      page('protocol', ''),
      page('quotes', quotes),
      page('ledger', ledger),
      page('families', ''),
      page('operation', ''),
      { path: 'apps/a/src/a.test.ts', text: tests },
      { path: 'apps/a/src/a.ts', text: source },
    ])
    .map(({ problem }) => problem)
}

describe('specification check', () => {
  test('accepts rules that titles name, several in one title among them', () => {
    expect(problems({})).toEqual([])
    const ledger = '**L-2** A hold is posted once and never twice.'
    expect(problems({ ledger, tests: "test.each(rows)('Q-1, L-2: %s', () => {})" })).toEqual([])
  })

  test('finds a rule without a test and a test without a rule', () => {
    expect(problems({ tests: "test('Q-2: something', () => {})" })).toEqual([
      'Q-1 is in no title of a test',
      'proves Q-2, which is no rule',
    ])
  })

  test('an id within a sentence of a title proves nothing', () => {
    expect(problems({ tests: "test('unlike Q-1: nothing', () => {})" })).toEqual([
      'Q-1 is in no title of a test',
    ])
  })

  test('finds a repeated id, one that descends, one of another page, and one without a rule', () => {
    expect(problems({ quotes: `${rule}\n\n${rule}` })).toEqual(['Q-1 does not ascend'])
    expect(problems({ ledger: rule, quotes: '' })).toEqual(['Q-1 belongs to docs/specification/quotes.md'])
    expect(problems({ quotes: '**Q-1** Short.' })).toEqual(['Q-1 has no text'])
  })

  test('finds missing pages', () => {
    expect(specificationCheck.find([]).map(({ file }) => file)).toHaveLength(5)
  })

  test('lets no more sources name pages outside the repository', () => {
    const source = '/** @source oracle-protocol.md 5.1 */\n'.repeat(622)
    expect(problems({ source })).toEqual([expect.stringContaining('622 @source lines')])
    expect(problems({ source: '/** @source EIP-712 */\n'.repeat(622) })).toEqual([])
  })
})
