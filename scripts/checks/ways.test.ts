// Goal: the page's lists of files are true. Attacks: a file that was moved, one that the service does not load, one
// that is listed without a word, one that is listed twice, a list that is gone.
import { describe, expect, test } from 'vitest'
import { differences, listedFiles, waysPage } from '../ways/listedFiles.ts'
import { waysCheck } from './ways.ts'

const sources = [
  { path: 'apps/quote-api/src/main.ts', text: "import { price } from './price.ts'" },
  { path: 'apps/quote-api/src/price.ts', text: "import { mulDiv } from '@causeway/core'" },
  { path: 'apps/quote-api/src/unused.ts', text: '' },
  { path: 'apps/oracle/src/main.ts', text: "import './facts.ts'" },
  { path: 'apps/oracle/src/facts.ts', text: '' },
  { path: 'packages/core/src/index.ts', text: "export { mulDiv } from './money.ts'" },
  { path: 'packages/core/src/money.ts', text: '' },
]
const transaction = '## The way of a transaction id\n\n- `apps/oracle/src/facts.ts`: reads.\n'

function pageOf(...amount: readonly string[]): string {
  return `# Architecture\n\n## The way of an amount\n\n${amount.join('\n')}\n\n${transaction}\n## Keys\n`
}

function problemsOf(page: string): readonly string[] {
  return waysCheck.find([...sources, { path: waysPage, text: page }]).map(({ problem }) => problem)
}

const price = '- `apps/quote-api/src/price.ts`: prices.'

describe('the list of a way', () => {
  test('may name what the service loads, through other packages too', () => {
    expect(
      problemsOf(
        pageOf('1. **Price.** Words.', `   ${price}`, '   - `packages/core/src/money.ts`: divides.'),
      ),
    ).toEqual([])
  })

  test.each([
    ['a file that was moved', '- `apps/quote-api/src/gone.ts`: prices.', 'which does not exist'],
    ['a file that nothing imports', '- `apps/quote-api/src/unused.ts`: rests.', 'does not load'],
    ['a file of the other service', '- `apps/oracle/src/facts.ts`: reads.', 'does not load'],
    ['a file without a word', '- `packages/core/src/money.ts`', 'does not say what'],
    ['a file that is listed before', price, 'twice'],
  ])('may not name %s', (_, line, problem) => {
    expect(problemsOf(pageOf(price, line))).toEqual([expect.stringContaining(problem)])
  })

  test('may not be gone, nor may its page', () => {
    expect(problemsOf(transaction)).toEqual(['lists no file under "## The way of an amount"'])
    expect(waysCheck.find(sources)).toEqual([{ file: waysPage, problem: 'is missing' }])
  })

  test('differs from what ran by what it names too little and too much', () => {
    const listed = listedFiles(pageOf(price, '- `packages/core/src/money.ts`: divides.'), 'amount')
    const ran = ['apps/quote-api/src/price.ts', 'packages/http/src/json.ts']
    expect(differences(listed, ran)).toEqual([
      'packages/http/src/json.ts runs and is not listed',
      'packages/core/src/money.ts is listed and did not run',
    ])
    expect(
      differences(
        listed,
        listed.map(({ path }) => path),
      ),
    ).toEqual([])
  })
})
