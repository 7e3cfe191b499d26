import type { Hex } from '@causeway/core'
import type { ChainDeployment, NetworkDeployment } from '../../contracts/deployment.ts'
import type { LocalAccount } from '../../keys/localKeys.ts'
import { askNode } from '../../nodes/askNode.ts'
import type { LocalChain } from '../../nodes/localChain.ts'
import type { TestNetwork } from './startTestNetwork.ts'

type MinedTransaction = {
  readonly transactionId: Hex
  readonly blockNumber: bigint
  readonly logIndex: number
}

/** One chain of a test network with its contracts, as tests of readers use it. */
export type ChainBed = {
  readonly network: TestNetwork
  readonly chain: LocalChain
  readonly deployment: ChainDeployment
  readonly url: string
  /** Sends one transaction and waits for it. `logIndex` is the index of its first log. */
  send(from: LocalAccount, to: Hex, data?: Hex, value?: bigint): Promise<MinedTransaction>
  mine(blocks?: number): Promise<void>
  /** A call that viem has no name for. */
  node(method: string, params: readonly unknown[]): Promise<unknown>
  stop(): Promise<void>
}

/**
 * Picks one chain of a test network. `stop` ends the whole network.
 * @param key `tron`: the node of Base with Tron's contracts
 */
export function chainBedOn(network: TestNetwork, key: 'base' | 'optimism' | 'tron'): ChainBed {
  const nodeKey = key === 'tron' ? 'base' : key
  const { chain, url } = network.chains[nodeKey]
  return {
    network,
    chain,
    url,
    deployment: key === 'tron' ? tronOnBase(network.deployment) : network.deployment[key],
    async send(from, to, data = '0x', value = 0n) {
      const transactionId = await chain.as(from).walletClient.sendTransaction({ to, data, value })
      for (;;) {
        const receipt = await chain.client.request({
          method: 'eth_getTransactionReceipt',
          params: [transactionId],
        })
        if (receipt !== null) {
          const logIndex = Number(receipt.logs[0]?.logIndex ?? '0x0')
          return { transactionId, blockNumber: BigInt(receipt.blockNumber), logIndex }
        }
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
    mine: (blocks = 1) => network.mine(nodeKey, blocks),
    node: (method, params) => askNode(url, method, params),
    stop: () => network.stop(),
  }
}

/** Base's deployment with Tron's contracts in place of its own where Tron has any. */
function tronOnBase({ base, tron }: NetworkDeployment): ChainDeployment {
  const { depository, fillContract, usdc } = tron
  return { ...base, depository, fillContract, tokens: { ...base.tokens, USDC: usdc } }
}
