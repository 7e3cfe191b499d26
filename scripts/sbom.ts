// `npm run sbom` writes sbom/<service>.cdx.json, the bill of what each image holds, from the lockfile and the installed
// packages. With `--deployed <folder>` it compares <folder>/<service>, what the build of the images deployed, with the
// bill, and ends with 1 where they differ.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { billsOf, differences } from './sbom/bills.ts'

const root = join(import.meta.dirname, '..')
const { values } = parseArgs({ options: { deployed: { type: 'string' } } })
const dockerfile = readFileSync(join(root, 'docker/Dockerfile'), 'utf8')
const lockfile = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8')

mkdirSync(join(root, 'sbom'), { recursive: true })
// Beside what was deployed, this process is the image's own Node.
const node = values.deployed === undefined ? {} : { node: process.versions.node }
for (const { service, text, production } of billsOf(root, { dockerfile, lockfile, ...node })) {
  writeFileSync(join(root, 'sbom', `${service}.cdx.json`), text)
  console.log(`sbom/${service}.cdx.json: ${production.packages.size} packages`)
  if (values.deployed === undefined) continue
  for (const difference of differences(production, join(values.deployed, service))) {
    console.error(`${service}: ${difference}`)
    process.exitCode = 1
  }
}
