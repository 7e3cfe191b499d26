import { join } from 'node:path'
import type { ChainKey } from './chainPlan.ts'

/** Where everything of one local network lies. Paths only; nothing is created. */
export type LocalPaths = {
  readonly directory: string
  /** Who runs, and what it started: outlives a crash. */
  readonly runFile: string
  readonly logs: string
  readonly keyFile: string
  readonly manifest: string
  readonly networkFile: string
  readonly secrets: string
  readonly chains: string
  /** Journals of the stand-ins of the other families, a file each. */
  readonly families: string
  /** The state a node starts from, replaced as a whole. */
  chainFile(key: ChainKey): string
  /** What a node writes on SIGTERM. Not written atomically, so it is adopted only when whole. */
  exitFile(key: ChainKey): string
  logFile(name: string): string
  /** What a service was started with, for commands that work beside it. */
  serviceFile(name: string): string
}

/** @param directory absolute path of `.local` */
export function localPaths(directory: string): LocalPaths {
  const chains = join(directory, 'chains')
  const logs = join(directory, 'logs')
  return {
    directory,
    logs,
    chains,
    runFile: join(directory, 'run.json'),
    keyFile: join(directory, 'keys.json'),
    manifest: join(directory, 'manifest.json'),
    networkFile: join(directory, 'network.json'),
    families: join(directory, 'families'),
    secrets: join(directory, 'secrets'),
    chainFile: (key) => join(chains, `${key}.json`),
    exitFile: (key) => join(chains, `${key}.exit.json`),
    serviceFile: (name) => join(directory, 'services', `${name}.json`),
    logFile: (name) => join(logs, `${name}.log`),
  }
}
