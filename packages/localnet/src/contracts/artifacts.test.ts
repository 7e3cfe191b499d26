// Goal: the committed ABIs of the local contracts are what the compiler says.
import { readFile } from 'node:fs/promises'
import { renderAbis } from '@causeway/contracts'
import { expect, test } from 'vitest'
import { loadLocalArtifacts } from './artifacts.ts'

// The compiler needs seconds on a quiet machine, and many of them on a busy one.
test('the committed ABIs are those of the sources: run scripts/generateAbis.ts', {
  timeout: 180_000,
}, async () => {
  const committed = await readFile(new URL('./abis.generated.ts', import.meta.url), 'utf8')
  expect(renderAbis(await loadLocalArtifacts(), 'packages/localnet/contracts') === committed).toBe(true)
})
