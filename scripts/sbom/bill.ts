import { Contrib, Enums, Models, Serialize, SPDX, Spec } from '@cyclonedx/cyclonedx-library'
import { PackageURL } from 'packageurl-js'
import type { LockedPackage, ProductionPackages } from './lockfile.ts'

const licenses = new Contrib.License.Factories.LicenseFactory(requireExpression)

export type Ours = { readonly name: string; readonly version: string; readonly license: string }

export type BillParts = {
  readonly service: string
  readonly production: ProductionPackages
  /** By folder of the workspace. */
  readonly ours: ReadonlyMap<string, Ours>
  /** SPDX expressions by `name@version`. */
  readonly licenseOf: (id: string) => string | undefined
  /** The Node version of the image. */
  readonly node: string
}

/**
 * The bill of one image in CycloneDX 1.6: the same bytes for the same lockfile, because neither time nor a random
 * number is in it. Not in it: what the base image brings beside Node.
 * @throws Error naming every package without a licence
 */
export function billOf({ service, production, ours, licenseOf, node }: BillParts): string {
  const components = new Map<string, Models.Component>()
  const unlicensed = [...production.packages.keys()].filter((id) => licenseOf(id) === undefined)
  if (unlicensed.length > 0) throw new Error(`no licence is known of ${unlicensed.join(', ')}`)
  for (const folder of production.folders.keys()) {
    const own = ours.get(folder)
    if (own === undefined) throw new Error(`${folder} has no package.json`)
    const isService = folder === `apps/${service}`
    const type = isService ? Enums.ComponentType.Application : Enums.ComponentType.Library
    components.set(folder, component(type, own, own.license))
  }
  for (const [id, locked] of production.packages) {
    const made = component(Enums.ComponentType.Library, locked, licenseOf(id) ?? '')
    made.hashes.set(...sha512(locked))
    components.set(id, made)
  }
  link(components, production)
  const root = components.get(`apps/${service}`)
  if (root === undefined) throw new Error(`${service} is not among its own packages`)
  const bom = new Models.Bom({ metadata: new Models.Metadata({ component: root }) })
  const runtime = new Models.Component(Enums.ComponentType.Platform, 'node', {
    version: node,
    bomRef: 'node',
    purl: new PackageURL('generic', null, 'node', node).toString(),
    licenses: new Models.LicenseRepository([licenses.makeFromString('MIT')]),
  })
  root.dependencies.add(runtime.bomRef)
  bom.components.add(runtime)
  for (const made of components.values()) if (made !== root) bom.components.add(made)
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6))
  return `${serializer.serialize(bom, { sortLists: true, space: 1 })}\n`
}

/** @throws Error for text that names a licence which nobody can look up */
function requireExpression(text: string): void {
  const ids = text.split(/ OR | AND | WITH |[()]/).filter((id) => id.trim() !== '')
  const unknown = ids.filter((id) => !SPDX.isSupportedSpdxId(id.trim()))
  if (unknown.length > 0 || ids.length === 0) throw new Error(`no licence of SPDX: ${text}`)
}

function component(
  type: Enums.ComponentType,
  { name, version }: { readonly name: string; readonly version: string },
  license: string,
): Models.Component {
  const [short = name, group] = name.split('/').reverse()
  return new Models.Component(type, short, {
    ...(group !== undefined && { group }),
    version,
    bomRef: `${name}@${version}`,
    purl: new PackageURL('npm', group ?? null, short, version).toString(),
    licenses: new Models.LicenseRepository([licenses.makeFromString(license)]),
  })
}

function sha512({ name, integrity }: LockedPackage): [Enums.HashAlgorithm, string] {
  const [, digest] = /^sha512-([A-Za-z0-9+/=]+)$/.exec(integrity) ?? []
  if (digest === undefined) throw new Error(`the lockfile pins ${name} by something else than SHA-512`)
  return [Enums.HashAlgorithm['SHA-512'], Buffer.from(digest, 'base64').toString('hex')]
}

function link(components: ReadonlyMap<string, Models.Component>, production: ProductionPackages): void {
  const edges = [
    ...production.folders,
    ...[...production.packages].map(([id, { uses }]) => [id, uses] as const),
  ]
  for (const [id, uses] of edges) {
    for (const used of uses) {
      const target = components.get(used)
      if (target === undefined) throw new Error(`${id} uses ${used}, which is not in the bill`)
      components.get(id)?.dependencies.add(target.bomRef)
    }
  }
}
