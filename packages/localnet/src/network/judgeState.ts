import type { Hex } from '@causeway/core'
import type { KeyFileReading } from '../keys/keyFile.ts'
import type { LocalKeys } from '../keys/localKeys.ts'
import { type ChainKey, chainKeys } from './chainPlan.ts'
import type { Manifest, ManifestReading } from './manifest.ts'

/** Files that a start finds under `.local/`, and those that are missing. */
export type StateFacts = {
  readonly keyFile: KeyFileReading
  readonly manifest: ManifestReading
  /** Chains whose state file does not exist. */
  readonly missingChains: readonly ChainKey[]
  /** Hash of the current sources. */
  readonly deploymentHash: string
}

/** `empty`: a first start. `kept`: the network can go on. `unusable`: a new network has to be built. */
export type StateVerdict =
  | { readonly kind: 'empty' }
  | {
      readonly kind: 'kept'
      readonly networkId: Hex
      readonly keys: LocalKeys
      readonly deployment: Manifest['deployment']
    }
  | { readonly kind: 'unusable'; readonly reason: string }

/**
 * Decides whether the files under `.local/` are one whole network. They are usable only together: one that is missing,
 * torn or of another network makes all of them useless. @source rule O-81
 */
export function judgeState(facts: StateFacts): StateVerdict {
  const { keyFile, manifest, missingChains } = facts
  const hasNoChain = missingChains.length === chainKeys.length
  const isEmpty = keyFile.kind === 'missing' && manifest.kind === 'missing' && hasNoChain
  if (isEmpty) return { kind: 'empty' }
  if (keyFile.kind === 'missing') return unusable('keys.json is missing')
  if (keyFile.kind === 'unusable') return unusable('keys.json is not a whole key file of a local network')
  if (manifest.kind === 'missing') return unusable('an earlier first start did not finish')
  if (manifest.kind === 'unusable') return unusable('manifest.json is not a whole manifest')
  if (manifest.networkId !== keyFile.networkId) return unusable('keys.json belongs to another network')
  if (manifest.deploymentHash !== facts.deploymentHash) {
    return unusable('the contracts or their deployment changed')
  }
  const [missing] = missingChains
  if (missing !== undefined) return unusable(`the chain file of ${missing} is missing`)
  const { networkId, keys } = keyFile
  return { kind: 'kept', networkId, keys, deployment: manifest.deployment }
}

function unusable(reason: string): StateVerdict {
  return { kind: 'unusable', reason }
}
