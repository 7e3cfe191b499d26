import type { Command } from './command.ts'

const invocation = 'npm run causeway --'

/** One line per command. */
export function usageOf(commands: readonly Command[]): string {
  const width = Math.max(...commands.map((command) => signatureOf(command).length))
  return [
    `Usage: ${invocation} <command> [--json]`,
    '',
    ...commands.map((command) => `  ${signatureOf(command).padEnd(width)}  ${command.about}`),
    '',
    'Works on the database itself, beside the service or without it. DATABASE_URL names it; without one,',
    'ENVIRONMENT=local (the default) uses the database of npm start. --json prints one JSON document.',
  ].join('\n')
}

/** What one command takes. */
export function usageOfCommand(command: Command): string {
  const flags = Object.entries(command.flags)
  const named = flags.map(([name, { value }]) => `--${name}${value === undefined ? '' : ` ${value}`}`)
  const width = Math.max(0, ...named.map((text) => text.length))
  return [
    `Usage: ${invocation} ${signatureOf(command)} [--json]`,
    command.about,
    ...flags.map(([, { about }], index) => `  ${(named[index] ?? '').padEnd(width)}  ${about}`),
  ].join('\n')
}

function signatureOf({ words, operands, flags }: Command): string {
  const required = Object.entries(flags).filter(([, { isRequired }]) => isRequired === true)
  return [
    words,
    ...operands.map((name) => `<${name}>`),
    ...required.map(([name, { value }]) => `--${name} ${value}`),
  ].join(' ')
}
