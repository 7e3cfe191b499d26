// A stand-in of Hyperliquid behind one endpoint that faults are put into: signatures, nonces and balances are checked for
// real, and which nonce a payment has stands in the real contract on a hub.

import { connectQuotingChain, payingFamily } from '@causeway/chains'
import { formatFixed, type Hex, Secret } from '@causeway/core'
import { hyperliquidCodec } from '@causeway/core/encodings'
import type { PayingChain, RegisteredChain } from '@causeway/families'
import { FlatFees, sendAssetMembers, sendAssetType } from '@causeway/families/rules'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import {
  createHyperliquidVenue,
  type ExchangeLedger,
  type HyperliquidVenue,
  startExchange,
} from '@causeway/localnet/standIns/hyperliquid'
import type { ChainClient } from '@causeway/rpc'
import { parseSignature } from 'viem'
import {
  generatePrivateKey,
  type PrivateKeyAccount,
  privateKeyToAccount,
  privateKeyToAddress,
} from 'viem/accounts'
import { startHubMappings } from '../../../../packages/chains/test/fixtures/hubMappings.ts'
import type { ExpiringBench } from './expiringKills.ts'
import { type Processes, startProcesses } from './expiringProcess.ts'

export const hyperliquidChainId = 1_337
export const hyperliquidWalletKey = `0x${'5e'.repeat(32)}` as const
// CAST: an address in lower case is one.
export const hyperliquidWallet = privateKeyToAddress(hyperliquidWalletKey).toLowerCase() as Hex
/** Depository on the exchange, from the local configuration. */
const depository = '0xeccf8deb880b9841c06e3a6eda720151d7205f55'
export const perps = hyperliquidCodec.nativeCurrency
export const spotDollars = '0x6d1e7cde53ba9467b783cb7c530ce054'
const fees = new FlatFees({ transferFee: 0n })
const ceiling = 200_000_000n

export type HyperliquidBench = Omit<ExpiringBench, 'process'> & {
  readonly process: Processes['process']
  open(): PayingChain
  /** The chains beside it, the hub among them. */
  readonly network: TestNetwork
  stop(): Promise<void>
}

/** An exchange on which a fill wallet has a hundred thousand dollars in each part of its account. */
export function exchangeWithWallet(): { readonly ledger: ExchangeLedger; readonly venue: HyperliquidVenue } {
  const lists = {
    ...{ transactions: [], tokens: [{ name: 'USDC', tokenId: spotDollars, szDecimals: 8 }] },
    ...{ accounts: new Set<string>([depository]), recentMax: 1_000 },
  }
  const venue = createHyperliquidVenue(lists)
  venue.fund(hyperliquidWallet, { '': 10_000_000_000_000n, [spotDollars]: 10_000_000_000_000n })
  return { ledger: { ...lists, venue }, venue }
}

export async function startHyperliquidBench(): Promise<HyperliquidBench> {
  const network = await startTestNetwork()
  const { ledger, venue } = exchangeWithWallet()
  const node = await startExchange(ledger)
  const hub = startHubMappings(network, { id: 'hyperliquid', vmType: 'hyperliquid-vm' })
  const chain: RegisteredChain = {
    ...{ id: 'hyperliquid', vmType: 'hyperliquid-vm', network: undefined, hubChainId: '57', depository },
    ...{ additionalData: {}, ready: true, rpcThreshold: 1, unsetVariables: [] },
    endpoints: [new Secret(node.url)],
  }
  const client: ChainClient | undefined = connectQuotingChain(chain)
  if (client === undefined) throw new Error('the chain is quoted')
  const open = (): PayingChain => {
    const { mappings } = hub
    const key = new Secret(hyperliquidWalletKey)
    const paying = payingFamily(chain)?.open({ client, key, fillContract: undefined, mappings })
    if (paying === undefined) throw new Error('the family pays')
    return paying
  }
  const processes = await startProcesses({
    ...{ chainId: hyperliquidChainId, landsWithinSeconds: 75, fees, ceiling, gasPerHour: 10n ** 12n, open },
  })
  let [aheadMs, accounts] = [0, 0]
  venue.nowMs = () => Date.now() + aheadMs
  return {
    ...{ network, open, wallet: hyperliquidWallet, chainId: hyperliquidChainId, bid: { fees, ceiling } },
    ...{ coin: hyperliquidCodec.nativeCurrency, database: processes.database, process: processes.process },
    // The exchange refuses an impossible transfer, so no block shows it.
    showsFailures: false,
    nowSeconds: async () => Math.floor(venue.nowMs() / 1_000),
    held: async (account) => venue.held(account, ''),
    // Nobody is there yet: each payment pays for an account too.
    account() {
      accounts += 1
      return `0x${accounts.toString(16).padStart(40, 'c')}`
    },
    settle: async () => undefined,
    async expire() {
      aheadMs += 400_000
    },
    // A record holds no signature that a stranger could submit: only another process can hand it in.
    async land(raw) {
      await open()
        .broadcast({ raw })
        .catch(() => undefined)
    },
    cutOff: async (isCutOff) => node.set(isCutOff ? { kind: 'reset' } : { kind: 'none' }),
    // Ids of payments are in questions as hashes alone: what the hub has no word of is what makes no sense.
    garble: async (id) => hub.set({ isGarbled: id !== undefined }),
    async stop() {
      await Promise.all([client.close(), node.stop(), hub.stop(), processes.stop()])
      await network.stop()
    },
  }
}

/** Deposits by a transfer to the depository that names no order: its nonce may be mapped to one. */
export async function depositAt(
  at: {
    readonly venue: HyperliquidVenue
    readonly ledger: ExchangeLedger
  },
  amount: bigint,
): Promise<{ readonly nonce: bigint; readonly transactionId: Hex; readonly user: PrivateKeyAccount }> {
  const user = privateKeyToAccount(generatePrivateKey())
  at.venue.fund(user.address, { '': amount })
  const nonce = at.venue.nowMs()
  const parameters = {
    ...{ hyperliquidChain: 'Mainnet', destination: depository, sourceDex: '', destinationDex: '' },
    ...{ token: `USDC:${spotDollars}`, amount: formatFixed(amount / 100n, 6), fromSubAccount: '' },
  }
  const signature = await user.signTypedData({
    domain: {
      ...{ name: 'HyperliquidSignTransaction', version: '1', chainId: 42_161 },
      verifyingContract: `0x${'0'.repeat(40)}`,
    },
    ...{ types: { [sendAssetType]: sendAssetMembers }, primaryType: sendAssetType },
    message: { ...parameters, nonce: BigInt(nonce) },
  })
  const { r, s, v } = parseSignature(signature)
  const action = { ...parameters, nonce, type: 'sendAsset', signatureChainId: '0xa4b1' }
  const refusal = await at.venue.take({ action, nonce, signature: { r, s, v: Number(v) } })
  const listed = at.ledger.transactions.at(-1)
  if (refusal !== undefined || listed === undefined) throw new Error(`it was not taken: ${refusal}`)
  return { nonce: BigInt(nonce), transactionId: listed.hash as Hex, user } // CAST: a hash of the exchange.
}
