import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { solverFile, type TestNetwork } from '@causeway/localnet'

/** Configuration of a solver that keeps its records in `directory`. @returns the path of the file */
export async function writeSolverConfig(options: {
  readonly network: TestNetwork
  readonly directory: string
  readonly quoteApiUrl: string
  readonly quoteApiKey: string
}): Promise<string> {
  const { network, directory, quoteApiUrl, quoteApiKey } = options
  const path = join(directory, 'solver.json')
  const file = solverFile(network, {
    ...{ quoteApiUrl, quoteApiKey, healthPort: 0, pollMs: 50 },
    directory: join(directory, 'solver'),
  })
  await writeFile(path, JSON.stringify(file), { mode: 0o600 })
  return path
}
