// Writes sbom/<service>.cdx.json, the bill of what each image holds, from the lockfile and the installed packages.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { billsOf, unlisted } from './sbom/bills.ts'

const root = join(import.meta.dirname, '..')

/**
 * @param bundled folder that `bundle.mjs --images` wrote, for a comparison
 * @returns whether each package that a bundle holds is in its bill
 */
export function writeBills(bundled: string | undefined): boolean {
  const dockerfile = readFileSync(join(root, 'docker/Dockerfile'), 'utf8')
  const lockfile = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8')
  mkdirSync(join(root, 'sbom'), { recursive: true })
  // Beside what was bundled, this process is the image's own Node.
  const node = bundled === undefined ? {} : { node: process.versions.node }
  let isListed = true
  for (const { service, text, production } of billsOf(root, { dockerfile, lockfile, ...node })) {
    writeFileSync(join(root, 'sbom', `${service}.cdx.json`), text)
    console.log(`sbom/${service}.cdx.json: ${production.packages.size} packages`)
    if (bundled === undefined) continue
    const list: unknown = JSON.parse(readFileSync(join(bundled, `${service}.packages.json`), 'utf8'))
    for (const id of unlisted(production, z.array(z.string()).parse(list))) {
      console.error(`${service}: ${id} is in the bundle and not in the bill`)
      isListed = false
    }
  }
  return isListed
}
