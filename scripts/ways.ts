// The files of packages and apps through which two requests go, from the route to the answer, as the
// engine counts the functions that ran: the amount of a quoted bridge, and the transaction of an attested deposit.
import { readFileSync } from 'node:fs'
import { differences, listedFiles, type WayName, wayNames, waysPage } from './ways/listedFiles.ts'
import { measureWays } from './ways/measureWays.ts'
import type { RequestFiles } from './ways/requestFiles.ts'

/** @returns whether the page of the architecture lists the same files */
export async function compareWays(): Promise<boolean> {
  const page = readFileSync(waysPage, 'utf8')
  const measured = await measureWays()
  return wayNames.map((way) => report(page, way, measured[way])).every((isEqual) => isEqual)
}

function report(page: string, way: WayName, { files, leaves }: RequestFiles): boolean {
  console.log(`\n${way}: ${files.length} files`)
  for (const [folder, count] of Object.entries(byFolder(files))) console.log(`  ${count} in ${folder}`)
  for (const file of files) console.log(`    ${file}`)
  console.log(`  besides ${leaves.length} leaf utilities of core: ${leaves.join(', ')}`)
  const found = differences(listedFiles(page, way), files)
  for (const difference of found) console.log(`  ${waysPage}: ${difference}`)
  return found.length === 0
}

function byFolder(files: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const file of files) {
    const folder = file.split('/').slice(0, 2).join('/')
    counts[folder] = (counts[folder] ?? 0) + 1
  }
  return counts
}
