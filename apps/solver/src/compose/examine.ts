import { readFileSync } from 'node:fs'
import {
  examineDenyList,
  linePayingFamily,
  payingApiKeySettings,
  payingFamily,
  payingKeySettings,
} from '@causeway/chains'
import { createFindings, type Finding, type Findings } from '@causeway/core'
import { examineDatabase } from '@causeway/database'
import { describeSilence, type Examination, modeOfFile } from '@causeway/http'
import {
  checkHubKey,
  examineKeySetting,
  examineSecretSetting,
  examineSigningKey,
  hasHubKey,
  hubKeyPrefix,
} from '@causeway/signer'
import { examineChains, lackOfKey } from './chains.ts'
import { readConfig } from './config.ts'
import { schemaModules } from './database.ts'
import { type LoadedFiles, readFiles } from './files.ts'

type Variables = Readonly<Record<string, string | undefined>>

type Settings = ReturnType<typeof readConfig>

const workTimeoutMs = 5_000
/** The pool, and one that holds the leases. */
const connections = 7

/** Everything that is missing, wrong or contradictory in one pass. Rejects for bugs alone. */
export async function examineSolver(
  variables: Variables,
  { repositoryRoot, nowMs, scope }: Examination,
): Promise<readonly Finding[]> {
  const settings = readConfig(variables, repositoryRoot)
  const { values, places } = settings
  const found = createFindings()
  found.add(...settings.findings)
  for (const name of ['QUOTE_API_URL', 'SOLVER_API_KEY', 'ORDER_SIGNERS'] as const) {
    if (values[name] === undefined && (variables[name] ?? '') === '') found.missing(name)
  }
  if (values.DRY_RUN === 'on') {
    found.add({
      ...{ code: 'setting-without-effect', severity: 'degrades', setting: 'DRY_RUN' },
      ...{ seen: 'is on: nothing is signed, and no order is filled', fix: 'Set DRY_RUN=off to fill.' },
    })
  }
  const readFile = (path: string) => readFileSync(path, 'utf8')
  const keyFiles = { environment: variables, readFile, modeOf: modeOfFile }
  const wallet = await examineSigningKey(keyFiles, found)
  const hubKey = hasHubKey(variables)
    ? await examineSigningKey({ ...keyFiles, prefix: hubKeyPrefix }, found)
    : undefined
  found.attempt(() => checkHubKey(hubKey, [wallet]), 'key-wrong')
  for (const name of payingKeySettings()) examineKeySetting(name, keyFiles, found)
  for (const name of payingApiKeySettings()) examineSecretSetting(name, keyFiles, found)
  const { environment, configDirectory, isLocal } = places
  const files =
    environment && (await readFiles({ environment, configDirectory, isLocal }, variables, wallet, found))
  if (files) examineFillKeys(files, variables, found)
  const isNamed = found.list.some(({ setting }) => setting === 'ORACLES')
  if (!places.isLocal && values.ORACLES === undefined && !isNamed) {
    const seen =
      'is not set: nothing that the solver pays is attested, and it stops paying at unattestedMaxMicroUsd'
    found.add({ code: 'setting-missing', severity: 'degrades', setting: 'ORACLES', seen, fix: '' })
  }
  if (scope === 'settings') return found.list
  await Promise.all([
    files && examineChains(files, nowMs, found),
    examineOwnDatabase(settings, nowMs, found),
    examineWork(settings, found),
    examineList(settings, found),
  ])
  return found.list
}

/** What the families ask for that are paid on: the start stops without it. */
function examineFillKeys({ chains, solver }: LoadedFiles, variables: Variables, found: Findings): void {
  const isSet = (name: string) => [name, `${name}_FILE`].some((each) => (variables[each] ?? '').trim() !== '')
  for (const key of Object.keys(solver.chains)) {
    const chain = chains.chains.get(key)
    if (chain === undefined) continue
    const marked = payingFamily(chain)
    const keys = [marked?.keySetting, marked?.apiKeySetting, linePayingFamily(chain)?.keySetting]
    for (const name of keys) if (name !== undefined && !isSet(name)) found.missing(name, lackOfKey(name, key))
    if (marked?.needsMappings !== true) continue
    const needed = (name: string) => `chains.${key} is paid on with entries of the hub: they need ${name}`
    if (!isSet('ORACLES')) found.missing('ORACLES', needed('ORACLES'))
    if (!hasHubKey(variables)) found.missing('HUB_ECDSA_PRIVATE_KEY', needed('HUB_ECDSA_PRIVATE_KEY'))
  }
}

async function examineOwnDatabase({ values }: Settings, nowMs: () => number, found: Findings): Promise<void> {
  const { DATABASE_URL: url } = values
  if (url === undefined) return
  const examined = { connectionString: url.reveal(), setting: 'DATABASE_URL', isWaitedFor: false, nowMs }
  await examineDatabase({ ...examined, connections, runsJobs: true, directories: schemaModules }, found)
}

/** Without its list the solver does not start. */
async function examineList({ denyList }: Settings, found: Findings): Promise<void> {
  for (const { setting, problem } of await examineDenyList(denyList)) found.wrong(setting, problem)
}

/** Looks at the work once, as a round does; takes nothing. */
async function examineWork({ values }: Settings, found: Findings): Promise<void> {
  const { QUOTE_API_URL: url, SOLVER_API_KEY: key } = values
  if (url === undefined || key === undefined) return
  const say = (setting: string, seen: string, fix: string) =>
    found.add({ code: 'service-silent', severity: 'degrades', setting, seen, fix })
  try {
    const response = await fetch(`${url}/solver/work?limit=1`, {
      headers: { 'x-api-key': key.reveal() },
      signal: AbortSignal.timeout(workTimeoutMs),
    })
    await response.arrayBuffer()
    const { ok, status } = response
    if (status === 401 || status === 403) {
      const fix = 'Give both services the same SOLVER_API_KEY.'
      say('SOLVER_API_KEY', `quote-api does not take the key (${status})`, fix)
    } else if (!ok) {
      say(
        'QUOTE_API_URL',
        `it answers ${status} where work is fetched`,
        'Compare it with the address of quote-api.',
      )
    }
  } catch (error) {
    const { seen } = describeSilence(error)
    say('QUOTE_API_URL', `it ${seen}`, 'See that quote-api runs, and that this machine reaches it.')
  }
}
