import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import type { Arguments, CommandForm, Flag } from './commandForm.ts'

/** All commands of one program, for parsing and help. */
export type Program<Form extends CommandForm> = {
  /** Text that a user types before a command's words, e.g. `npm run causeway --`. */
  readonly name: string
  readonly about: string
  readonly commands: readonly Form[]
  /** Description of each command group, by its first word. */
  readonly groups?: Readonly<Record<string, string>>
  /** Ends the help of the program. */
  readonly notes?: string
}

export function oneCommand(
  name: string,
  about: string,
  form: Pick<CommandForm, 'operands' | 'flags' | 'handsOn'> & { readonly notes?: string } = {},
): Program<CommandForm> {
  const { notes, ...rest } = form
  return { name, about, commands: [{ words: '', about, ...rest }], ...(notes !== undefined && { notes }) }
}

/** Meaning of the words of a command line: a request for help, a mistake, or a command to run. */
export type CommandLine<Form extends CommandForm> =
  | { readonly kind: 'help'; readonly text: string }
  /** `text`: the mistake, followed by the help. */
  | { readonly kind: 'wrong'; readonly text: string }
  | {
      readonly kind: 'run'
      readonly command: Form
      readonly args: Arguments
      readonly usage: string
    }

/** In columns. Fixed, so that recorded help texts do not depend on the terminal. */
const helpWidth = 110

/** Parses a command line. No words ask for help, unless the program is a single command. */
export function readCommandLine<Form extends CommandForm>(
  words: readonly string[],
  program: Program<Form>,
): CommandLine<Form> {
  let output = ''
  let run: CommandLine<Form> | undefined
  const root = new Command(program.name)
    .description(program.about)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => (output += text),
      writeErr: (text) => (output += text),
      getOutHelpWidth: () => helpWidth,
      getErrHelpWidth: () => helpWidth,
    })
    .showHelpAfterError()
  for (const form of program.commands) {
    const command = addCommand(root, form, program.groups)
    declareArguments(command, form).action(() => {
      // Required flags are checked here, because the library would check them first and hide an unknown flag.
      for (const [name, { isRequired }] of Object.entries(form.flags ?? {}))
        if (isRequired === true && command.getOptionValue(attributeOf(name)) === undefined)
          command.error(`error: required option '--${name}' not specified`)
      run = { kind: 'run', command: form, args: argumentsOf(command), usage: command.helpInformation() }
    })
  }
  if (program.notes !== undefined) root.addHelpText('after', `\n${program.notes}`)
  const isSingleCommand = program.commands.some((form) => form.words === '')
  try {
    root.parse(words.length === 0 && !isSingleCommand ? ['--help'] : words, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // Exit code 0 is requested help. The library also prints help after mistakes, with another code.
    return { kind: error.exitCode === 0 ? 'help' : 'wrong', text: output.trim() }
  }
  if (run === undefined) throw new Error(`${program.name}: no command ran and none was refused`)
  return run
}

/** Ends the process for a command line that runs nothing: help or a mistake. Tests replace it. */
export type End = (line: Exclude<CommandLine<CommandForm>, { kind: 'run' }>) => never

/** Prints the text to standard output and exits with 0 for help; to standard error and with 2 for a mistake. */
const endProcess: End = ({ kind, text }) => {
  console[kind === 'help' ? 'log' : 'error'](text)
  return process.exit(kind === 'help' ? 0 : 2)
}

/** Parses the command line of this process, and ends the process unless there is a command to run. */
export function takeCommandLine<Form extends CommandForm>(
  words: readonly string[],
  program: Program<Form>,
  end: End = endProcess,
): Extract<CommandLine<Form>, { kind: 'run' }> {
  const line = readCommandLine(words, program)
  return line.kind === 'run' ? line : end(line)
}

/** Adds a command to the program, below its group, e.g. `create` below `keys`. */
function addCommand(root: Command, { words }: CommandForm, groups: Program<CommandForm>['groups']): Command {
  if (words === '') return root
  const [first = '', verb] = words.split(' ')
  if (verb === undefined) return root.command(first)
  const existingCommand = root.commands.find((command) => command.name() === first)
  const group = existingCommand ?? root.command(first).description(groups?.[first] ?? '')
  return group.command(verb)
}

function declareArguments(command: Command, form: CommandForm): Command {
  const { words, about, operands = [], flags = {}, handsOn = false } = form
  if (words !== '') command.description(about)
  // Such a command passes flags that are not declared to another program: they are words of its last operand.
  command.allowUnknownOption(handsOn)
  for (const operand of operands) command.argument(operand)
  for (const [name, flag] of Object.entries(flags)) command.addOption(optionOf(name, flag))
  return command
}

function optionOf(name: string, { value, about, isRequired = false }: Flag): Option {
  if (value === undefined) return new Option(`--${name}`, about)
  const described = isRequired ? `${about} (required)` : about
  return new Option(`--${name} ${value}`, described).argParser((text) => {
    // Without this check the library takes the next flag as the value.
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

/** Name under which the library keeps a flag's value: `dry-run` becomes `dryRun`. */
const attributeOf = (flag: string) => new Option(`--${flag}`).attributeName()
