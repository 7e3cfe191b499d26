import { readFileSync } from 'node:fs'
import type { Hex } from '@causeway/core'
import { counted, createFindings, type Finding, type Findings } from '@causeway/core/config'
import {
  type Examination,
  examineCompanions,
  examineFolder,
  examineOracle,
  examinePorts,
  readFileMode,
} from '@causeway/service'
import { examineSigningKey, hasCapCounts } from '@causeway/signer'
import { type PeerSettings, parsePeers, parseSignerPolicy, requiredSignatures } from '../peers/settings.ts'
import { readConfig } from './config.ts'
import { examineNetwork } from './examineNetwork.ts'
import { readFiles } from './files.ts'
import type { examineSharedState as Examine } from './sharedState.ts'

type Variables = Readonly<Record<string, string | undefined>>

type Settings = ReturnType<typeof readConfig>

const peerTimeoutMs = 5_000

/** Doctor's examination of an oracle: finds missing, wrong and contradicting settings. It rejects for bugs alone. */
export async function examineOwnOracle(
  variables: Variables,
  { repositoryRoot, nowMs, scope }: Examination,
): Promise<readonly Finding[]> {
  const settings = readConfig(variables, repositoryRoot)
  const { partialConfig, values } = settings
  const findings = createFindings()
  findings.add(...settings.findings)
  examinePorts(
    [
      { setting: 'HTTP_PORT', ...listenerOf(settings) },
      { setting: 'OPS_PORT', host: values.OPS_HOST, port: values.OPS_PORT },
    ],
    findings,
  )
  examineCompanions(values, [['ORACLE_SIGNERS_THRESHOLD', 'ORACLE_SIGNERS']], findings)
  const { ORACLE_DATABASE_URL: url } = values
  if (!partialConfig.isLocal && partialConfig.stateDirectory === undefined && url === undefined) {
    findings.add({
      code: 'setting-missing',
      severity: 'degrades',
      setting: 'STATE_DIR',
      // Empty: the report fills in the hint on the setting.
      fix: '',
      seen: 'is not set: a restart forgets halts, the hour of each cap and which orders are settled',
    })
  }
  const readFile = (path: string) => readFileSync(path, 'utf8')
  const signer = await examineSigningKey({ environment: variables, readFile, modeOf: readFileMode }, findings)
  const { environment, configDirectory, stateDirectory } = partialConfig
  const files =
    environment === undefined
      ? undefined
      : await readFiles({ environment, configDirectory, variables, signer }, findings)
  const peers = examinePeerSettings(settings, signer, findings)
  // A start in `local` examines settings and files alone.
  if (scope === 'settings') return findings.list
  const examinations: Promise<void>[] = []
  // A hub without an endpoint was found above; the network cannot be opened without it.
  if (environment !== undefined && files?.hub.ready)
    examinations.push(examineNetwork({ files, environment }, nowMs, findings))
  if (stateDirectory !== undefined) {
    examinations.push(examineFolder('STATE_DIR', stateDirectory, findings))
    if (url === undefined && !partialConfig.isLocal) examineCounts(stateDirectory, findings)
  }
  if (url !== undefined) examinations.push(examineDatabaseOf({ url, environment, signer }, nowMs, findings))
  if (peers !== undefined && signer !== undefined) examinations.push(examinePeers(peers, signer, findings))
  await Promise.all(examinations)
  return findings.list
}

/** Reports a folder without counts. Only the operator knows whether it is a first start or was emptied. */
function examineCounts(stateDirectory: string, findings: Findings): void {
  if (hasCapCounts(stateDirectory)) return
  findings.add({
    code: 'state-empty',
    severity: 'degrades',
    setting: 'STATE_DIR',
    seen: 'has no counts of an earlier run: the hour of each cap begins anew, and no order counts as settled',
    fix: 'Before the first start this is right. Else put the folder of before back; without it start an hour after the last signature at the earliest.',
  })
}

/** Examines the shared database, whose module is loaded only then. */
async function examineDatabaseOf(...examined: Parameters<typeof Examine>): Promise<void> {
  const { examineSharedState } = await import('./sharedState.ts')
  await examineSharedState(...examined)
}

function listenerOf({ values }: Settings) {
  return { host: values.HTTP_HOST, port: values.HTTP_PORT ?? values.PORT }
}

const settingOf = (index: number) => `PEERS entry ${index + 1}`

/** Settings of peers and signers; `undefined` where one of them, or the own key, cannot be read. */
function examinePeerSettings(
  settings: Settings,
  ownSigner: Hex | undefined,
  findings: Findings,
): PeerSettings | undefined {
  const { values } = settings
  const peers = findings.attempt(() => parsePeers(values.PEERS, listenerOf(settings)))
  if (ownSigner === undefined) return undefined
  const [signers, threshold] = [values.ORACLE_SIGNERS, values.ORACLE_SIGNERS_THRESHOLD]
  const policy = findings.attempt(() => parseSignerPolicy({ signers, threshold, ownSigner }))
  if (peers === undefined || policy === undefined) return undefined
  return { peers: peers.value, policy: policy.value }
}

/**
 * Finds peers that do not answer, that sign as another oracle or as none of `ORACLE_SIGNERS`, and too few different
 * signers for a quorum.
 * @param ownSigner lower-case address of this oracle's key
 */
export async function examinePeers(
  settings: PeerSettings,
  ownSigner: Hex,
  findings: Findings,
): Promise<void> {
  const { peers, policy } = settings
  const signers = await Promise.all(
    peers.map(({ name, baseUrl, credential }, index) => {
      const apiKey = credential.kind === 'key' ? credential.key : undefined
      return examineOracle({ setting: settingOf(index), name, url: baseUrl, apiKey }, peerTimeoutMs, findings)
    }),
  )
  const counting = countSigners(settings, { ownSigner, signers }, findings)
  const required = requiredSignatures(policy)
  if (counting.size >= required) return
  findings.add({
    code: 'threshold-unreachable',
    severity: 'degrades',
    setting: 'ORACLE_SIGNERS_THRESHOLD',
    seen: `is ${required}, and ${counted(counting.size, 'listed signer answers', 'listed signers answer')}, this oracle among them: no answer is complete`,
    fix: 'Mend the peers that are named beside this, or name more in PEERS.',
  })
}

/**
 * Signers that count toward the quorum, each with the entry of `PEERS` that signs so, or `this oracle`.
 * @param answers.signers by peer, the address that it signs as; undefined for one that did not answer
 */
function countSigners(
  { peers, policy: { signers: listed } }: PeerSettings,
  { ownSigner, signers }: { readonly ownSigner: Hex; readonly signers: readonly (string | undefined)[] },
  findings: Findings,
): ReadonlyMap<string, string> {
  const counting = new Map([[ownSigner.toLowerCase(), 'this oracle']])
  for (const [index, { name }] of peers.entries()) {
    const signer = signers[index]
    if (signer === undefined) continue
    const setting = settingOf(index)
    const otherOracle = counting.get(signer)
    if (otherOracle !== undefined) {
      findings.add({
        code: 'signer-shared',
        severity: 'degrades',
        setting,
        seen: `${name} signs as ${signer}, as ${otherOracle} does: both count once`,
        fix: 'Give each oracle a key of its own, and remove an entry that is this oracle itself.',
      })
    } else if (listed === undefined || [...listed].some((one) => one === signer)) {
      counting.set(signer, setting)
    } else {
      findings.add({
        code: 'signer-unlisted',
        severity: 'degrades',
        setting: 'ORACLE_SIGNERS',
        seen: `does not name ${signer}, which ${name} (${setting}) signs as: its signatures do not count`,
        fix: 'Ask its operator which address signs, by another way than this answer, and add that one.',
      })
    }
  }
  return counting
}
