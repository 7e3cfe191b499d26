import { createRequire } from 'node:module'
import type { Abi } from 'viem'
import { z } from 'zod'
import { compilerInput, type SoliditySource } from './compilerInput.ts'
import { type ContractSources, namesOf } from './contractNames.ts'

const code = z.string().regex(/^([0-9a-f]{2})+$/)

const outputSchema = z.object({
  errors: z
    .array(z.object({ severity: z.string(), errorCode: z.string(), formattedMessage: z.string() }))
    .default([]),
  contracts: z
    .record(
      z.string(),
      z.record(
        z.string(),
        z.object({
          // CAST: the compiler's ABI is what viem's type describes.
          abi: z.array(z.unknown()).transform((abi) => abi as unknown as Abi),
          evm: z.object({
            bytecode: z.object({ object: code }),
            deployedBytecode: z.object({
              object: code,
              immutableReferences: z
                .record(z.string(), z.array(z.object({ start: z.number(), length: z.number() })))
                .default({}),
            }),
          }),
        }),
      ),
    )
    .default({}),
})

export type Artifact = {
  readonly abi: Abi
  /** Creation code, without constructor arguments. */
  readonly bytecode: `0x${string}`
  /** Deployed bytecode; immutables are zero in it. */
  readonly runtimeBytecode: `0x${string}`
  /** Spans of immutables in the deployed bytecode, in bytes. */
  readonly immutables: readonly CodeSpan[]
}

/** A part of a contract's code, in bytes. */
export type CodeSpan = { readonly start: number; readonly length: number }

/**
 * `selfdestruct` warns that it only clears what was created in the same transaction, which is what
 * `DepositSweep` wants of it.
 */
const expectedWarnings: ReadonlySet<string> = new Set(['5159'])

export type ArtifactsOf<Name extends string> = Readonly<Record<Name, Artifact>>

/**
 * Compiles every contract of `table` in one run. The compiler is 9 MB of code, so it is loaded here and not at
 * import. @throws Error with the compiler's messages; warnings count, because a warning is a doubt
 */
export function compile<Name extends string>(
  sources: readonly SoliditySource[],
  table: ContractSources<Name>,
): ArtifactsOf<Name> {
  // CAST: the package types its one function as untyped; the answer is parsed below.
  const solc = createRequire(import.meta.url)('solc') as { compile(input: string): string }
  const output = outputSchema.parse(JSON.parse(solc.compile(JSON.stringify(compilerInput(sources, table)))))
  const errors = output.errors.filter(({ errorCode }) => !expectedWarnings.has(errorCode))
  if (errors.length > 0) throw new Error(errors.map((error) => error.formattedMessage).join('\n'))
  const artifact = (name: Name): Artifact => {
    const compiled = output.contracts[table[name]]?.[name]
    if (compiled === undefined) throw new Error(`${name} is not in ${table[name]}`)
    return {
      abi: compiled.abi,
      bytecode: `0x${compiled.evm.bytecode.object}`,
      runtimeBytecode: `0x${compiled.evm.deployedBytecode.object}`,
      immutables: Object.values(compiled.evm.deployedBytecode.immutableReferences)
        .flat()
        .sort((a, b) => a.start - b.start),
    }
  }
  // CAST: the names are all keys of the table.
  return Object.fromEntries(namesOf(table).map((name) => [name, artifact(name)])) as ArtifactsOf<Name>
}

/** The compiler that this machine has. */
export function compilerVersion(): string {
  // CAST: a package manifest has a version.
  return (createRequire(import.meta.url)('solc/package.json') as { version: string }).version
}
