import { randomUUID } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Replaces a file so that a reader, or a start after a crash, sees the old content or the new one and
 * never a part: written beside it, flushed, renamed. `mode` is that of the new file.
 */
export async function writeFileAtomically(
  path: string,
  content: string | Uint8Array,
  { mode = 0o644 }: { readonly mode?: number } = {},
): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`
  try {
    await writeAndFlush(temporary, content, mode)
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await flushFolder(dirname(path))
}

async function writeAndFlush(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  const file = await open(path, 'wx', mode)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** The rename itself survives a power loss once the folder is flushed; Windows has no such call. */
async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
