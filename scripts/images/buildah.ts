import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import type { Processes } from './processes.ts'

/** Builds and runs images without a container engine, in a store of its own that is removed with its folder. */
export type Buildah = {
  /** Prints nothing unless it fails. @throws Error with the end of its output */
  (...words: readonly string[]): Promise<string>
  /** Shows its output as it comes. @throws Error when it fails */
  shown(...words: readonly string[]): Promise<void>
  /** Runs beside this process. */
  start(...words: readonly string[]): ChildProcess
}

export function createBuildah(processes: Processes, folder: string): Buildah {
  // vfs needs no kernel support, so it also works inside another container.
  const store = ['--storage-driver', 'vfs', '--root', join(folder, 'store'), '--runroot', join(folder, 'run')]
  const quiet = (...words: readonly string[]) => processes.quiet('buildah', [...store, ...words])
  return Object.assign(quiet, {
    shown: (...words: readonly string[]) => processes.shown('buildah', [...store, ...words]),
    start: (...words: readonly string[]) => processes.start('buildah', [...store, ...words]),
  })
}
