import { describe, expect, test } from 'vitest'
import { testTitlesOf } from './testTitles.ts'

function titles(text: string): readonly string[] {
  return [...testTitlesOf(text)]
}

describe('titles of tests', () => {
  test('takes every form of a test and no describe', () => {
    const text = `
      describe('a group', () => {
        test('one', () => {})
        it("two", () => {})
        test.concurrent('three', () => {})
        test.prop([fc.nat()])('four', () => {})
      })`
    expect(titles(text)).toEqual(['one', 'two', 'three', 'four'])
  })

  test('leaves out what does not run and what is no test', () => {
    expect(
      titles(`test.skip('a'); test.todo('b'); it.skip.each([1])('c'); pretest('d'); // test('e')`),
    ).toEqual([])
  })

  test('names each case of a table of literals', () => {
    const text = `test.each([['missing', {}], ['a number', { n: 1 }]])('user %s is refused', () => {})`
    expect(titles(text)).toEqual([
      'user %s is refused',
      'user missing is refused',
      'user a number is refused',
    ])
  })

  test('names cases by several places, by member and by a constant of the file', () => {
    const text = `
      const rows = [{ size: 'small' }] as const
      test.each([[1, 2]])('%i and %s', () => {})
      test.each(rows)('keeps $size', () => {})
      it.each(['only'])('just %s', () => {})`
    expect(titles(text)).toEqual([
      '%i and %s',
      '1 and 2',
      'keeps $size',
      'keeps small',
      'just %s',
      'just only',
    ])
  })

  test('keeps the bare title where a cell is computed', () => {
    expect(titles(`test.each([[name()], ...others])('%s', () => {})`)).toEqual(['%s'])
  })
})
