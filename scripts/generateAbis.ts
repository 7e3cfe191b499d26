// Writes the ABIs of the shipped contracts and of the local ones from their Solidity sources, and the code of
// what is deployed.
// Run: node scripts/run.mjs scripts/generateAbis.ts
import { writeFile } from 'node:fs/promises'
import { loadArtifacts, renderAbis, renderCodes } from '@causeway/contracts'
import { loadLocalArtifacts } from '../packages/localnet/src/contracts/artifacts.ts'

const root = new URL('../packages/', import.meta.url)
const artifacts = await loadArtifacts()
await writeFile(
  new URL('contracts/src/abis.generated.ts', root),
  renderAbis(artifacts, 'packages/contracts/contracts'),
)
await writeFile(new URL('contracts/src/codes.generated.ts', root), renderCodes(artifacts))
await writeFile(
  new URL('localnet/src/contracts/abis.generated.ts', root),
  renderAbis(await loadLocalArtifacts(), 'packages/localnet/contracts'),
)
