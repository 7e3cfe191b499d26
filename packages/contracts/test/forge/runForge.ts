// Runs the Solidity tests beside it over the committed code of what ships.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Hex } from '@causeway/core'
import { z } from 'zod'
import { shippedCodes } from '../../src/codes.generated.ts'

/** Tries of a property, and random calls that an invariant is tried with. */
export type ForgeSizes = { readonly runs: number; readonly sequences: number; readonly depth: number }

/** By `<contract>.<function>`: why it failed, and undefined for one that passed. */
export type ForgeOutcome = ReadonlyMap<string, string | undefined>

const outcomeSchema = z.record(
  z.string(),
  z.object({
    test_results: z.record(
      z.string(),
      z.object({ status: z.string(), reason: z.string().nullish(), counterexample: z.unknown() }),
    ),
  }),
)

/** @throws Error with what forge said, where it ran no test */
export async function runForge(sizes: ForgeSizes): Promise<ForgeOutcome> {
  const { stdout, stderr } = await output(forgeBinary(), ['test', '--offline', '--json'], {
    ...process.env,
    ...Object.fromEntries(
      Object.entries(shippedCodes).map(([name, { creationCode }]) => [`CREATION_CODE_${name}`, creationCode]),
    ),
    CREATION_CODE_Permit2: permit2Code(),
    FOUNDRY_FUZZ_RUNS: String(sizes.runs),
    FOUNDRY_INVARIANT_RUNS: String(sizes.sequences),
    FOUNDRY_INVARIANT_DEPTH: String(sizes.depth),
    FOUNDRY_DISABLE_NIGHTLY_WARNING: '1',
  })
  const line = stdout.split('\n').find((text) => text.startsWith('{"'))
  if (line === undefined) throw new Error(`forge ran no test:\n${stdout}${stderr}`)
  const suites = Object.entries(outcomeSchema.parse(JSON.parse(line)))
  return new Map(
    suites.flatMap(([suite, { test_results: results }]) =>
      Object.entries(results).map(([signature, { status, reason, counterexample }]) => [
        `${suite.slice(suite.lastIndexOf(':') + 1)}.${signature.slice(0, signature.indexOf('('))}`,
        status === 'Success' ? undefined : `${reason ?? status} ${JSON.stringify(counterexample)}`,
      ]),
    ),
  )
}

/** The binary itself, so that its install script is not needed. */
function forgeBinary(): string {
  const wrapper = createRequire(import.meta.url).resolve('@foundry-rs/forge/package.json')
  const name = `@foundry-rs/forge-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`
  return join(dirname(createRequire(wrapper).resolve(`${name}/package.json`)), 'bin', 'forge')
}

/** As it stands on public chains. */
function permit2Code(): Hex {
  const root = dirname(createRequire(import.meta.url).resolve('hardhat-predeploy/package.json'))
  const code = readFileSync(join(root, 'bin', '0x000000000022D473030F116dDEE9F6B43aC78BA3.bytecode'))
  return `0x${code.toString('hex')}`
}

function output(
  binary: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const child = spawn(binary, args, { cwd: fileURLToPath(new URL('../../', import.meta.url)), env })
  const read = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    read.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    read.stderr += text
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', () => resolve(read))
  })
}
