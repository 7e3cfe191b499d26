// `npm run sbom` writes sbom/<service>.cdx.json, the bill of what each image holds, from the lockfile and the installed
// packages. With `--bundled <folder>` it ends with 1 where a bundle that `bundle.mjs --images <folder>` wrote holds a
// package that is not in its bill.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { billsOf, unlisted } from './sbom/bills.ts'

const root = join(import.meta.dirname, '..')
const { values } = parseArgs({ options: { bundled: { type: 'string' } } })
const dockerfile = readFileSync(join(root, 'docker/Dockerfile'), 'utf8')
const lockfile = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8')

mkdirSync(join(root, 'sbom'), { recursive: true })
// Beside what was bundled, this process is the image's own Node.
const node = values.bundled === undefined ? {} : { node: process.versions.node }
for (const { service, text, production } of billsOf(root, { dockerfile, lockfile, ...node })) {
  writeFileSync(join(root, 'sbom', `${service}.cdx.json`), text)
  console.log(`sbom/${service}.cdx.json: ${production.packages.size} packages`)
  if (values.bundled === undefined) continue
  const list: unknown = JSON.parse(readFileSync(join(values.bundled, `${service}.packages.json`), 'utf8'))
  for (const id of unlisted(production, z.array(z.string()).parse(list))) {
    console.error(`${service}: ${id} is in the bundle and not in the bill`)
    process.exitCode = 1
  }
}
