import { readFileSync } from 'node:fs'
import {
  examineDenyList,
  linePayingFamily,
  payingApiKeySettings,
  payingFamily,
  payingKeySettings,
  type Variables,
} from '@causeway/chains'
import { createFindings, type Finding, type Findings, isContractChain } from '@causeway/core/config'
import { examineDatabase } from '@causeway/database'
import { describeSilence, type Examination, examineOracles, readFileMode } from '@causeway/service'
import {
  checkHubKey,
  examineKeySetting,
  examineSecretSetting,
  examineSigningKey,
  hasHubKey,
  hubKeyPrefix,
} from '@causeway/signer'
import { z } from 'zod'
import { termsQuery } from '../work/ownTerms.ts'
import { differencesSchema } from '../work/workItems.ts'
import { readConfig } from './config.ts'
import { schemaModules } from './database.ts'
import { examineChains } from './examineChains.ts'
import { type LoadedFiles, readFiles } from './files.ts'
import { lackOfKey } from './paidChain.ts'

type Settings = ReturnType<typeof readConfig>

const workTimeoutMs = 5_000
/** Database connections that a solver needs: its pool, and one for leases. */
const connections = 7

/** Finds everything that is missing, wrong or contradictory in the settings, for `doctor` and the start. Rejects for bugs alone. */
export async function examineSolver(
  variables: Variables,
  { repositoryRoot, nowMs, scope }: Examination,
): Promise<readonly Finding[]> {
  const settings = readConfig(variables, repositoryRoot)
  const findings = createFindings()
  findings.add(...settings.findings)
  examineVariables(settings, variables, findings)
  const wallet = await examineKeys(variables, findings)
  const { environment, configDirectory, isLocal } = settings.places
  const files =
    environment && (await readFiles({ environment, configDirectory, isLocal }, variables, wallet, findings))
  if (files) examineFillKeys(files, variables, findings)
  examineLackOfOracles(settings, findings)
  if (scope === 'settings') return findings.list
  await Promise.all([
    files && examineChains(files, nowMs, findings),
    examineOwnDatabase(settings, nowMs, findings),
    examineWork(settings, files && wallet !== undefined ? { files, wallet } : undefined, findings),
    examineList(settings, findings),
    settings.oracles &&
      examineOracles(settings.oracles, 'nothing that the solver pays is attested', findings),
  ])
  return findings.list
}

/** Finds variables that only a running solver needs, and a dry run. */
function examineVariables({ values }: Settings, variables: Variables, findings: Findings): void {
  for (const name of ['QUOTE_API_URL', 'SOLVER_API_KEY', 'ORDER_SIGNERS'] as const) {
    // A variable that is set but could not be parsed is a finding of `readConfig` already.
    if (values[name] === undefined && (variables[name] ?? '') === '') findings.missing(name)
  }
  if (values.DRY_RUN === 'on') {
    findings.add({
      code: 'setting-without-effect',
      severity: 'degrades',
      setting: 'DRY_RUN',
      seen: 'is on: nothing is signed, and no order is filled',
      fix: 'Set DRY_RUN=off to fill.',
    })
  }
}

/** Examines the keys of the fill wallet and of the hub. @returns the fill wallet's address; undefined without a usable key */
async function examineKeys(variables: Variables, findings: Findings): Promise<string | undefined> {
  const readFile = (path: string) => readFileSync(path, 'utf8')
  const keyFiles = { environment: variables, readFile, modeOf: readFileMode }
  const wallet = await examineSigningKey(keyFiles, findings)
  const hubKey = hasHubKey(variables)
    ? await examineSigningKey({ ...keyFiles, prefix: hubKeyPrefix }, findings)
    : undefined
  findings.attempt(() => checkHubKey(hubKey, [wallet]), 'key-wrong')
  for (const name of payingKeySettings()) examineKeySetting(name, keyFiles, findings)
  for (const name of payingApiKeySettings()) examineSecretSetting(name, keyFiles, findings)
  return wallet
}

/** Warns of a solver without oracles, unless another finding names them already. */
function examineLackOfOracles({ values, places }: Settings, findings: Findings): void {
  const isNamed = findings.list.some(({ setting }) => setting === 'ORACLES')
  if (places.isLocal || values.ORACLES !== undefined || isNamed) return
  findings.add({
    code: 'setting-missing',
    severity: 'degrades',
    setting: 'ORACLES',
    seen: 'is not set: nothing that the solver pays is attested, and it stops paying at unattestedMaxMicroUsd',
    // The report adds the remedy of the setting.
    fix: '',
  })
}

/** Finds missing keys and settings of the families that are paid on. */
function examineFillKeys({ chains, solver }: LoadedFiles, variables: Variables, findings: Findings): void {
  const isSet = (name: string) =>
    [name, `${name}_FILE`].some((variable) => (variables[variable] ?? '').trim() !== '')
  for (const key of Object.keys(solver.chains)) {
    const chain = chains.chains.get(key)
    if (chain === undefined) continue
    const family = payingFamily(chain)
    const keys = [family?.keySetting, family?.apiKeySetting, linePayingFamily(chain)?.keySetting]
    for (const name of keys)
      if (name !== undefined && !isSet(name)) findings.missing(name, lackOfKey(name, key))
    // Mappings are the hub's entries that prove which order a transfer paid.
    if (family?.needsMappings !== true) continue
    const needed = (name: string) => `chains.${key} is paid on with entries of the hub: they need ${name}`
    if (!isSet('ORACLES')) findings.missing('ORACLES', needed('ORACLES'))
    if (!hasHubKey(variables)) findings.missing('HUB_ECDSA_PRIVATE_KEY', needed('HUB_ECDSA_PRIVATE_KEY'))
  }
}

async function examineOwnDatabase(
  { values }: Settings,
  nowMs: () => number,
  findings: Findings,
): Promise<void> {
  const { DATABASE_URL: url } = values
  if (url === undefined) return
  // A start does not wait for the database, and a solver does its jobs itself.
  const examined = { connectionString: url.reveal(), setting: 'DATABASE_URL', isWaitedFor: false, nowMs }
  await examineDatabase({ ...examined, connections, runsJobs: true, directories: schemaModules }, findings)
}

/** Reads the deny list, without which a solver with such a setting does not start. */
async function examineList({ denyList }: Settings, findings: Findings): Promise<void> {
  for (const { setting, problem } of await examineDenyList(denyList)) findings.wrong(setting, problem)
}

/** The terms that a start would send. In families with keys of their own the quote file names the wallet: a start checks the key. */
function termsOf(
  { files: { quote, solver }, wallet }: { readonly files: LoadedFiles; readonly wallet: string },
  orderSigners: ReadonlySet<string>,
): Readonly<Record<string, string>> {
  const chains = Object.entries(solver.chains).flatMap(([key, { floors }]) => {
    const config = quote.chains[key]
    const payingWallet = config !== undefined && isContractChain(config) ? wallet : config?.fillWallet
    return config === undefined || payingWallet === undefined
      ? []
      : [{ chainId: config.chainId, wallet: payingWallet, fillContract: config.fillContract, floors }]
  })
  const { sharing, lossPerOrderMicroUsd } = solver
  return termsQuery({
    orderSigners,
    chains,
    sharedWallets: sharing?.fillWallets ?? [],
    lossPerOrderMicroUsd,
  })
}

/** Asks quote-api for work once, as a round does. It takes no item, and gives no solver name, so its terms are not kept. */
async function examineWork(
  { values, config }: Settings,
  ownSetup: { readonly files: LoadedFiles; readonly wallet: string } | undefined,
  findings: Findings,
): Promise<void> {
  const { QUOTE_API_URL: url, SOLVER_API_KEY: key } = values
  if (url === undefined || key === undefined) return
  const say = (setting: string, observation: string, fix: string) =>
    findings.add({ code: 'service-silent', severity: 'degrades', setting, seen: observation, fix })
  try {
    const terms = ownSetup && config ? termsOf(ownSetup, config.orderSigners) : {}
    const response = await fetch(`${url}/solver/work?${new URLSearchParams({ limit: '1', ...terms })}`, {
      headers: { 'x-api-key': key.reveal() },
      signal: AbortSignal.timeout(workTimeoutMs),
    })
    const text = await response.text()
    const { ok, status } = response
    if (ok) examineDifferences(text, findings)
    else if (status === 401 || status === 403) {
      const fix = 'Give both services the same SOLVER_API_KEY.'
      say('SOLVER_API_KEY', `quote-api does not take the key (${status})`, fix)
    } else {
      say(
        'QUOTE_API_URL',
        `it answers ${status} where work is fetched`,
        'Compare it with the address of quote-api.',
      )
    }
  } catch (error) {
    // Only a summary: the error may quote the URL or a foreign answer, and these may hold credentials.
    const { seen } = describeSilence(error)
    say('QUOTE_API_URL', `it ${seen}`, 'See that quote-api runs, and that this machine reaches it.')
  }
}

const answerSchema = z.object({ differences: differencesSchema })

function examineDifferences(text: string, findings: Findings): void {
  for (const difference of answerSchema.parse(JSON.parse(text)).differences) {
    findings.add({
      code: 'solver-differs',
      severity: 'degrades',
      setting: 'QUOTE_API_URL',
      seen: `quote-api and this solver differ: ${difference}`,
      fix: 'Mend the setting of the service that is wrong, and restart that one: until then nothing is sold that this solver would refuse.',
    })
  }
}
