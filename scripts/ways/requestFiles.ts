import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { MeasuredService, RanFunction } from './measuredService.ts'

/** What a service does while nobody asks is measured so often, each time as long as a request takes. */
const controls = 4
const controlMs = 400

/** The files in which a function ran because of one request. */
export type RequestFiles = {
  /** From the repository's root, in alphabetical order. */
  readonly files: readonly string[]
  /** Leaf utilities of `core`: modules that import nothing of it, and all of `hashing` and `money`. Not counted. */
  readonly leaves: readonly string[]
}

/** @param ask makes the request, and throws when it fails */
export async function requestFiles(
  service: MeasuredService,
  ask: () => Promise<void>,
): Promise<RequestFiles> {
  const idle = new Set<string>()
  await service.ranSince()
  for (let control = 0; control < controls; control += 1) {
    await new Promise((resolve) => setTimeout(resolve, controlMs))
    for (const ran of await service.ranSince()) idle.add(keyOf(ran))
  }
  await service.ranSince()
  await ask()
  const ran = (await service.ranSince()).filter((one) => !idle.has(keyOf(one)))
  const files = [...new Set(ran.map(({ url }) => sourceOf(url)))].sort()
  const leaves = files.filter(isLeafOfCore)
  return { files: files.filter((file) => !leaves.includes(file)), leaves }
}

const keyOf = ({ url, at }: RanFunction) => `${url} ${at}`

function sourceOf(url: string): string {
  const from = url.search(/\/(?:packages|apps)\/[^/]+\/dist\//)
  return url
    .slice(from + 1)
    .replace('/dist/', '/src/')
    .replace(/\.js$/, '.ts')
}

/** Formats, hashes and numbers: nobody follows a request into them. */
function isLeafOfCore(file: string): boolean {
  if (!file.startsWith('packages/core/')) return false
  if (/^packages\/core\/src\/(?:hashing|money)\//.test(file)) return true
  const path = fileURLToPath(new URL(`../../${file}`, import.meta.url))
  if (!existsSync(path)) return false
  return !/^(?:import|export) (?!type\b)[^;]*? from '\.\.?\//ms.test(readFileSync(path, 'utf8'))
}
