// Goal: the page of clients names no test that is not there. Adversary: a test that is renamed, or a cell left empty.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Suite, suiteCommand, suiteFiles, suites } from '../testRunner/suites.ts'
import { tableRows } from './markdownTable.ts'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/reference/clients.md'), 'utf8')
const proof = /`([^`]+\.test\.ts)` › ([^;|,.\n]+)/g
const testFile = /`([^`]+\.test\.ts)`/g
const newest = [
  ...['Flow', 'Relay SDK 7.0.3', 'Client generated from `/documentation/json`'],
  'SwapWidget 8.0.12 in Chromium',
]
const isOf = (suite: Suite, path: string): boolean => {
  const files: readonly string[] = suiteFiles[suite]
  return files.includes(path)
}
const older = page.split('\n').find((line) => line.startsWith('| Flow | SDK 2.4.6')) ?? ''
const columns = older
  .split('|')
  .slice(1, -1)
  .map((column) => column.trim())

describe('the page of clients', () => {
  test.each([...page.matchAll(proof)].map(([, path = '', title = '']) => [path, title.trim()] as const))(
    'names a test that exists: %s › %s',
    (path, title) => {
      expect(existsSync(join(root, path))).toBe(true)
      // Tests of recordings are shared by several files.
      const shared = path.startsWith('test/recording/') ? ['test/recording/support/checkGroups.ts'] : []
      const texts = [path, ...shared].map((file) => readFileSync(join(root, file), 'utf8'))
      expect(texts.join('\n')).toContain(title)
    },
  )

  test('says of every client and flow which test shows it, or why none does', () => {
    const rows = tableRows(page, columns)
    expect([columns.length, rows.length]).toEqual([8, 8])
    for (const { cells } of rows)
      for (const cell of cells.slice(1)) expect(cell).toMatch(/^(`[^`]+\.test\.ts` › .+|No: .{7,})$/)
  })

  test('says which command runs a test that the suite of clients does not', () => {
    const rows = tableRows(page, newest)
    expect(rows.length).toBeGreaterThan(15)
    for (const cell of rows.flatMap(({ cells }) => cells.slice(1)))
      for (const [, path = ''] of cell.matchAll(testFile)) {
        const suite = suites.find((name) => isOf(name, path))
        if (suite === 'clients') continue
        expect(cell).toContain(suite === undefined ? '`npm test`' : `\`${suiteCommand(suite)}\``)
      }
  })

  test('names tests of the suite of clients alone, where no registry or an older one has the client', () => {
    const cells = tableRows(page, columns).flatMap((row) => row.cells.slice(1))
    const files = cells.flatMap((cell) => [...cell.matchAll(proof)].map(([, path = '']) => path))
    expect(files.length).toBeGreaterThan(25)
    expect(files.filter((path) => !suiteFiles.clients.some((file) => file === path))).toEqual([])
  })
})
