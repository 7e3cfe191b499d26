import { ConfigurationError } from '@causeway/core'

const assignment = /^(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$/
const bareValue = /^([^\s'"`$\\]*)(?:[ \t]+#.*)?[ \t]*$/
const singleQuoted = /^'([^']*)'[ \t]*(?:#.*)?$/
const doubleQuoted = /^"((?:[^"\\`$]|\\.)*)"[ \t]*(?:#.*)?$/

/**
 * Parses `KEY=VALUE` lines with the meaning that a shell gives them, without running one. It accepts a leading `export`,
 * quotes, comments and empty lines. It refuses what a shell would expand or run (`$`, backticks, unquoted spaces),
 * because the value would not be the text that is written.
 * @throws ConfigurationError naming file and line, never their content
 */
export function parseSecretsFile(text: string, fileName: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  for (const [index, rawLine] of text.split('\n').entries()) {
    const line = rawLine.trim()
    if (line === '' || line.startsWith('#')) continue
    const where = `line ${index + 1} of the secrets file ${fileName}`
    const [, key, written] = assignment.exec(line) ?? []
    if (key === undefined || written === undefined) {
      throw new ConfigurationError(`Cannot read ${where}: expected KEY=VALUE.`)
    }
    const value = unquote(written)
    if (value === undefined) {
      throw new ConfigurationError(`Cannot read the value of ${key} in ${where}: put it in single quotes.`)
    }
    if (values.has(key)) throw new ConfigurationError(`${key} is set twice, again in ${where}.`)
    values.set(key, value)
  }
  return values
}

/** @returns undefined for text that a shell would expand or that is quoted incorrectly */
function unquote(written: string): string | undefined {
  const bare = bareValue.exec(written)?.[1] ?? singleQuoted.exec(written)?.[1]
  if (bare !== undefined) return bare
  return doubleQuoted.exec(written)?.[1]?.replace(/\\([\\"$`])/g, '$1')
}
