// The recording as files: one per service and group of routes, short values on one line, so that a difference of
// one member is a difference of one line.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const lineWidth = 118

const fileOf = (name: string) => fileURLToPath(new URL(`../answers/${name}.json`, import.meta.url))

/** True while the recording is written anew instead of compared. */
export const isRecording = process.env['CAUSEWAY_RECORD'] === '1'

/** @throws Error when the file is missing */
export async function readAnswers(name: string): Promise<readonly string[]> {
  const text = await readFile(fileOf(name), 'utf8').catch(() => {
    throw new Error(`${name} is not recorded: run npm run tools -- record`)
  })
  const entries: unknown = JSON.parse(text)
  if (!Array.isArray(entries)) throw new Error(`${name} is no recording`)
  return entries.map((entry) => layOut(entry))
}

export async function writeAnswers(name: string, entries: readonly unknown[]): Promise<void> {
  const file = fileOf(name)
  await mkdir(dirname(file), { recursive: true })
  const texts = entries.map((entry) => layOut(entry, '  '))
  await writeFile(file, `[\n${texts.map((text) => `  ${text}`).join(',\n')}\n]\n`)
}

/** JSON whose objects and lists stand on one line where they fit. */
export function layOut(value: unknown, indent = ''): string {
  const line = JSON.stringify(value)
  if (typeof value !== 'object' || value === null || indent.length + line.length <= lineWidth) return line
  const inner = `${indent}  `
  const isList = Array.isArray(value)
  const parts = isList
    ? value.map((entry) => `${inner}${layOut(entry, inner)}`)
    : Object.entries(value).map(([name, entry]) => `${inner}${JSON.stringify(name)}: ${layOut(entry, inner)}`)
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`
}
