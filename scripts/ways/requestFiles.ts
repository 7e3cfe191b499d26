import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { MeasuredService, RanFunction } from './measuredService.ts'

/** What a service does while nobody asks is measured for so long: every loop of its background runs in it. */
const idleMs = 4_000

/** The files in which a function runs because of one request. */
export type RequestFiles = {
  /** From the repository's root, in alphabetical order. */
  readonly files: readonly string[]
  /** Leaf utilities of `core`: modules that import nothing of it, and all of `hashing` and `money`. Not counted. */
  readonly leaves: readonly string[]
}

/**
 * A file counts where every request ran a function of it, which the idle service does not run: what happens beside
 * one request by chance is not of its way.
 * @param asks requests of one kind; each rejects when it fails
 */
export async function requestFiles(
  service: MeasuredService,
  asks: readonly (() => Promise<void>)[],
): Promise<RequestFiles> {
  await service.ranSince()
  await new Promise((resolve) => setTimeout(resolve, idleMs))
  const idle = new Set((await service.ranSince()).map(keyOf))
  const rounds: ReadonlySet<string>[] = []
  for (const ask of asks) {
    await service.ranSince()
    await ask()
    const ran = (await service.ranSince()).filter((one) => !idle.has(keyOf(one)))
    rounds.push(new Set(ran.map(({ url }) => sourceOf(url))))
  }
  const [first = new Set<string>(), ...others] = rounds
  const files = [...first].filter((file) => others.every((round) => round.has(file))).sort()
  const leaves = files.filter(isLeafOfCore)
  return { files: files.filter((file) => !leaves.includes(file)), leaves }
}

const keyOf = ({ url, at }: RanFunction) => `${url} ${at}`

function sourceOf(url: string): string {
  return url.slice(url.search(/\/(?:packages|apps)\/[^/]+\/src\//) + 1)
}

/** Formats, hashes and numbers: nobody follows a request into them. */
function isLeafOfCore(file: string): boolean {
  if (!file.startsWith('packages/core/')) return false
  if (/^packages\/core\/src\/(?:hashing|money)\//.test(file)) return true
  const path = fileURLToPath(new URL(`../../${file}`, import.meta.url))
  if (!existsSync(path)) return false
  return !/^(?:import|export) (?!type\b)[^;]*? from '\.\.?\//ms.test(readFileSync(path, 'utf8'))
}
