import { join } from 'node:path'
import { readStages } from '../checks/containers.ts'
import { billOf, type Ours } from './bill.ts'
import { installedIn, readPackage } from './installed.ts'
import { type ProductionPackages, productionPackages } from './lockfile.ts'

/**
 * Packages that name no licence in their package.json, by what their own licence file says. A new version is looked at
 * anew.
 */
const readByHand: ReadonlyMap<string, string> = new Map([['text-encoding-utf-8@1.0.2', 'Unlicense']])

export type ServiceBill = {
  readonly service: string
  /** CycloneDX, JSON. */
  readonly text: string
  readonly production: ProductionPackages
}

export type BillSources = {
  readonly dockerfile: string
  readonly lockfile: string
  /** The Node version of the image; default: what the Dockerfile pins. */
  readonly node?: string
}

/** The bill of every image that the Dockerfile makes. */
export function billsOf(
  root: string,
  { dockerfile, lockfile, node = pinnedNode(dockerfile) }: BillSources,
): readonly ServiceBill[] {
  const installed = installedIn(root)
  const { stages } = readStages(dockerfile)
  const services = stages.filter(({ instructions }) => instructions.some(({ keyword }) => keyword === 'CMD'))
  return services.map(({ name: service }) => {
    const production = productionPackages(lockfile, service)
    const licenseOf = (id: string) => installed.get(id)?.license ?? readByHand.get(id)
    const ours = new Map([...production.folders.keys()].map((folder) => [folder, requireOurs(root, folder)]))
    return { service, production, text: billOf({ service, production, ours, licenseOf, node }) }
  })
}

/** @throws Error where the base image has a moving tag */
export function pinnedNode(dockerfile: string): string {
  const image = readStages(dockerfile).variables.get('BASE_IMAGE') ?? ''
  const [, node] = /^node:(\d+\.\d+\.\d+)-/.exec(image) ?? []
  if (node === undefined) throw new Error('docker/Dockerfile pins no version of Node')
  return node
}

function requireOurs(root: string, folder: string): Ours {
  const { name, version, license } = readPackage(join(root, folder)) ?? {}
  if (name === undefined || version === undefined || license === undefined) {
    throw new Error(`${folder}/package.json needs name, version and licence`)
  }
  return { name, version, license }
}

/** @param ids `name@version` of each package in a bundle. @returns those that the bill has not */
export function unlisted(production: ProductionPackages, ids: readonly string[]): readonly string[] {
  return ids.filter((id) => !production.packages.has(id))
}
