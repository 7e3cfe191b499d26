import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const license = z.union([z.string(), z.object({ type: z.string() }).transform(({ type }) => type)])
const packageJson = z.object({
  name: z.string(),
  version: z.string(),
  license: license.optional().catch(undefined),
  licenses: z.array(license).min(1).optional().catch(undefined),
})

export type Installed = {
  readonly name: string
  readonly version: string
  readonly license: string | undefined
}

/**
 * Every package that pnpm put into a folder's `node_modules`, by `name@version`. Several licences of the old form may
 * be chosen from.
 */
export function installedIn(folder: string): ReadonlyMap<string, Installed> {
  const installedByName = new Map<string, Installed>()
  const store = join(folder, 'node_modules/.pnpm')
  for (const entry of readdirSync(store)) {
    if (!entry.includes('@')) continue
    for (const path of packagesIn(join(store, entry, 'node_modules'))) {
      const read = readPackage(path)
      if (read !== undefined) installedByName.set(`${read.name}@${read.version}`, read)
    }
  }
  return installedByName
}

/** @returns undefined where there is no package */
export function readPackage(path: string): Installed | undefined {
  let text: string
  try {
    text = readFileSync(join(path, 'package.json'), 'utf8')
  } catch {
    return undefined
  }
  const { name, version, license: one, licenses } = packageJson.parse(JSON.parse(text))
  const chosen = one ?? (licenses === undefined ? undefined : licenses.join(' OR '))
  return {
    name,
    version,
    license: licenses !== undefined && licenses.length > 1 && one === undefined ? `(${chosen})` : chosen,
  }
}

/** Folders, not links: those lead to what another package is. */
function packagesIn(modules: string): readonly string[] {
  return foldersIn(modules).flatMap((name) => {
    const path = join(modules, name)
    return name.startsWith('@') ? foldersIn(path).map((scoped) => join(path, scoped)) : [path]
  })
}

function foldersIn(path: string): readonly string[] {
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
}
