// Goal: whoever operates learns from each command what it takes. Attack: a command that is added without help, or whose help
// is written by hand and says something else.
import { readCommandLine } from '@causeway/cli'
import { describe, expect, test } from 'vitest'
import { causeway, runCli } from './runCli.ts'

const told = (...words: readonly string[]) => {
  const line = readCommandLine(words, causeway)
  return line.kind === 'help' ? line.text : `${line.kind}: no help`
}

describe('causeway', () => {
  test('O-133: every command and every group has help, made of what is declared', () => {
    const { commands, groups = {} } = causeway
    expect(commands.length).toBeGreaterThan(45)
    expect(new Set(commands.map(({ words }) => words)).size).toBe(commands.length)
    const firstOfTwo = commands.flatMap(({ words }) =>
      words.includes(' ') ? words.split(' ').slice(0, 1) : [],
    )
    expect(new Set(firstOfTwo)).toEqual(new Set(Object.keys(groups)))
    for (const [group, about] of Object.entries(groups)) {
      expect(told()).toMatch(new RegExp(`^  ${group} .*${about}$`, 'm'))
      expect(told(group, '--help')).toContain(about)
    }
    for (const { words, about, operands = [], flags = {} } of commands) {
      const help = told(...words.split(' '), '--help')
      expect(help.replaceAll(/\s+/g, ' ')).toContain(about)
      expect(help).toContain(`Usage: npm run causeway -- ${words}`)
      for (const operand of operands) expect(help).toContain(`<${operand}>`)
      for (const flag of Object.keys(flags)) expect(help).toContain(`--${flag}`)
      const [first = '', verb] = words.split(' ')
      expect(verb === undefined ? told('help') : told(first, 'help')).toMatch(
        new RegExp(`^  ${verb ?? first} `, 'm'),
      )
    }
  })

  test.each([
    [['keys', 'craete'], "unknown command 'craete'\n(Did you mean create?)", 'list'],
    [['keys'], 'API keys', 'rotate [options] <id>'],
    [['stop', 'all'], "required option '--reason' not specified", 'stop [options] <chain|all>'],
  ])('O-133: %j is refused with exit code 2, and with what would be right', async (words, said, right) => {
    const lines: string[] = []
    const keep = async (line: string) => void lines.push(line)
    const never = () => Promise.reject(new Error('no command runs'))
    const { signal } = new AbortController()
    const code = await runCli({
      words,
      actor: 'cli:test',
      signal,
      print: never,
      complain: keep,
      config: never,
    })
    expect([code, lines.join('\n')]).toEqual([2, expect.stringContaining(said)])
    expect(lines.join('\n')).toContain(right)
  })
})
