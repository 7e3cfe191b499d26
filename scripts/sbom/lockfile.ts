import { posix } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

const dependencies = z.record(z.string(), z.string()).default({})
const lockfile = z.object({
  importers: z.record(
    z.string(),
    z.object({ dependencies: z.record(z.string(), z.object({ version: z.string() })).default({}) }),
  ),
  packages: z.record(z.string(), z.object({ resolution: z.object({ integrity: z.string().optional() }) })),
  snapshots: z.record(z.string(), z.object({ dependencies })),
})

/** A package of a registry, as the lockfile pins it. */
export type LockedPackage = {
  readonly name: string
  readonly version: string
  /** `sha512-` and base64. */
  readonly integrity: string
  /** `name@version` of what it loads. */
  readonly uses: readonly string[]
}

export type ProductionPackages = {
  /** Folders of the workspace, the service's own among them, with what each uses: folders and `name@version`. */
  readonly folders: ReadonlyMap<string, readonly string[]>
  /** By `name@version`. */
  readonly packages: ReadonlyMap<string, LockedPackage>
}

/**
 * Packages in the image of a service: its dependencies and theirs, peers among them. Development and optional
 * dependencies are left out, as docker/Dockerfile leaves them out.
 */
export function productionPackages(text: string, service: string): ProductionPackages {
  const lock = lockfile.parse(parse(text))
  const folders = new Map<string, readonly string[]>()
  const packages = new Map<string, LockedPackage>()
  const followed = new Set<string>()

  function followFolder(folder: string): void {
    if (folders.has(folder)) return
    const importer = lock.importers[folder]
    if (importer === undefined) throw new Error(`the lockfile has no ${folder}`)
    const uses = Object.entries(importer.dependencies).map(([name, { version }]) =>
      version.startsWith('link:') ? posix.join(folder, version.slice('link:'.length)) : keyOf(name, version),
    )
    folders.set(
      folder,
      uses.map((used) => (used in lock.importers ? used : withoutPeers(used))),
    )
    for (const used of uses) {
      if (used in lock.importers) followFolder(used)
      else followPackage(used)
    }
  }

  function followPackage(key: string): void {
    if (followed.has(key)) return
    followed.add(key)
    const snapshot = lock.snapshots[key]
    const id = withoutPeers(key)
    const integrity = lock.packages[id]?.resolution.integrity
    if (snapshot === undefined || integrity === undefined) throw new Error(`the lockfile does not pin ${key}`)
    const uses = Object.entries(snapshot.dependencies).map(([name, version]) => keyOf(name, version))
    const at = id.lastIndexOf('@')
    const before = packages.get(id)?.uses ?? []
    packages.set(id, {
      name: id.slice(0, at),
      version: id.slice(at + 1),
      integrity,
      uses: [...new Set([...before, ...uses.map(withoutPeers)])].sort(),
    })
    for (const used of uses) followPackage(used)
  }

  /** An alias is pinned under the name of what it stands for. */
  function keyOf(name: string, version: string): string {
    return `${name}@${version}` in lock.snapshots ? `${name}@${version}` : version
  }

  followFolder(`apps/${service}`)
  return { folders, packages }
}

/** One package is listed once, whatever its peers are: `ws@8.23.0(bufferutil@4.1.0)`. */
function withoutPeers(key: string): string {
  return key.replace(/\(.*$/, '')
}
