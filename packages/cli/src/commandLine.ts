import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import type { Arguments, CommandForm, Flag } from './commandForm.ts'

/** Everything that one program understands. */
export type Program<Form extends CommandForm> = {
  /** Prefix typed before the words, e.g. `npm run causeway --`. */
  readonly name: string
  readonly about: string
  readonly commands: readonly Form[]
  /** Description of each command group, by its first word. */
  readonly groups?: Readonly<Record<string, string>>
  /** Ends the help of the program. */
  readonly notes?: string
}

/** A program that is one command. */
export function oneCommand(
  name: string,
  about: string,
  form: Pick<CommandForm, 'operands' | 'flags' | 'handsOn'> & { readonly notes?: string } = {},
): Program<CommandForm> {
  const { notes, ...rest } = form
  return { name, about, commands: [{ words: '', about, ...rest }], ...(notes !== undefined && { notes }) }
}

export type CommandLine<Form extends CommandForm> =
  | { readonly kind: 'help'; readonly text: string }
  /** `text`: what is not understood, and what would be. */
  | { readonly kind: 'wrong'; readonly text: string }
  | {
      readonly kind: 'run'
      readonly command: Form
      readonly args: Arguments
      /** Usage line of the command. */
      readonly usage: string
    }

/** Columns: the same on every terminal, so that texts of help can be kept in files. */
const helpWidth = 110

/** Reads what was typed. No words ask for help, unless the program is one command. */
export function readCommandLine<Form extends CommandForm>(
  words: readonly string[],
  program: Program<Form>,
): CommandLine<Form> {
  let text = ''
  let run: CommandLine<Form> | undefined
  const root = new Command(program.name)
    .description(program.about)
    .exitOverride()
    .configureOutput({
      writeOut: (part) => (text += part),
      writeErr: (part) => (text += part),
      getOutHelpWidth: () => helpWidth,
      getErrHelpWidth: () => helpWidth,
    })
    .showHelpAfterError()
  for (const form of program.commands) {
    const command = placed(root, form, program.groups)
    declare(command, form).action(() => {
      // Here and not by the library, which would tell it before an option that it does not know.
      for (const [name, { isRequired }] of Object.entries(form.flags ?? {}))
        if (isRequired === true && command.getOptionValue(attributeOf(name)) === undefined)
          command.error(`error: required option '--${name}' not specified`)
      run = { kind: 'run', command: form, args: argumentsOf(command), usage: command.helpInformation() }
    })
  }
  if (program.notes !== undefined) root.addHelpText('after', `\n${program.notes}`)
  const isOne = program.commands.some((form) => form.words === '')
  try {
    root.parse(words.length === 0 && !isOne ? ['--help'] : words, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // The library has help that nobody asked for be a failure, too.
    return { kind: error.exitCode === 0 ? 'help' : 'wrong', text: text.trim() }
  }
  if (run === undefined) throw new Error(`${program.name}: no command ran and none was refused`)
  return run
}

/** Ends the process for a command line that runs nothing, e.g. help or a mistake. */
export type End = (line: Exclude<CommandLine<CommandForm>, { kind: 'run' }>) => never

/** Tells help or what is wrong, and ends the process with 0 or 2. */
const endProcess: End = ({ kind, text }) => {
  console[kind === 'help' ? 'log' : 'error'](text)
  return process.exit(kind === 'help' ? 0 : 2)
}

/** For a process that is one program. */
export function takeCommandLine<Form extends CommandForm>(
  words: readonly string[],
  program: Program<Form>,
  end: End = endProcess,
): Extract<CommandLine<Form>, { kind: 'run' }> {
  const line = readCommandLine(words, program)
  return line.kind === 'run' ? line : end(line)
}

/** The command of these words, below its group. */
function placed(root: Command, { words }: CommandForm, groups: Program<CommandForm>['groups']): Command {
  if (words === '') return root
  const [first = '', verb] = words.split(' ')
  if (verb === undefined) return root.command(first)
  const existingCommand = root.commands.find((command) => command.name() === first)
  const group = existingCommand ?? root.command(first).description(groups?.[first] ?? '')
  return group.command(verb)
}

function declare(command: Command, form: CommandForm): Command {
  const { words, about, operands = [], flags = {}, handsOn = false } = form
  if (words !== '') command.description(about)
  command.allowUnknownOption(handsOn)
  for (const operand of operands) command.argument(operand)
  for (const [name, flag] of Object.entries(flags)) command.addOption(optionOf(name, flag))
  return command
}

function optionOf(name: string, { value, about, isRequired = false }: Flag): Option {
  if (value === undefined) return new Option(`--${name}`, about)
  const described = isRequired ? `${about} (required)` : about
  return new Option(`--${name} ${value}`, described).argParser((text) => {
    // The library would take the next flag for the value.
    if (text.startsWith('--')) throw new InvalidArgumentError('Its value is missing.')
    return text
  })
}

function argumentsOf(command: Command): Arguments {
  const operands = new Map<string, readonly string[]>(
    command.registeredArguments.map((argument, index) => {
      const typed: unknown = command.processedArgs[index] ?? []
      return [argument.name(), Array.isArray(typed) ? typed.map(String) : [String(typed)]]
    }),
  )
  const list = (name: string) => {
    const words = operands.get(name)
    if (words === undefined) throw new Error(`${command.name()} has no operand ${name}`)
    return words
  }
  const flagValue = (flag: string): unknown => command.getOptionValue(attributeOf(flag))
  return {
    list,
    operand: (name) => list(name).join(' '),
    text(flag) {
      const value = flagValue(flag)
      return typeof value === 'string' ? value : undefined
    },
    isOn: (flag) => flagValue(flag) === true,
  }
}

const attributeOf = (flag: string) => new Option(`--${flag}`).attributeName()
