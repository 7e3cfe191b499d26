import { parseArgs } from 'node:util'
import type { Arguments, Command } from './command.ts'
import { CommandError } from './commandError.ts'

export type ParsedCommandLine =
  | { readonly kind: 'help' }
  | { readonly kind: 'run'; readonly command: Command; readonly args: Arguments; readonly json: boolean }
  /** `command` when it is known which one was meant. */
  | { readonly kind: 'wrong'; readonly problem: string; readonly command?: Command }

/** Reads the words behind `npm run causeway --`. Pure. */
export function parseCommandLine(words: readonly string[], commands: readonly Command[]): ParsedCommandLine {
  const [group, verb, ...more] = words
  if (group === undefined || group === 'help' || group === '--help' || group === '-h') return { kind: 'help' }
  const alone = commands.find((known) => known.words === group)
  const command = alone ?? commands.find((known) => known.words === `${group} ${verb}`)
  const rest = alone === undefined ? more : words.slice(1)
  if (command === undefined) {
    const name = verb === undefined ? group : `${group} ${verb}`
    return { kind: 'wrong', problem: `There is no command ${JSON.stringify(name)}.` }
  }
  try {
    return { kind: 'run', command, ...readArguments(command, rest) }
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return { kind: 'wrong', problem: error.message, command }
  }
}

function readArguments(command: Command, words: readonly string[]): { args: Arguments; json: boolean } {
  const { operands, flags } = command
  const { values, positionals } = parseStrictly(command, words)
  const missing = operands.slice(positionals.length)
  if (missing.length > 0) throw new CommandError(`<${missing[0]}> is missing.`)
  const surplus = positionals[operands.length]
  if (surplus !== undefined) throw new CommandError(`${JSON.stringify(surplus)} is not understood.`)
  const required = Object.entries(flags).find(
    ([name, { isRequired }]) => isRequired === true && values[name] === undefined,
  )
  if (required !== undefined) throw new CommandError(`--${required[0]} is missing.`)
  const args: Arguments = {
    operand(name) {
      const value = positionals[operands.indexOf(name)]
      if (value === undefined) throw new Error(`${command.words} has no operand ${name}`)
      return value
    },
    text(flag) {
      const value = values[flag]
      return typeof value === 'string' ? value : undefined
    },
    isOn: (flag) => values[flag] === true,
  }
  return { args, json: values['json'] === true }
}

/** @throws CommandError */
function parseStrictly(command: Command, words: readonly string[]) {
  const options = Object.fromEntries([
    ...Object.entries(command.flags).map(
      ([name, { value }]) => [name, { type: value === undefined ? 'boolean' : 'string' }] as const,
    ),
    ['json', { type: 'boolean' }] as const,
  ])
  try {
    return parseArgs({ args: [...words], options, allowPositionals: true, strict: true })
  } catch (error) {
    // Node's own words name the flag that is unknown or lacks its value.
    if (error instanceof TypeError && 'code' in error) throw new CommandError(error.message)
    throw error
  }
}
