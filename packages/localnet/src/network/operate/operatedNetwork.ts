import type { NetworkDeployment } from '../../deploy/deployment.ts'
import type { LocalChain } from '../../deploy/localChain.ts'
import type { LocalKeys } from '../../keys/localKeys.ts'
import type { ChainKey } from '../chainPlan.ts'

/** What an operator's command needs of a network, whoever started it. */
export type OperatedNetwork = {
  readonly keys: LocalKeys
  readonly deployment: NetworkDeployment
  readonly chains: Readonly<Record<ChainKey, { readonly chain: LocalChain }>>
}
