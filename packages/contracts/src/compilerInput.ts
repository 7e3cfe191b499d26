import { createHash } from 'node:crypto'
import { type ContractSources, namesOf } from './contractNames.ts'

/** `path`: relative to the folder of sources, as `import` statements name it. */
export type SoliditySource = { readonly path: string; readonly content: string }

const outputs = [
  'abi',
  'evm.bytecode.object',
  'evm.deployedBytecode.object',
  'evm.deployedBytecode.immutableReferences',
]

/**
 * Input of the compiler in its standard JSON form. Metadata is left out of the code: it contains a hash of the sources, so
 * with it a changed comment would change the code, and with that the address that CREATE2 derives from it.
 */
export function compilerInput<Name extends string>(
  sources: readonly SoliditySource[],
  table: ContractSources<Name>,
) {
  return {
    language: 'Solidity',
    sources: Object.fromEntries(sources.map(({ path, content }) => [path, { content }])),
    settings: {
      evmVersion: 'cancun',
      optimizer: { enabled: true, runs: 10_000 },
      viaIR: false,
      metadata: { appendCBOR: false, bytecodeHash: 'none' },
      outputSelection: Object.fromEntries(namesOf(table).map((name) => [table[name], { [name]: outputs }])),
    },
  }
}

/** Key of a compilation in the cache: equal sources, settings and compiler give equal artifacts. */
export function compilationHash<Name extends string>(
  sources: readonly SoliditySource[],
  table: ContractSources<Name>,
  compilerVersion: string,
): string {
  return createHash('sha256')
    .update(JSON.stringify([compilerVersion, compilerInput(sources, table)]))
    .digest('hex')
}
