// Compiles the Solana programs that tests run and writes them beside their sources. Needs `clang-16` with
// the BPF target (Debian package clang-16): node --import tsx scripts/buildSolanaPrograms.ts
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { linkProgram } from './solanaPrograms/linkProgram.ts'

const folder = fileURLToPath(new URL('../packages/localnet/src/standIns/solana/programs/', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'solana-programs-'))
const flags = [
  '-target',
  'bpf',
  '-mcpu=v2',
  '-O2',
  '-fno-builtin',
  '-fno-merge-all-constants',
  '-Wall',
  '-Werror',
  '-c',
]

for (const program of ['depository', 'forwarder']) {
  const object = join(scratch, `${program}.o`)
  execFileSync('clang-16', [...flags, join(folder, `${program}.c`), '-o', object], { stdio: 'inherit' })
  const linked = linkProgram(readFileSync(object))
  writeFileSync(join(folder, `${program}.so`), linked)
  console.log(`${program}.so: ${linked.length} bytes`)
}
rmSync(scratch, { recursive: true })
