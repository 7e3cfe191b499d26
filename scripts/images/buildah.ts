import { execFile, spawn } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Builds and runs images without a container engine, in a store of its own that is removed with its folder. */
export type Buildah = {
  /** Prints nothing unless it fails. @throws Error with the end of its output */
  (...words: readonly string[]): Promise<string>
  /** Shows its output as it comes. @throws Error when it fails */
  shown(...words: readonly string[]): Promise<void>
  /** The words of a call that runs beside this process. */
  command(...words: readonly string[]): readonly [string, readonly string[]]
}

export function createBuildah(folder: string): Buildah {
  // vfs needs no kernel support, so it also works inside another container.
  const store = ['--storage-driver', 'vfs', '--root', join(folder, 'store'), '--runroot', join(folder, 'run')]
  const quiet = async (...words: readonly string[]) => {
    const { stdout } = await run('buildah', [...store, ...words], { maxBuffer: 64 * 1024 * 1024 })
    return stdout.trim()
  }
  return Object.assign(quiet, {
    async shown(...words: readonly string[]) {
      const child = spawn('buildah', [...store, ...words], { stdio: 'inherit' })
      const code = await new Promise((resolve, reject) => {
        child.once('error', reject)
        child.once('exit', resolve)
      })
      if (code !== 0) throw new Error(`buildah ${words[0]} ended with ${code}`)
    },
    command: (...words: readonly string[]) => ['buildah', [...store, ...words]] as const,
  })
}
