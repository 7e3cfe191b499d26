import { readFileSync } from 'node:fs'
import { counted, createFindings, type Finding, type Findings, type Hex } from '@causeway/core'
import {
  type Examination,
  examineCompanions,
  examineFolder,
  examineOracle,
  examinePorts,
  modeOfFile,
} from '@causeway/service'
import { examineSigningKey, hasCapCounts } from '@causeway/signer'
import { parsePeers, parseSignerPolicy, requiredSignatures } from '../peers/settings.ts'
import { readConfig } from './config.ts'
import { readFiles } from './files.ts'
import { examineNetwork } from './network.ts'
import type { examineSharedState as Examine } from './sharedState.ts'

type Variables = Readonly<Record<string, string | undefined>>

type Settings = ReturnType<typeof readConfig>

const peerTimeoutMs = 5_000

/** Everything that is missing, wrong or contradictory in one pass. Rejects for bugs alone. */
export async function examineOwnOracle(
  variables: Variables,
  { repositoryRoot, nowMs, scope }: Examination,
): Promise<readonly Finding[]> {
  const settings = readConfig(variables, repositoryRoot)
  const { places, values } = settings
  const found = createFindings()
  found.add(...settings.findings)
  examinePorts(
    [
      { setting: 'HTTP_PORT', ...listenerOf(settings) },
      { setting: 'OPS_PORT', host: values.OPS_HOST, port: values.OPS_PORT },
    ],
    found,
  )
  examineCompanions(values, [['ORACLE_SIGNERS_THRESHOLD', 'ORACLE_SIGNERS']], found)
  const { ORACLE_DATABASE_URL: url } = values
  if (!places.isLocal && places.stateDirectory === undefined && url === undefined) {
    found.add({
      ...{ code: 'setting-missing', severity: 'degrades', setting: 'STATE_DIR', fix: '' },
      seen: 'is not set: a restart forgets halts, the hour of each cap and which orders are settled',
    })
  }
  const readFile = (path: string) => readFileSync(path, 'utf8')
  const signer = await examineSigningKey({ environment: variables, readFile, modeOf: modeOfFile }, found)
  const { environment, configDirectory, stateDirectory } = places
  const files =
    environment === undefined
      ? undefined
      : await readFiles({ environment, configDirectory, variables, signer }, found)
  const peers = examinePeerSettings(settings, signer, found)
  if (scope === 'settings') return found.list
  await Promise.all([
    // Without an endpoint of the hub, which is found above, nothing is opened.
    files?.hub.ready && environment && examineNetwork({ files, environment }, nowMs, found),
    stateDirectory && examineFolder('STATE_DIR', stateDirectory, found),
    stateDirectory && url === undefined && !places.isLocal && examineCounts(stateDirectory, found),
    url && examineDatabaseOf({ url, environment, signer }, nowMs, found),
    peers && examinePeers(peers, found),
  ])
  return found.list
}

/** A first start and a folder that was emptied look the same: only the operator knows which one it is. */
function examineCounts(stateDirectory: string, found: Findings): void {
  if (hasCapCounts(stateDirectory)) return
  found.add({
    ...{ code: 'state-empty', severity: 'degrades', setting: 'STATE_DIR' },
    seen: 'has no counts of an earlier run: the hour of each cap begins anew, and no order counts as settled',
    fix: 'Before the first start this is right. Else put the folder of before back; without it start an hour after the last signature at the earliest.',
  })
}

/** Loaded only where one is named. */
async function examineDatabaseOf(...examined: Parameters<typeof Examine>): Promise<void> {
  const { examineSharedState } = await import('./sharedState.ts')
  await examineSharedState(...examined)
}

function listenerOf({ values }: Settings) {
  return { host: values.HTTP_HOST, port: values.HTTP_PORT ?? values.PORT }
}

type PeerSettings = {
  readonly peers: ReturnType<typeof parsePeers>['value']
  /** Lower case; undefined: every signer counts. */
  readonly signers: ReadonlySet<Hex> | undefined
  /** Different ones that an answer needs, the own one among them. */
  readonly required: number
  readonly own: Hex
}

const settingOf = (index: number) => `PEERS entry ${index + 1}`

/** `undefined` while one of them, or the own key, cannot be read. */
function examinePeerSettings(
  settings: Settings,
  own: Hex | undefined,
  found: Findings,
): PeerSettings | undefined {
  const { values } = settings
  const peers = found.attempt(() => parsePeers(values.PEERS, listenerOf(settings)))
  if (own === undefined) return undefined
  const [signers, threshold] = [values.ORACLE_SIGNERS, values.ORACLE_SIGNERS_THRESHOLD]
  const policy = found.attempt(() => parseSignerPolicy({ signers, threshold, ownSigner: own }))
  if (peers === undefined || policy === undefined) return undefined
  return {
    ...{ peers: peers.value, own },
    ...{ signers: policy.value.signers, required: requiredSignatures(policy.value) },
  }
}

/** Each peer is reachable and signs as one of `ORACLE_SIGNERS`, and as nobody else does; enough different ones do. */
export async function examinePeers(
  { peers, signers: listed, required, own }: PeerSettings,
  found: Findings,
): Promise<void> {
  const signers = await Promise.all(
    peers.map(({ name, baseUrl, credential }, index) => {
      const apiKey = credential.kind === 'key' ? credential.key : undefined
      return examineOracle({ setting: settingOf(index), name, url: baseUrl, apiKey }, peerTimeoutMs, found)
    }),
  )
  const counting = new Map([[own.toLowerCase(), 'this oracle']])
  for (const [index, { name }] of peers.entries()) {
    const signer = signers[index]
    if (signer === undefined) continue
    const setting = settingOf(index)
    const other = counting.get(signer)
    if (other !== undefined) {
      found.add({
        ...{ code: 'signer-shared', severity: 'degrades', setting },
        seen: `${name} signs as ${signer}, as ${other} does: both count once`,
        fix: 'Give each oracle a key of its own, and remove an entry that is this oracle itself.',
      })
    } else if (listed === undefined || [...listed].some((one) => one === signer)) {
      counting.set(signer, setting)
    } else {
      found.add({
        ...{ code: 'signer-unlisted', severity: 'degrades', setting: 'ORACLE_SIGNERS' },
        seen: `does not name ${signer}, which ${name} (${setting}) signs as: its signatures do not count`,
        fix: 'Ask its operator which address signs, by another way than this answer, and add that one.',
      })
    }
  }
  if (counting.size >= required) return
  found.add({
    ...{ code: 'threshold-unreachable', severity: 'degrades', setting: 'ORACLE_SIGNERS_THRESHOLD' },
    seen: `is ${required}, and ${counted(counting.size, 'listed signer answers', 'listed signers answer')}, this oracle among them: no answer is complete`,
    fix: 'Mend the peers that are named beside this, or name more in PEERS.',
  })
}
