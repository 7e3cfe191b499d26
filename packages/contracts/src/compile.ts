import { createRequire } from 'node:module'
import type { Abi } from 'viem'
import { z } from 'zod'
import { compilerInput, type SoliditySource } from './compilerInput.ts'
import { type ContractSources, namesOf } from './contractNames.ts'

/** Hex without 0x. */
const code = z.string().regex(/^([0-9a-f]{2})+$/)

/** The part of the compiler's output that is used. @source Solidity documentation, "Output Description" */
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
  /** Deployed code, with zeros where the constructor writes immutables. */
  readonly runtimeBytecode: `0x${string}`
  /** Places of immutables in the deployed code, in ascending order. */
  readonly immutables: readonly CodeSpan[]
}

/** A range of a contract's code. Offset and length in bytes. */
export type CodeSpan = { readonly start: number; readonly length: number }

/**
 * Warning 5159: since Cancun `selfdestruct` deletes only contracts that were created in the same transaction.
 * `DepositSweep` relies on exactly that.
 */
const expectedWarnings: ReadonlySet<string> = new Set(['5159'])

export type ArtifactsOf<Name extends string> = Readonly<Record<Name, Artifact>>

/**
 * Compiles all contracts of `table` in one run. The compiler is 9 MB of code, so it is loaded here and not at import.
 * @throws Error with the compiler's messages; unexpected warnings count as errors
 */
export function compile<Name extends string>(
  sources: readonly SoliditySource[],
  table: ContractSources<Name>,
): ArtifactsOf<Name> {
  // CAST: the package has no types for `compile`; its result is parsed below.
  const solc = createRequire(import.meta.url)('solc') as { compile(input: string): string }
  const output = outputSchema.parse(JSON.parse(solc.compile(JSON.stringify(compilerInput(sources, table)))))
  const errors = output.errors.filter(({ errorCode }) => !expectedWarnings.has(errorCode))
  if (errors.length > 0) throw new Error(errors.map((error) => error.formattedMessage).join('\n'))
  const readArtifact = (name: Name): Artifact => {
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
  return Object.fromEntries(namesOf(table).map((name) => [name, readArtifact(name)])) as ArtifactsOf<Name>
}

export function compilerVersion(): string {
  // CAST: a package manifest has a version.
  return (createRequire(import.meta.url)('solc/package.json') as { version: string }).version
}
