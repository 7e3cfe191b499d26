import { connectQuotingChain, payingFamily } from '@causeway/chains'
import { Secret } from '@causeway/core'
import {
  lighterTransferHasher,
  makeLighterKey,
  type PayingChain,
  type RegisteredChain,
} from '@causeway/families'
import {
  createLighterExchange,
  type LighterExchange,
  type LighterNode,
  startLighterNode,
} from '@causeway/localnet/standIns/lighter'
import type { ChainClient } from '@causeway/rpc'
import { privateKeyToAddress } from 'viem/accounts'
import { depository, keyOf } from './transfers.ts'

export const wallet = '500'
export const walletKey = `0x${'5e'.repeat(32)}` as const
const apiKeyIndex = 4

/** Three endpoints of one exchange, on which a fill wallet has ten thousand dollars and one ether. */
export type ExchangeBed = {
  readonly exchange: LighterExchange
  readonly nodes: readonly LighterNode[]
  readonly chain: RegisteredChain
  readonly client: ChainClient
  readonly apiKey: Secret
  open(): PayingChain
  /** A new account. */
  account(): string
  stop(): Promise<void>
}

export async function startExchangeBed(): Promise<ExchangeBed> {
  const exchange = createLighterExchange({ hashTransfer: () => lighterTransferHasher(304n) })
  exchange.setAccount(depository, keyOf('aa'))
  exchange.setAccount(wallet, privateKeyToAddress(walletKey), { '0': 10_000_000_000n, '1': 100_000_000n })
  const nodes = await Promise.all([1, 2, 3].map(() => startLighterNode(0, exchange)))
  const [explorer] = nodes
  const chain: RegisteredChain = {
    ...{ id: 'lighter', vmType: 'lighter-vm', network: undefined, hubChainId: '57', depository },
    ...{ ready: true, rpcThreshold: 2, unsetVariables: [] },
    endpoints: nodes.map(({ url }) => new Secret(url)),
    additionalData: { explorerApiUrl: new Secret(explorer?.explorerUrl ?? '') },
  }
  const client = connectQuotingChain(chain)
  if (client === undefined) throw new Error('the chain is quoted')
  const apiKey = new Secret(await makeLighterKey())
  let accounts = 10_000
  return {
    ...{ exchange, nodes, chain, client, apiKey },
    open() {
      const account = { name: wallet, apiKey, apiKeyIndex }
      const paying = payingFamily(chain)?.open({
        ...{ client, key: new Secret(walletKey), fillContract: undefined, account },
        depositories: [depository],
      })
      if (paying === undefined) throw new Error('the family pays')
      return paying
    },
    account() {
      accounts += 1
      exchange.setAccount(`${accounts}`, keyOf('ab'))
      return `${accounts}`
    },
    async stop() {
      await client.close()
      await Promise.all(nodes.map((node) => node.stop()))
    },
  }
}
