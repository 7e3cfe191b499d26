import type { NetworkDeployment } from '../../contracts/deployment.ts'
import type { LocalKeys } from '../../keys/localKeys.ts'
import type { LocalChain } from '../../nodes/localChain.ts'
import type { ChainKey } from '../chainPlan.ts'

/** A local network as operator commands need it; the process that runs it may be another one. */
export type OperatedNetwork = {
  readonly keys: LocalKeys
  readonly deployment: NetworkDeployment
  /** Control URL of the chains of the other families; absent where they do not run. */
  readonly familyControlUrl?: string | undefined
  readonly chains: Readonly<Record<ChainKey, { readonly chain: LocalChain }>>
}
