import type { Artifact } from './compile.ts'

/**
 * Text of `abis.generated.ts`: a constant for each contract, `as const`, so that viem infers the types of calls.
 * @param sources folder that the contracts were compiled from, for the file's first line
 */
export function renderAbis(artifacts: Readonly<Record<string, Artifact>>, sources: string): string {
  const constants = Object.entries(artifacts).map(([name, { abi }]) => {
    const variable = `${name.charAt(0).toLowerCase()}${name.slice(1)}Abi`
    const entries = abi.map((entry) => `  ${JSON.stringify(entry)},\n`).join('')
    return `export const ${variable} = [\n${entries}] as const\n`
  })
  return `// Written by scripts/generateAbis.ts from ${sources}. Do not edit.\n\n${constants.join('\n')}`
}
