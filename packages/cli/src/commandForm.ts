export type Flag = {
  /** Placeholder of the value, e.g. `<text>`; absent for a switch. */
  readonly value?: string
  readonly about: string
  readonly isRequired?: boolean
}

/** Grammar of one command; parsing and help are derived from it. */
export type CommandForm = {
  /** Group and verb, e.g. `keys create`; one word for a command without a group, none for a program that is one command. */
  readonly words: string
  readonly about: string
  /** In order: `id` is required, `[count]` may be left out, `reason...` takes every word that is left. */
  readonly operands?: readonly string[]
  readonly flags?: Readonly<Record<string, Flag>>
  /** Flags that are not declared go to the last operand, as they stand: another program takes them. */
  readonly handsOn?: true
}

/** Parsed arguments of a command, by name. */
export type Arguments = {
  /** Empty where an optional one was left out. @throws Error for one the command does not declare */
  operand(name: string): string
  /** Each word of an operand that takes all that are left. */
  list(name: string): readonly string[]
  text(flag: string): string | undefined
  isOn(flag: string): boolean
}

/** Every service has one: it needs no working setting, so that each tells its findings before it reads them. */
export const doctor: CommandForm & { readonly isDoctor: true } = {
  words: 'doctor',
  about: 'Tell every setting that is missing, wrong or contradictory, and what to do',
  flags: { json: { about: 'Print one JSON document' } },
  isDoctor: true,
}
