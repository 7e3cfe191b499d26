import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const folder = (path: string): string => fileURLToPath(new URL(`../../${path}/`, import.meta.url))
/** Programs that an operator deploys, and the headers that every program is compiled with. */
const deployedPrograms = folder('packages/contracts/programs/solana')
/** Stand-ins for others' programs on local chains. */
const localPrograms = folder('packages/localnet/src/standIns/solana/programs')

export const programs = ['depositAddresses', 'depository', 'forwarder'] as const
type Program = (typeof programs)[number]

/** Folder of a program's source and of its build. */
export const folderOf: Readonly<Record<Program, string>> = {
  depositAddresses: deployedPrograms,
  depository: localPrograms,
  forwarder: localPrograms,
}

/** Flags of `clang-16`. */
export const compilerFlags: readonly string[] = [
  ...['-target', 'bpf', '-mcpu=v2', '-O2', '-fno-builtin', '-fno-merge-all-constants', '-Wall', '-Werror'],
  '-c',
]
export const includeFlags: readonly string[] = ['-I', deployedPrograms]

/** SHA-256 of what a program was built from, and of the program. */
type Build = { readonly sources: string; readonly program: string }

const buildSchema = z.strictObject({ sources: z.string(), program: z.string() })
export const buildsFile = fileURLToPath(new URL('builds.json', import.meta.url))

/** Record of the last build. @throws ZodError when the record has another shape */
export function readBuilds(): Readonly<Record<Program, Build>> {
  const record: unknown = JSON.parse(readFileSync(buildsFile, 'utf8'))
  return z
    .strictObject({ depositAddresses: buildSchema, depository: buildSchema, forwarder: buildSchema })
    .parse(record)
}

/** @param linked the program's bytes */
export function buildOf(program: Program, linked: Uint8Array): Build {
  const sources = createHash('sha256').update(compilerFlags.join(' '))
  for (const file of [join(folderOf[program], `${program}.c`), join(deployedPrograms, 'solana.h')])
    sources.update(readFileSync(file))
  return { sources: sources.digest('hex'), program: createHash('sha256').update(linked).digest('hex') }
}
