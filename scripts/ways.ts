// `npm run ways`: the files of packages and apps through which two requests go, from the route to the answer, as the
// engine counts the functions that ran: the amount of a quoted bridge, and the transaction of an attested deposit.
// Ends with 1 where the page of the architecture lists other files.
import { readFileSync } from 'node:fs'
import { differences, listedFiles, type WayName, wayNames, waysPage } from './ways/listedFiles.ts'
import { measureWays } from './ways/measureWays.ts'
import type { RequestFiles } from './ways/requestFiles.ts'

const page = readFileSync(waysPage, 'utf8')
const measured = await measureWays()
for (const way of wayNames) report(way, measured[way])

function report(way: WayName, { files, leaves }: RequestFiles): void {
  console.log(`\n${way}: ${files.length} files`)
  for (const [folder, count] of Object.entries(byFolder(files))) console.log(`  ${count} in ${folder}`)
  for (const file of files) console.log(`    ${file}`)
  console.log(`  besides ${leaves.length} leaf utilities of core: ${leaves.join(', ')}`)
  for (const difference of differences(listedFiles(page, way), files)) {
    console.log(`  ${waysPage}: ${difference}`)
    process.exitCode = 1
  }
}

function byFolder(files: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const file of files) {
    const folder = file.split('/').slice(0, 2).join('/')
    counts[folder] = (counts[folder] ?? 0) + 1
  }
  return counts
}
