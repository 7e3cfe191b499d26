import { createHash } from 'node:crypto'
import { type ContractSources, namesOf } from './contractNames.ts'

export type SoliditySource = { readonly path: string; readonly content: string }

const outputs = ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object']

/**
 * One standard-JSON compilation. The code carries no metadata, so that an address (which CREATE2
 * derives from the code) changes with what a contract does and not with its comments.
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

/** Names one compilation: equal sources, settings and compiler give equal artifacts. */
export function compilationHash<Name extends string>(
  sources: readonly SoliditySource[],
  table: ContractSources<Name>,
  compilerVersion: string,
): string {
  return createHash('sha256')
    .update(JSON.stringify([compilerVersion, compilerInput(sources, table)]))
    .digest('hex')
}
