import { describe, expect, test } from 'vitest'
import type { Command } from './command.ts'
import { CommandError } from './commandError.ts'
import { parseCommandLine } from './parseCommandLine.ts'
import { readDuration, readUsd, readWallet } from './readValue.ts'
import { commandTable, usageOf, usageOfCommand } from './runCli.ts'

const command: Command = {
  words: 'things change',
  about: 'Change a thing',
  operands: ['id'],
  flags: {
    name: { value: '<text>', about: 'Its name', isRequired: true },
    quick: { about: 'Without asking' },
  },
  run: async () => undefined,
}

const parse = (...words: string[]) => parseCommandLine(words, [command])

describe('a command line', () => {
  test('names a command, its operands and its flags in any order', () => {
    const parsed = parse('things', 'change', '--name', 'a b', 'x7', '--quick', '--json')
    if (parsed.kind !== 'run') throw new Error(parsed.kind)
    const { args, json } = parsed
    expect([args.operand('id'), args.text('name'), args.isOn('quick'), json]).toEqual([
      'x7',
      'a b',
      true,
      true,
    ])
  })

  test.each([[], ['help'], ['--help'], ['-h']])('asks for help: %s', (...words) => {
    expect(parse(...words)).toEqual({ kind: 'help' })
  })

  test.each([
    ['an unknown group', ['stuff'], 'There is no command "stuff".'],
    ['an unknown verb', ['things', 'eat'], 'There is no command "things eat".'],
    ['a member of every object', ['constructor', 'toString'], 'There is no command "constructor toString".'],
    ['no operand', ['things', 'change', '--name', 'x'], '<id> is missing.'],
    ['no required flag', ['things', 'change', 'x7'], '--name is missing.'],
    ['one word too many', ['things', 'change', 'x7', 'y', '--name', 'x'], '"y" is not understood.'],
    ['an unknown flag', ['things', 'change', 'x7', '--nmae', 'x'], "Unknown option '--nmae'"],
    ['a flag without its value', ['things', 'change', 'x7', '--name'], "'--name <value>' argument missing"],
  ])('with %s is refused', (_name, words, problem) => {
    const parsed = parse(...words)
    expect(parsed).toMatchObject({ kind: 'wrong', problem: expect.stringContaining(problem) })
  })
})

test('no two commands share their words, and the usage lists all of them', () => {
  const words = commandTable.map((known) => known.words)
  expect(new Set(words).size).toBe(words.length)
  for (const known of commandTable) {
    expect(usageOf(commandTable)).toContain(`  ${known.words}`)
    for (const flag of Object.keys(known.flags)) expect(usageOfCommand(known)).toContain(`--${flag}`)
  }
})

describe('a value', () => {
  test.each([
    ['25', 25_000_000n],
    ['0.05', 50_000n],
    ['0.000001', 1n],
    ['999999999999999.999999', 999_999_999_999_999_999_999n],
  ])('of %s USD is exact', (text, microUsd) => {
    expect(readUsd(text, '--usd')).toBe(microUsd)
  })

  test.each(['', '-1', '1e3', '0.0000001', '1,5', '.5', '5.', ' 5', '1'.repeat(16)])(
    'of %j USD is refused',
    (text) => {
      expect(() => readUsd(text, '--usd')).toThrow(CommandError)
    },
  )

  test.each([
    ['0', 0],
    ['90s', 90],
    ['30m', 1_800],
    ['12h', 43_200],
    ['7d', 604_800],
  ])('of %s is a time', (text, seconds) => {
    expect(readDuration(text, '--overlap')).toBe(seconds)
  })

  test.each(['', '7', '7w', '-1d', '1.5h', 'd'])('of %j is no time', (text) => {
    expect(() => readDuration(text, '--overlap')).toThrow(CommandError)
  })

  test('that is an address with a wrong checksum is refused', () => {
    const wallet = '0x2e988a386a799f506693793c6a5af6b54dfaabfb'
    expect(readWallet(wallet, '<wallet>')).toBe(wallet)
    expect(() => readWallet(wallet.replace('aabfb', 'aaBfb'), '<wallet>')).toThrow(CommandError)
  })
})
