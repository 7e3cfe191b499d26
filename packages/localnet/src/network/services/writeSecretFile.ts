import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileAtomically } from '../../files/atomicFile.ts'

/** Writes a secret that only its owner can read. @returns its path */
export async function writeSecretFile(folder: string, name: string, secret: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, name)
  await writeFileAtomically(path, `${secret}\n`, { mode: 0o600 })
  return path
}
