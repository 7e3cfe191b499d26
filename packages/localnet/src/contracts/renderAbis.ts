import type { Artifacts } from './compile.ts'
import { contractNames } from './contractNames.ts'

/** The text of `abis.generated.ts`: one constant per contract, typed so that viem infers calls. */
export function renderAbis(artifacts: Artifacts): string {
  const constants = contractNames.map((name) => {
    const variable = `${name.charAt(0).toLowerCase()}${name.slice(1)}Abi`
    const entries = artifacts[name].abi.map((entry) => `  ${JSON.stringify(entry)},\n`).join('')
    return `export const ${variable} = [\n${entries}] as const\n`
  })
  return `// Written by scripts/generateAbis.ts from packages/localnet/contracts. Do not edit.\n\n${constants.join('\n')}`
}
