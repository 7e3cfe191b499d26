import { describe, expect, test } from 'vitest'
import { suiteFiles } from '../testRunner/suites.ts'
import { findUnprovenRows, idsOf, readRules, specificationCheck } from './specification.ts'

const rule = '**Q-1** A leading zero of an amount is read as none.'
const sentence = '**Q-price-req-01** `user` is required in each request.'
const proof = "test('Q-1: a leading zero is read as none', () => {})"
const folder = 'docs/specification'

type Texts = {
  readonly quotes?: string
  readonly ledger?: string
  readonly interface?: string
  readonly tests?: string
  readonly source?: string
  readonly suite?: string
}

const filesOf = (texts: Texts) => [
  ...['protocol', 'families', 'operation'].map((name) => ({ path: `${folder}/${name}.md`, text: '' })),
  { path: `${folder}/quotes.md`, text: texts.quotes ?? rule },
  { path: `${folder}/ledger.md`, text: texts.ledger ?? '' },
  { path: `${folder}/interface.md`, text: texts.interface ?? '' },
  { path: 'apps/a/src/a.test.ts', text: texts.tests ?? proof },
  { path: 'apps/a/src/a.ts', text: texts.source ?? '' },
  { path: suiteFiles.settlement[0], text: texts.suite ?? '' },
]
const problems = (texts: Texts): readonly string[] =>
  specificationCheck.find(filesOf(texts)).map(({ problem }) => problem)

describe('rules', () => {
  test('are accepted where titles name them, several in one title among them', () => {
    expect(problems({})).toEqual([])
    const ledger = '**L-2** A hold is posted once and never twice.'
    expect(problems({ ledger, tests: "test.each(rows)('Q-1, L-2: %s', () => {})" })).toEqual([])
  })

  test('need a test, and a test needs a rule', () => {
    expect(problems({ tests: "test('Q-2: something', () => {})" })).toEqual([
      'Q-1 is in no title of a test',
      'proves Q-2, which is no rule',
    ])
  })

  test('are not proven by an id within a sentence of a title', () => {
    expect(problems({ tests: "test('unlike Q-1: nothing', () => {})" })).toEqual([
      'Q-1 is in no title of a test',
    ])
  })

  test('have a text and an id that ascends in its page', () => {
    expect(problems({ quotes: `${rule}\n\n${rule}` })).toEqual(['Q-1 does not ascend'])
    expect(problems({ ledger: rule, quotes: '' })).toEqual(['Q-1 belongs to docs/specification/quotes.md'])
    expect(problems({ quotes: '**Q-1** Short.' })).toEqual(['Q-1 has no text'])
    expect(problems({ quotes: `${rule}\n\n**Q-x** Rounds up, always.` })).toContain('Q-x belongs to no page')
  })

  test('link to rules alone', () => {
    const linked = `${rule} As [Q-1](#amounts), not as [Q-9](#amounts).`
    expect(problems({ quotes: linked })).toEqual(['Q-1 points to Q-9, which is no rule'])
  })

  test('need all pages', () => {
    expect(specificationCheck.find([]).map(({ file }) => file)).toHaveLength(6)
  })
})

describe('sentences of the interface documents', () => {
  const titled = (title: string) => `${proof}\ntest('${title}', () => {})`

  test.each([
    ['a title', 'Q-price-req-01: user is required'],
    ['a title of several rules', 'Q-1, Q-price-req-01: user is required'],
    ['a cell of a table that is the id', 'Q-price-req-01'],
  ])('are proven by %s', (_what, title) => {
    expect(problems({ interface: sentence, tests: titled(title) })).toEqual([])
  })

  test('need a test of npm test', () => {
    const suite = titled('Q-price-req-01: user is required')
    expect(problems({ interface: sentence, suite })).toEqual([
      'Q-price-req-01 is in no title of a test of npm test',
    ])
  })

  test('have an id once, in their page', () => {
    const tests = titled('Q-price-req-01: user is required')
    expect(problems({ interface: `${sentence}\n\n${sentence}`, tests })).toEqual([
      'Q-price-req-01 appears twice',
    ])
    expect(problems({ ledger: sentence, tests })).toEqual([
      'Q-price-req-01 belongs to docs/specification/interface.md',
    ])
  })

  test('that leave something open need no test, and point to what decides it', () => {
    const open = '**Q-limits-08** Open: rate limits of keys. '
    expect(problems({ interface: `${open}[Q-1](quotes.md)` })).toEqual([])
    expect(problems({ interface: open })).toEqual(['Q-limits-08 is open and points to nothing'])
    expect(problems({ interface: `${open}[Q-2](quotes.md)` })).toEqual([
      'Q-limits-08 points to Q-2, which is no rule',
    ])
  })
})

test('a source is a page or a rule of the repository, or stands elsewhere in public', () => {
  expect(problems({ source: '/** @source oracle-protocol.md 5.1, rules Q-1, Q-9 */' })).toEqual([
    expect.stringContaining('oracle-protocol.md, which is not here'),
    expect.stringContaining('Q-9, which is not here'),
  ])
  const known = '/** @source rule Q-1, EIP-712, P-256, https://example.org/page.md */'
  expect(problems({ source: known, quotes: rule })).toEqual([])
})

test('rules are read with their place, and with what must prove them', () => {
  const open = '**Q-limits-08** Open: rate limits of keys. [Q-1](quotes.md)'
  const read = readRules(filesOf({ quotes: `# Quotes\n\n${rule}`, interface: `${sentence}\n\n${open}` }))
  expect(read.map(({ id, file, line, provenBy }) => [id, `${file}:${line}`, provenBy])).toEqual([
    ['Q-1', `${folder}/quotes.md:3`, 'any suite'],
    ['Q-price-req-01', `${folder}/interface.md:1`, 'npm test'],
    ['Q-limits-08', `${folder}/interface.md:3`, 'nothing'],
  ])
})

test.each([
  ['Q-1, O-cfg-01: SIGNING_MODULE', ['Q-1', 'O-cfg-01']],
  ['P-256: a curve', ['P-256']],
  ['as Q-1: nothing', []],
])('ids of the title %s', (title, ids) => {
  expect(idsOf(title)).toEqual(ids)
})

const security = (...proofs: readonly string[]) => ({
  path: 'SECURITY.md',
  text: [
    '| Secret | Largest loss | Limited by | Test |',
    '|---|---|---|---|',
    ...proofs.map((text) => `| A key | All | nothing | ${text} |`),
  ].join('\n'),
})

describe('tables of proofs', () => {
  const bench = { path: 'bench/rows.ts', text: "const row = { id: 'P7' }" }
  const found = (...proofs: readonly string[]) =>
    specificationCheck.find([...filesOf({}), bench, security(...proofs)])

  test('name tests whose files exist, and rows of the bench', () => {
    expect(found('`apps/a/src/a.test.ts` › rounds down<br>bench `P7`')).toEqual([])
  })

  test.each([
    ['a file that is no test', '`apps/a/src/a.ts` › rounds down', 'is no test: apps/a/src/a.ts'],
    ['a file that does not exist', '`apps/a/src/b.test.ts` › rounds down', 'does not exist'],
    ['a row of the bench that does not exist', 'bench `P99`', 'does not exist: P99'],
    ['nothing', '', 'no readable proof'],
  ])('may not name %s', (_what, text, problem) => {
    expect(found(text)).toEqual([{ file: 'SECURITY.md:3', problem: expect.stringContaining(problem) }])
  })

  test('keep their columns', () => {
    const text = '| Secret | Loss | Test |\n|---|---|---|\n| A key | All | no |\n'
    const renamed = { path: 'SECURITY.md', text }
    const problem = 'has no table with the columns Secret, Largest loss, Limited by, Test'
    expect(specificationCheck.find([...filesOf({}), renamed])).toEqual([{ file: 'SECURITY.md', problem }])
  })
})

describe('rows of tables after a run', () => {
  const path = 'apps/a/src/a.test.ts'
  const unproven = (title: string, titles: readonly string[]) =>
    findUnprovenRows([security(`\`${path}\` › ${title}`)], new Map([[path, titles]]))

  test.each([
    ['a test that passed', 'rounds down', ['rounds up', 'rounds down']],
    ['a test whose title begins with its rules', 'rounds down', ['Q-1, O-cfg-01: rounds down']],
    ['a test of any signs', "keeps 'quotes' (1.5 + x)? [a]", ["keeps 'quotes' (1.5 + x)? [a]"]],
    ['one case of a table', 'names wrap', ['names send', 'names wrap']],
    ['all cases of a table', 'refuses %s at $size', ['refuses a number at 20']],
  ])('are proven by %s', (_what, named, titles) => {
    expect(unproven(named, titles)).toEqual([])
  })

  test.each([
    ['no test has their title', 'rounds up', ['rounds down']],
    ['their test was left out or failed', 'rounds down', []],
    ['a title only holds theirs', 'rounds', ['rounds down', 'it rounds']],
    ['a sign of theirs stands for others', 'rounds .own', ['rounds down']],
    ['a table of theirs has other words', 'refuses %s', ['takes a number']],
  ])('are not proven when %s', (_what, named, titles) => {
    const problem = `A key names a test that ${path} does not have: ${named}`
    expect(unproven(named, titles)).toEqual([{ file: 'SECURITY.md:3', problem }])
  })

  test('are left alone when their file did not run', () => {
    expect(findUnprovenRows([security(`\`${path}\` › rounds up`)], new Map())).toEqual([])
  })
})
