import { describe, expect, test } from 'vitest'
import type { CommandForm } from './commandForm.ts'
import { oneCommand, readCommandLine } from './commandLine.ts'

const commands: readonly CommandForm[] = [
  {
    words: 'things change',
    about: 'Change a thing',
    operands: ['id'],
    flags: {
      'new-name': { value: '<text>', about: 'Its name', isRequired: true },
      quick: { about: 'Without asking' },
    },
  },
  { words: 'halt', about: 'Halt all', operands: ['chain', 'reason...'] },
  { words: 'mine', about: 'Mine blocks', operands: ['[count]'] },
]

const parse = (...words: string[]) =>
  readCommandLine(words, { name: 'tool', about: 'Does things', commands, groups: { things: 'Things' } })

/** @throws where no command would run */
function run(...words: string[]) {
  const line = parse(...words)
  if (line.kind !== 'run') throw new Error(line.text)
  return line
}

describe('a command line', () => {
  test('names a command, its operands and its flags in any order', () => {
    const { command, args } = run('things', 'change', '--new-name', 'a b', 'x7', '--quick')
    expect(command).toBe(commands[0])
    expect([args.operand('id'), args.text('new-name'), args.isOn('quick')]).toEqual(['x7', 'a b', true])
  })

  test('takes the words of a reason as one, and does without what may be left out', () => {
    const { args } = run('halt', 'base', 'it', 'stands still')
    expect([args.operand('chain'), args.operand('reason')]).toEqual(['base', 'it stands still'])
    expect(run('mine').args.operand('count')).toBe('')
    expect(() => run('mine').args.operand('chain')).toThrow('no operand chain')
  })

  test.each([
    [[], 'things '],
    [['help'], 'Does things'],
    [['--help'], 'halt <chain> <reason...>'],
    [['-h'], 'mine [count]'],
    [['things', '--help'], 'change [options] <id>'],
    [['help', 'things'], 'Things'],
    [['things', 'change', 'x7', '--help'], '--new-name <text>  Its name (required)'],
  ])('O-133: asks for help: %j', (words, text) => {
    expect(parse(...words)).toEqual({ kind: 'help', text: expect.stringContaining(text) })
  })

  test.each([
    ['an unknown group', ['stuff'], "unknown command 'stuff'"],
    ['an unknown verb', ['things', 'eat'], "unknown command 'eat'"],
    ['a member of every object', ['constructor', 'toString'], "unknown command 'constructor'"],
    ['a group alone', ['things'], 'Usage: tool things'],
    ['no operand', ['things', 'change', '--new-name', 'x'], "missing required argument 'id'"],
    ['no required flag', ['things', 'change', 'x7'], "'--new-name' not specified"],
    ['one word too many', ['things', 'change', 'x7', 'y', '--new-name', 'x'], 'too many arguments'],
    ['an unknown flag', ['things', 'change', 'x7', '--new-nmae', 'x'], "unknown option '--new-nmae'"],
    ['a part of a flag', ['things', 'change', 'x7', '--new', 'x'], "unknown option '--new'"],
    [
      'a flag without its value',
      ['things', 'change', 'x7', '--new-name'],
      "'--new-name <text>' argument missing",
    ],
    [
      'a flag in place of a value',
      ['things', 'change', 'x7', '--new-name', '--quick'],
      'Its value is missing',
    ],
    ['a value behind a switch', ['things', 'change', 'x7', '--new-name', 'x', '--quick=no'], "'--quick=no'"],
  ])('O-133: with %s is refused, and told what is right', (_name, words, problem) => {
    const line = parse(...words)
    expect(line).toEqual({ kind: 'wrong', text: expect.stringContaining(problem) })
    expect(line).toHaveProperty('text', expect.stringContaining('Usage: tool'))
  })
})

test('flags of another program are handed on as they stand, beside those that are declared', () => {
  const flags = { suite: { value: '<name>', about: 'Its name' } }
  const form = { operands: ['[words...]'], flags, handsOn: true } as const
  const words = ['packages/core', '-t', 'rounds down', '--shard=1/2']
  const line = readCommandLine([...words, '--suite=a'], oneCommand('npm test --', 'Tests', form))
  if (line.kind !== 'run') throw new Error(line.text)
  expect([line.args.list('words'), line.args.text('suite')]).toEqual([words, 'a'])
})

test('a program that is one command runs without words', () => {
  const flags = { dry: { about: 'Nothing is written' } }
  const one = oneCommand('npm run tool --', 'One thing', { operands: ['[folder]'], flags, notes: 'The end.' })
  expect(readCommandLine([], one).kind).toBe('run')
  const line = readCommandLine(['here', '--dry'], one)
  expect(line.kind === 'run' && line.args.operand('folder')).toBe('here')
  expect(readCommandLine(['--help'], one)).toHaveProperty(
    'text',
    expect.stringMatching(
      /^Usage: npm run tool -- \[options\] \[folder\]\n\nOne thing\n[\s\S]+Nothing is[\s\S]+The end\.$/,
    ),
  )
})
