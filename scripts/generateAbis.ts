// Writes packages/localnet/src/contracts/abis.generated.ts from the Solidity sources.
// Run: node --conditions=source --import tsx scripts/generateAbis.ts
import { writeFile } from 'node:fs/promises'
import { loadArtifacts } from '../packages/localnet/src/contracts/artifacts.ts'
import { renderAbis } from '../packages/localnet/src/contracts/renderAbis.ts'

const target = new URL('../packages/localnet/src/contracts/abis.generated.ts', import.meta.url)
await writeFile(target, renderAbis(await loadArtifacts()))
