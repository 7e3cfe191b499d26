import { startDeadline } from '@causeway/core'
import { expect, test } from 'vitest'
import { readByQuorum } from './readByQuorum.ts'
import type { Sighting } from './sighting.ts'

type Source = { readonly alias: string; readonly says: Sighting<string> | 'later' | 'never' }

const missing: Sighting<string> = { kind: 'refused', reason: 'missing' }
const shown: Sighting<string> = { kind: 'final', facts: 'in block 7' }

/** A reading of five sources, of which three must agree; all have the shown block on their chain. */
async function read(...says: readonly Source['says'][]) {
  const sources = says.map((one, index): Source => ({ alias: `e${index}`, says: one }))
  const voters = sources.map(({ alias }) => ({ alias, voice: alias }))
  const { outcome } = await readByQuorum<Source, undefined, undefined, string>({
    sources,
    electorate: { voters, threshold: 3 },
    first: async () => undefined,
    pin: () => undefined,
    async second(source) {
      if (source.says === 'never') return new Promise<never>(() => {})
      if (source.says !== 'later') return source.says
      await new Promise((resolve) => setTimeout(resolve, 50))
      return shown
    },
    confirms: async () => true,
    patienceMs: 10,
    deadline: startDeadline(undefined, 10_000),
  })
  return outcome
}

test('F-83: a transaction shown late is confirmed though another source stays silent', async () => {
  expect(await read(missing, missing, missing, 'later', 'never')).toEqual({ status: 'disagreed', groups: 2 })
})

test('F-83: a transaction that nobody shows is missing, however long others are silent', async () => {
  expect(await read(missing, missing, missing, 'never', 'never')).toEqual({
    status: 'refused',
    reason: 'missing',
  })
})
