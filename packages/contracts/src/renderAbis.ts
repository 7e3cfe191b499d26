import type { Artifact } from './compile.ts'

/** The text of a file of ABIs: one constant per contract, typed so that viem infers calls. */
export function renderAbis(artifacts: Readonly<Record<string, Artifact>>, sources: string): string {
  const constants = Object.entries(artifacts).map(([name, { abi }]) => {
    const variable = `${name.charAt(0).toLowerCase()}${name.slice(1)}Abi`
    const entries = abi.map((entry) => `  ${JSON.stringify(entry)},\n`).join('')
    return `export const ${variable} = [\n${entries}] as const\n`
  })
  return `// Written by scripts/generateAbis.ts from ${sources}. Do not edit.\n\n${constants.join('\n')}`
}
