import { connectQuotingChain, payingFamily } from '@causeway/chains'
import { type Hex, Secret } from '@causeway/core'
import type { PayingChain, RegisteredChain } from '@causeway/families'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import type { FaultyService } from '@causeway/localnet/standIns/http'
import {
  createHyperliquidVenue,
  type ExchangeLedger,
  type HyperliquidVenue,
  startExchange,
} from '@causeway/localnet/standIns/hyperliquid'
import type { ChainClient } from '@causeway/rpc'
import { privateKeyToAddress } from 'viem/accounts'
import { type HubMappings, startHubMappings } from '../../../packages/chains/test/fixtures/hubMappings.ts'

export const walletKey = `0x${'5e'.repeat(32)}` as const
// CAST: an address in lower case is one.
export const wallet = privateKeyToAddress(walletKey).toLowerCase() as Hex
export const spotDollars = '0x6d1e7cde53ba9467b783cb7c530ce054'
export const hype = '0x0d01dc56dcaaca66ad901c959b4011ec'
export const perps = '0x00000000000000000000000000000000'
export const depository = '0xeccf8deb880b9841c06e3a6eda720151d7205f55'

/** Three endpoints of one exchange, and a hub, for a fill wallet that has ten thousand dollars. */
export type PayingBed = {
  readonly ledger: ExchangeLedger
  readonly venue: HyperliquidVenue
  readonly nodes: readonly FaultyService[]
  readonly network: TestNetwork
  readonly hub: HubMappings
  readonly chain: RegisteredChain
  readonly client: ChainClient
  /** Another process with the same key, which remembers nothing. */
  open(): PayingChain
  /** Somebody who has an account. */
  account(): Hex
  stop(): Promise<void>
}

export async function startPayingBed(): Promise<PayingBed> {
  const network = await startTestNetwork()
  const tokens = [
    { name: 'USDC', tokenId: spotDollars, szDecimals: 8 },
    { name: 'HYPE', tokenId: hype, szDecimals: 2 },
  ]
  const lists = { transactions: [], tokens, accounts: new Set<string>([depository]), recentMax: 1_000 }
  const venue = createHyperliquidVenue(lists)
  const ledger: ExchangeLedger = { ...lists, venue }
  venue.fund(wallet, { '': 1_000_000_000_000n, [spotDollars]: 1_000_000_000_000n, [hype]: 10_000n })
  const nodes = await Promise.all([1, 2, 3].map(() => startExchange(ledger)))
  const hub = startHubMappings(network, { id: 'hyperliquid', vmType: 'hyperliquid-vm' })
  const chain: RegisteredChain = {
    ...{ id: 'hyperliquid', vmType: 'hyperliquid-vm', network: undefined, hubChainId: '57', depository },
    ...{ ready: true, rpcThreshold: 2, unsetVariables: [], additionalData: {} },
    endpoints: nodes.map(({ url }) => new Secret(url)),
  }
  const client = connectQuotingChain(chain)
  if (client === undefined) throw new Error('the chain is quoted')
  let accounts = 0
  return {
    ...{ ledger, venue, nodes, network, hub, chain, client },
    open() {
      const { mappings } = hub
      const key = new Secret(walletKey)
      const depositories = [depository]
      const paying = payingFamily(chain)?.open({
        ...{ client, key, fillContract: undefined, mappings, depositories },
      })
      if (paying === undefined) throw new Error('the family pays')
      return paying
    },
    account() {
      accounts += 1
      const account: Hex = `0x${accounts.toString(16).padStart(40, 'c')}`
      venue.fund(account, {})
      return account
    },
    async stop() {
      await Promise.all([client.close(), hub.stop(), ...nodes.map((node) => node.stop())])
      await network.stop()
    },
  }
}
