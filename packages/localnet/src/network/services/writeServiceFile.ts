import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { writeFileAtomically } from '../../files/atomicFile.ts'

/** Writes what a service was started with, which may hold keys of this network, for its owner alone. */
export async function writeServiceFile(
  path: string,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFileAtomically(path, `${JSON.stringify(environment, null, 2)}\n`, { mode: 0o600 })
}
