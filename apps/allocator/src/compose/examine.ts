import { readFileSync } from 'node:fs'
import { createFindings, type Finding, type Findings } from '@causeway/core/config'
import { type Examination, examineFolder, readFileMode } from '@causeway/service'
import { examineKeySetting, examineSigningKey } from '@causeway/signer'
import { createServiceStops } from '../hub/serviceStops.ts'
import { keyPrefix, readConfig } from './config.ts'
import { readFiles } from './files.ts'
import { examineHub } from './hub.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** Doctor's examination of an allocator: finds missing, wrong and contradicting settings. It rejects for bugs alone. */
export async function examineAllocator(
  variables: Variables,
  { repositoryRoot, nowMs, scope }: Examination,
): Promise<readonly Finding[]> {
  const { values, partialConfig, findings } = readConfig(variables, repositoryRoot)
  const found = createFindings()
  found.add(...findings)
  const readFile = (path: string) => readFileSync(path, 'utf8')
  const keyFiles = { environment: variables, readFile, modeOf: readFileMode }
  const signer = await examineSigningKey({ ...keyFiles, prefix: keyPrefix }, found)
  examineKeySetting(`${keyPrefix}ED25519_PRIVATE_KEY`, keyFiles, found)
  const { environment, configDirectory, stateDirectory } = partialConfig
  const files = environment && (await readFiles({ environment, configDirectory, variables, signer }, found))
  if (scope === 'settings') return found.list
  const examinations: Promise<void>[] = []
  // A setting that is missing here was reported above; without it the hub cannot be compared.
  if (environment && files && signer && files.hub.ready)
    examinations.push(examineHub({ environment, hub: files.hub, ownSigner: signer }, nowMs, found))
  if (stateDirectory !== undefined) examinations.push(examineFolder('STATE_DIR', stateDirectory, found))
  examinations.push(examineStops(values.STOPS_URL, partialConfig.isLocal, found))
  await Promise.all(examinations)
  return found.list
}

/** A chain key that no chain has: quote-api calls it stopped only while all chains are stopped. */
const unlistedChain = 'any'

/** Without `STOPS_URL` stops at quote-api do not reach the allocator; while that URL does not answer, it signs nothing. */
async function examineStops(url: string | undefined, isLocal: boolean, findings: Findings): Promise<void> {
  if (url === undefined) {
    const observation =
      'is not set: `causeway stop` of quote-api does not stop this allocator, which has a stop of its own'
    if (!isLocal)
      findings.add({
        code: 'setting-missing',
        severity: 'note',
        setting: 'STOPS_URL',
        seen: observation,
        // The report adds the remedy of the setting.
        fix: '',
      })
    return
  }
  const serviceStops = createServiceStops({
    url,
    chains: [unlistedChain],
    nowMs: () => performance.now(),
    onChange: () => {},
  })
  const stop = await serviceStops.stopOf(unlistedChain)
  if (stop === undefined) return
  const { isRead } = serviceStops.known()
  findings.add({
    code: isRead ? 'chain-stopped' : 'service-silent',
    severity: 'degrades',
    setting: 'STOPS_URL',
    seen: isRead ? 'all chains are stopped at quote-api' : 'no answer: nothing is signed while it is so',
    fix: isRead
      ? 'End the stop: npm run causeway -- go all'
      : 'Name the operations listener of quote-api (OPS_PORT), and see that this machine reaches it.',
  })
}
