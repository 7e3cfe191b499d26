import { exampleVariables } from '@causeway/core/config'
import { readStages } from '../containers.ts'
import type { RepositoryFile } from '../finding.ts'

const dockerfile = 'docker/Dockerfile'
const shutdown = 'packages/service/src/shutdown.ts'
const quoteApiConfig = 'apps/quote-api/src/config/config.ts'
/** From the kill to the end of a process that was told to exit. */
const marginSeconds = 5

/** Facts that a deployment has to agree with, read from where they are decided. */
export type Services = {
  /** Ports that each image's target opens, by target. */
  readonly ports: ReadonlyMap<string, readonly number[]>
  /** The user of the images, `uid:gid`. */
  readonly user: string
  /** Longest time of a stop, s: the longest drain, the steps after it, and a margin. */
  readonly stopSeconds: number
  /** The version of this release. */
  readonly version: string
  /** False for a name that the service does not read; also where there is no such service. */
  readsVariable(service: string, name: string): boolean
}

/** @throws Error when a value is not where it is looked for: this reader moves with it */
export function readServices(files: readonly RepositoryFile[]): Services {
  const stages = readStages(textOf(files, dockerfile)).stages
  const exposed = stages.flatMap(({ name, instructions }) => {
    const ports = instructions.filter(({ keyword }) => keyword === 'EXPOSE').map(({ text }) => text)
    return ports.length === 0 ? [] : [[name, ports.join(' ').split(/\s+/).map(Number)] as const]
  })
  const users = stages.flatMap(({ instructions }) =>
    instructions.filter(({ keyword }) => keyword === 'USER').map(({ text }) => text),
  )
  const drainMs = numberIn(files, quoteApiConfig, /DRAIN_MS: .*\.max\(([\d_]+)\)/)
  const afterDrainMs = numberIn(files, shutdown, /hardExitMs = drainMs \+ ([\d_]+)/)
  const { version } = JSON.parse(textOf(files, 'package.json'))
  const variables = new Map(
    exposed.map(([service]) => [service, new Set(namesOf(textOf(files, `configs/${service}.example.env`)))]),
  )
  return {
    ports: new Map(exposed),
    user: users.at(-1) ?? '',
    stopSeconds: (drainMs + afterDrainMs) / 1000 + marginSeconds,
    version: String(version),
    readsVariable: (service, name) => variables.get(service)?.has(name) ?? false,
  }
}

/** Names and values that hold a secret themselves; a name that ends in `_FILE` says where one is. */
export function isSecret(name: string, value: string): boolean {
  if (/^0x[0-9a-f]{64}$/i.test(value) || /:\/\/[^/@\s]+:[^/@\s]+@/.test(value)) return true
  return /(KEY|KEYS|SECRET|PASSWORD|PEPPERS|TOKEN|DATABASE_URL)$/.test(name)
}

function namesOf(text: string): readonly string[] {
  return exampleVariables(text).map(({ name }) => name)
}

function numberIn(files: readonly RepositoryFile[], path: string, pattern: RegExp): number {
  const [, digits] = pattern.exec(textOf(files, path)) ?? []
  if (digits === undefined) throw new Error(`${path} does not say ${pattern} any more`)
  return Number(digits.replaceAll('_', ''))
}

function textOf(files: readonly RepositoryFile[], path: string): string {
  const file = files.find((one) => one.path === path)
  if (file === undefined) throw new Error(`${path} is not there`)
  return file.text
}
