import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A file system of its own that can be filled to the last byte. */
export type SmallDisk = {
  readonly directory: string
  fill(): Promise<void>
  empty(): Promise<void>
  remove(): Promise<void>
}

/** @returns `undefined` where this account may mount nothing */
export async function mountSmallDisk(megabytes: number): Promise<SmallDisk | undefined> {
  const mountPoint = await mkdtemp(join(tmpdir(), 'causeway-small-disk-'))
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', mountPoint])
  } catch {
    await rm(mountPoint, { recursive: true })
    return undefined
  }
  const directory = join(mountPoint, 'data')
  await mkdir(directory)
  const filler = join(mountPoint, 'filler')
  return {
    directory,
    async fill() {
      await writeFile(filler, Buffer.alloc(megabytes * 1024 * 1024, 1)).catch((error: unknown) => {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
      })
    },
    empty: () => rm(filler),
    async remove() {
      await run('umount', [mountPoint])
      await rm(mountPoint, { recursive: true })
    },
  }
}
