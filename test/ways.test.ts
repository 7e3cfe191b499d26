// Goal: the two ways that the page of the architecture lists are those that requests go. Attack: a page that was
// right once. Method: the engine's count of the functions that ran, in both services, for requests over real nodes.
import { readFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { differences, listedFiles, wayNames, waysPage } from '../scripts/ways/listedFiles.ts'
import { measureWays } from '../scripts/ways/measureWays.ts'

const page = readFileSync(new URL(`../${waysPage}`, import.meta.url), 'utf8')
let measured: Awaited<ReturnType<typeof measureWays>>

beforeAll(async () => {
  measured = await measureWays()
})

test.each(wayNames)('the page lists the files that a request runs through: %s', (way) => {
  expect(differences(listedFiles(page, way), measured[way].files)).toEqual([])
})
