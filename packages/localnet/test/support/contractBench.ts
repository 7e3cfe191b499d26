import type { Hex } from '@causeway/core'
import { type Abi, BaseError, decodeErrorResult, isHex, type TransactionReceipt } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import type { Artifacts } from '../../src/contracts/artifacts.ts'
import { loadArtifacts } from '../../src/contracts/artifacts.ts'
import { type ChainDeployment, type HubDeployment, localChainIds } from '../../src/contracts/deployment.ts'
import { deployHub } from '../../src/deploy/deployHub.ts'
import { deployUserChain } from '../../src/deploy/deployUserChain.ts'
import { generateLocalKeys, localAccount } from '../../src/keys/generateKeys.ts'
import type { LocalAccount, LocalKeys } from '../../src/keys/localKeys.ts'
import { startAnvil } from '../../src/nodes/anvil.ts'
import { waitUntilMined } from '../../src/nodes/clients.ts'
import { connectLocalChain, type LocalChain } from '../../src/nodes/localChain.ts'

export type ContractBench<Deployment> = {
  readonly chain: LocalChain
  readonly keys: LocalKeys
  readonly artifacts: Artifacts
  readonly deployment: Deployment
  /** Sends one transaction. @throws Error when it reverted */
  send(from: LocalAccount, to: Hex, data?: Hex, valueWei?: bigint): Promise<TransactionReceipt>
  /** Name of the error that the call reverts with, `Error(...)` for a plain message. @throws Error when it passes */
  revert(from: LocalAccount, to: Hex, data?: Hex, valueWei?: bigint): Promise<string>
  stop(): Promise<void>
}

/** One node in the state that `deployNetwork` gives `base`. */
export async function startUserChainBench(keys?: LocalKeys): Promise<ContractBench<ChainDeployment>> {
  return startBench(
    localChainIds.base,
    (chain, artifacts, own) => deployUserChain(chain, 'base', { artifacts, keys: own }),
    keys,
  )
}

/** One node in the state that `deployNetwork` gives the hub. */
export async function startHubBench(keys?: LocalKeys): Promise<ContractBench<HubDeployment>> {
  return startBench(localChainIds.hub, deployHub, keys)
}

/** An account that the deployment does not know. */
export function freshAccount(): LocalAccount {
  return localAccount(generatePrivateKey())
}

async function startBench<Deployment>(
  chainId: number,
  deploy: (chain: LocalChain, artifacts: Artifacts, keys: LocalKeys) => Promise<Deployment>,
  keys: LocalKeys = generateLocalKeys(generatePrivateKey),
): Promise<ContractBench<Deployment>> {
  const anvil = await startAnvil({ chainId })
  const chain = connectLocalChain(anvil.url, chainId)
  const artifacts = await loadArtifacts()
  const errors = Object.values(artifacts).flatMap(({ abi }) => abi.filter(({ type }) => type === 'error'))
  return {
    chain,
    keys,
    artifacts,
    deployment: await deploy(chain, artifacts, keys),
    async send(from, to, data = '0x', valueWei = 0n) {
      const clients = chain.as(from)
      const hash = await clients.walletClient.sendTransaction({ to, data, value: valueWei })
      return waitUntilMined(clients, hash, hash)
    },
    revert: (from, to, data = '0x', valueWei = 0n) =>
      revertName(chain, errors, { account: from.address, to, data, value: valueWei }),
    stop: () => anvil.stop(),
  }
}

async function revertName(
  chain: LocalChain,
  errors: Abi,
  call: { readonly account: Hex; readonly to: Hex; readonly data: Hex; readonly value: bigint },
): Promise<string> {
  let thrown: unknown
  try {
    await chain.client.call(call)
  } catch (error) {
    thrown = error
  }
  if (!(thrown instanceof BaseError)) throw new Error('the call did not revert')
  const data = revertDataOf(thrown)
  if (data === '0x') return 'no data'
  const { errorName, args } = decodeErrorResult({ abi: errors, data })
  return errorName === 'Error' || errorName === 'Panic' ? `${errorName}(${args?.join()})` : errorName
}

function revertDataOf(error: BaseError): Hex {
  const holder: unknown = error.walk(
    (cause) => typeof cause === 'object' && cause !== null && 'data' in cause && isHex(cause.data),
  )
  if (typeof holder !== 'object' || holder === null || !('data' in holder) || !isHex(holder.data)) throw error
  return holder.data
}
