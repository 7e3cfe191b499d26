import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

export const programsFolder = fileURLToPath(
  new URL('../../packages/localnet/src/standIns/solana/programs/', import.meta.url),
)
export const programs = ['depository', 'forwarder'] as const
type Program = (typeof programs)[number]

/** What `clang-16` is told. */
export const compilerFlags: readonly string[] = [
  ...['-target', 'bpf', '-mcpu=v2', '-O2', '-fno-builtin', '-fno-merge-all-constants', '-Wall', '-Werror'],
  '-c',
]

/** SHA-256 of what a program was built from, and of the program. */
type Build = { readonly sources: string; readonly program: string }

const buildSchema = z.strictObject({ sources: z.string(), program: z.string() })
export const buildsFile = join(programsFolder, 'builds.json')

/** What the last build recorded. @throws ZodError when the record has another shape */
export function readBuilds(): Readonly<Record<Program, Build>> {
  const record: unknown = JSON.parse(readFileSync(buildsFile, 'utf8'))
  return z.strictObject({ depository: buildSchema, forwarder: buildSchema }).parse(record)
}

/** @param linked the program's bytes */
export function buildOf(program: Program, linked: Uint8Array): Build {
  const sources = createHash('sha256').update(compilerFlags.join(' '))
  for (const name of [`${program}.c`, 'solana.h']) sources.update(readFileSync(join(programsFolder, name)))
  return { sources: sources.digest('hex'), program: createHash('sha256').update(linked).digest('hex') }
}
