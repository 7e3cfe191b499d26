import { readFileSync } from 'node:fs'
import { createFindings, type Finding } from '@causeway/core'
import { type Examination, examineFolder, modeOfFile } from '@causeway/http'
import { examineKeySetting, examineSigningKey } from '@causeway/signer'
import { keyPrefix, readConfig } from './config.ts'
import { examineHub } from './createAllocator.ts'
import { readFiles } from './files.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** Everything that is missing, wrong or contradictory in one pass. Rejects for bugs alone. */
export async function examineAllocator(
  variables: Variables,
  { repositoryRoot, nowMs, scope }: Examination,
): Promise<readonly Finding[]> {
  const { places, findings } = readConfig(variables, repositoryRoot)
  const found = createFindings()
  found.add(...findings)
  const readFile = (path: string) => readFileSync(path, 'utf8')
  const keyFiles = { environment: variables, readFile, modeOf: modeOfFile }
  const signer = await examineSigningKey({ ...keyFiles, prefix: keyPrefix }, found)
  examineKeySetting(`${keyPrefix}ED25519_PRIVATE_KEY`, keyFiles, found)
  const { environment, configDirectory, stateDirectory } = places
  const files = environment && (await readFiles({ environment, configDirectory, variables, signer }, found))
  if (scope === 'settings') return found.list
  await Promise.all([
    files &&
      environment &&
      signer &&
      files.hub.ready &&
      examineHub(environment, files.hub, signer, { nowMs, found }),
    stateDirectory && examineFolder('STATE_DIR', stateDirectory, found),
  ])
  return found.list
}
