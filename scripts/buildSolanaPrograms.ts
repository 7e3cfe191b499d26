// Compiles the Solana programs and writes them beside their sources, with a record of what they
// were built from. Needs `clang-16` with the BPF target (Debian package clang-16):
// node scripts/run.mjs scripts/buildSolanaPrograms.ts
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  buildOf,
  buildsFile,
  compilerFlags,
  folderOf,
  includeFlags,
  programs,
} from './solanaPrograms/builds.ts'
import { linkProgram } from './solanaPrograms/linkProgram.ts'

const scratch = mkdtempSync(join(tmpdir(), 'solana-programs-'))
const builds = programs.map((program) => {
  const object = join(scratch, `${program}.o`)
  const source = join(folderOf[program], `${program}.c`)
  execFileSync('clang-16', [...compilerFlags, ...includeFlags, source, '-o', object], { stdio: 'inherit' })
  const linked = linkProgram(readFileSync(object))
  writeFileSync(join(folderOf[program], `${program}.so`), linked)
  console.log(`${program}.so: ${linked.length} bytes`)
  return [program, buildOf(program, linked)] as const
})
writeFileSync(buildsFile, `${JSON.stringify(Object.fromEntries(builds), null, 2)}\n`)
rmSync(scratch, { recursive: true })
