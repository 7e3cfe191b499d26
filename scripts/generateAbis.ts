// Writes the ABIs of the shipped contracts and of the local ones from their Solidity sources.
// Run: node --conditions=source --import tsx scripts/generateAbis.ts
import { writeFile } from 'node:fs/promises'
import { loadArtifacts, renderAbis } from '@causeway/contracts'
import { loadLocalArtifacts } from '../packages/localnet/src/contracts/artifacts.ts'

const root = new URL('../packages/', import.meta.url)
await writeFile(
  new URL('contracts/src/abis.generated.ts', root),
  renderAbis(await loadArtifacts(), 'packages/contracts/contracts'),
)
await writeFile(
  new URL('localnet/src/contracts/abis.generated.ts', root),
  renderAbis(await loadLocalArtifacts(), 'packages/localnet/contracts'),
)
