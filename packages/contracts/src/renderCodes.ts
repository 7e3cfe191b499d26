import { codeHashOf } from './codeHash.ts'
import type { Artifact } from './compile.ts'

/** Contracts that an operator deploys: the first six and a depository on each quoted chain, the others for settlement. */
export const deployedNames = [
  'FillContract',
  'CleanupRouter',
  'DepositRouter',
  'DepositAddresses',
  'PermitRouter',
  'Permit2Router',
  'Depository',
  'Hub',
  'HubOracle',
  'OracleMultisig',
  'GenericMapping',
  'Allocator',
  'EvmPayloadBuilder',
  'SolanaPayloadBuilder',
  'BitcoinPayloadBuilder',
  'HyperliquidPayloadBuilder',
  'LighterPayloadBuilder',
] as const
export type DeployedName = (typeof deployedNames)[number]

/** Text of `codes.generated.ts`, which holds the code of all these contracts, so that services need no compiler. */
export function renderCodes(artifacts: Readonly<Record<DeployedName, Artifact>>): string {
  const rows = deployedNames.map((name) => {
    const { bytecode, runtimeBytecode, immutables } = artifacts[name]
    const spans = immutables.map(({ start, length }) => `{ start: ${start}, length: ${length} }`)
    return [
      `  ${name}: {`,
      `    creationCode: '${bytecode}',`,
      `    codeHash: '${codeHashOf(runtimeBytecode, immutables)}',`,
      `    immutables: [${spans.join(', ')}],`,
      '  },',
    ].join('\n')
  })
  const head = '// Written by scripts/generateAbis.ts from packages/contracts/contracts. Do not edit.'
  return `${head}\n\nexport const shippedCodes = {\n${rows.join('\n')}\n} as const\n`
}
