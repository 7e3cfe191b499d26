import { describe, expect, test } from 'vitest'
import { foldersCheck } from './folders.ts'

function problemsOf(files: Readonly<Record<string, string>>): readonly string[] {
  return foldersCheck
    .find(Object.entries(files).map(([path, text]) => ({ path, text })))
    .map(({ file, problem }) => `${file}: ${problem}`)
}

describe('folders check', () => {
  test('a folder of an app does not import one above it, types included', () => {
    expect(
      problemsOf({ 'apps/quote-api/src/pricing/a.ts': "import type { Row } from '../requests/orders/b.ts'" }),
    ).toEqual([
      'apps/quote-api/src/pricing/a.ts: pricing stands below requests and must not import apps/quote-api/src/requests/orders/b.ts',
    ])
  })

  test('a folder of an app does not import what starts the app', () => {
    expect(problemsOf({ 'apps/oracle/src/peers/a.ts': "import { main } from '../main.ts'" })).toHaveLength(1)
  })

  test('a file with a place among the folders of an app is imported by those above it alone', () => {
    const importedIn = (folder: string) =>
      problemsOf({ [`apps/oracle/src/${folder}/a.ts`]: "import { readers } from '../readers.ts'" })
    expect([importedIn('compose'), importedIn('wire').length]).toEqual([[], 1])
    expect(problemsOf({ 'apps/oracle/src/readers.ts': "import { b } from './compose/b.ts'" })).toHaveLength(1)
  })

  test('a folder of an app that nobody gave a place is named', () => {
    expect(problemsOf({ 'apps/oracle/src/helpers/a.ts': "import { b } from '../wire/b.ts'" })).toEqual([
      'apps/oracle/src/helpers/a.ts: the folder helpers has no place in the layers of apps/oracle/src',
    ])
  })

  test('what stands above may import what stands below', () => {
    expect(
      problemsOf({
        'apps/quote-api/src/http/a.ts': "import { price } from '../pricing/b.ts'",
        'apps/quote-api/src/main.ts': "import { create } from './compose/c.ts'",
      }),
    ).toEqual([])
  })

  test('two folders that import each other are both named, at any depth', () => {
    expect(
      problemsOf({
        'packages/core/src/vm/one/a.ts': "import { b } from '../two/b.ts'",
        'packages/core/src/vm/two/b.ts': "export { a } from '../one/a.ts'",
      }),
    ).toEqual([
      'packages/core/src/vm/one/a.ts: packages/core/src/vm: one and two import each other, here packages/core/src/vm/two/b.ts',
      'packages/core/src/vm/two/b.ts: packages/core/src/vm: two and one import each other, here packages/core/src/vm/one/a.ts',
    ])
  })

  test('a circle over a third folder is found', () => {
    expect(
      problemsOf({
        'packages/chains/src/a/a.ts': "import '../b/b.ts'",
        'packages/chains/src/b/b.ts': "import '../c/c.ts'",
        'packages/chains/src/c/c.ts': "await import('../a/a.ts')",
      }),
    ).toHaveLength(3)
  })

  test('a folder and the file that is made of it do not import each other', () => {
    expect(
      problemsOf({
        'packages/chains/src/whole.ts': "import './family/a.ts'",
        'packages/chains/src/family/a.ts': "import '../whole.ts'",
      }),
    ).toHaveLength(2)
  })

  test('two files of a package do not import each other', () => {
    expect(
      problemsOf({
        'packages/http/src/metrics.ts': "import './exchange.ts'",
        'packages/http/src/exchange.ts': "import './metrics.ts'",
      }),
    ).toHaveLength(2)
  })

  test('files of one folder of an app may refer to each other, and tests to anything', () => {
    expect(
      problemsOf({
        'apps/oracle/src/service/metrics.ts': "import './force.ts'",
        'apps/oracle/src/service/force.ts': "import './metrics.ts'",
        'packages/core/src/vm/a.test.ts': "import '../order/b.ts'",
        'packages/core/src/order/b.ts': "import '../vm/c.ts'",
      }),
    ).toEqual([])
  })
})
