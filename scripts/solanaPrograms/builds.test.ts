// Goal: the committed Solana programs are what their sources say. Method: the last build recorded the hashes of
// sources, compiler flags and result; a change of one without a build shows.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildOf, folderOf, programs, readBuilds } from './builds.ts'

test.each(programs)('%s was built from the sources beside it', (program) => {
  const linked = readFileSync(join(folderOf[program], `${program}.so`))
  expect(buildOf(program, linked), 'run scripts/buildSolanaPrograms.ts').toEqual(readBuilds()[program])
})
