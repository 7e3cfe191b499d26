/** One option of a command, e.g. `--since <time>`. */
export type Flag = {
  /** Placeholder of the value, e.g. `<text>`; absent for a switch. */
  readonly value?: string
  readonly about: string
  readonly isRequired?: boolean
}

/** Syntax of one command of a program; `readCommandLine` derives parsing and help from it. */
export type CommandForm = {
  /** Group and verb, e.g. `keys create`; one word for a command without a group, none for a program that is one command. */
  readonly words: string
  readonly about: string
  /** Positional arguments in order: `id` is required, `[count]` is optional, `reason...` takes all remaining words. */
  readonly operands?: readonly string[]
  /** By name, without the dashes. */
  readonly flags?: Readonly<Record<string, Flag>>
  /** True: undeclared flags go unchanged to the last operand, for a command that passes them to another program. */
  readonly handsOn?: true
}

export type Arguments = {
  /** Value of an operand; empty where an optional one is left out. @throws Error for an undeclared one */
  operand(name: string): string
  list(name: string): readonly string[]
  text(flag: string): string | undefined
  /** True if a flag without value is given. */
  isOn(flag: string): boolean
}

/** A command of every service, which recognizes it by `isDoctor` and runs it before it reads its settings. */
export const doctor: CommandForm & { readonly isDoctor: true } = {
  words: 'doctor',
  about: 'Tell every setting that is missing, wrong or contradictory, and what to do',
  flags: { json: { about: 'Print one JSON document' } },
  isDoctor: true,
}
