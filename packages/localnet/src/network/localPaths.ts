import { join } from 'node:path'
import type { ChainKey } from './chainPlan.ts'

/** Paths of one local network's files. Creates nothing. */
export type LocalPaths = {
  readonly directory: string
  /** Running process and its children; survives a crash. */
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
  /** State that a node writes on SIGTERM. Not written atomically, so it is adopted only when whole. */
  exitFile(key: ChainKey): string
  logFile(name: string): string
  /** Start parameters of a service, for commands that work beside it. */
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
