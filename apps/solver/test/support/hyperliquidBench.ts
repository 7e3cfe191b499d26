// A stand-in of Hyperliquid: signatures, nonces and balances are checked for real, and which nonce a payment has stands in
// the real contract on a hub.

import { connectQuotingChain, payingFamily } from '@causeway/chains'
import { formatFixed, type Hex, Secret } from '@causeway/core'
import { hyperliquidCodec } from '@causeway/core/encodings'
import type { PayingChain, ReadableChain } from '@causeway/families'
import { FlatFees, sendAssetMembers, sendAssetType } from '@causeway/families/rules'
import type { TestNetwork } from '@causeway/localnet'
import type { FaultyService } from '@causeway/localnet/standIns/http'
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
import { type HubMappings, startHubMappings } from '../../../../packages/chains/test/fixtures/hubMappings.ts'
import { expiringProcesses, type PayerBench } from './payerBench.ts'
import { openSolverDatabases } from './solverDatabases.ts'

export const hyperliquidChainId = 1_337
export const hyperliquidWalletKey = `0x${'5e'.repeat(32)}` as const
// CAST: an address in lower case is one.
export const hyperliquidWallet = privateKeyToAddress(hyperliquidWalletKey).toLowerCase() as Hex
/** Depository on the exchange, from the local configuration. */
export const depository = '0xeccf8deb880b9841c06e3a6eda720151d7205f55'
export const perps = hyperliquidCodec.nativeCurrency
export const spotDollars = '0x6d1e7cde53ba9467b783cb7c530ce054'
export const hype = '0x0d01dc56dcaaca66ad901c959b4011ec'
const fees = new FlatFees({ transferFee: 0n })
const ceiling = 200_000_000n

export type HyperliquidBench = Omit<PayerBench, 'process'> & {
  readonly process: ReturnType<typeof expiringProcesses>
  readonly venue: HyperliquidVenue
  readonly ledger: ExchangeLedger
  readonly nodes: readonly FaultyService[]
  readonly hub: HubMappings
  readonly client: ChainClient
  /** Another process with the same key, which remembers nothing. */
  open(): PayingChain
  /** Has endpoints, by default one, answer questions of a type in another way. */
  lie(type: string, rewrite: (body: unknown) => unknown, count?: number): void
}

/** An exchange on which a fill wallet has a hundred thousand dollars in each part of its account. */
export function exchangeWithWallet(): { readonly ledger: ExchangeLedger; readonly venue: HyperliquidVenue } {
  const lists = {
    transactions: [],
    tokens: [
      { name: 'USDC', tokenId: spotDollars, szDecimals: 8 },
      { name: 'HYPE', tokenId: hype, szDecimals: 2 },
    ],
    accounts: new Set<string>([depository]),
    recentMax: 1_000,
  }
  const venue = createHyperliquidVenue(lists)
  venue.fund(hyperliquidWallet, {
    '': 10_000_000_000_000n,
    [spotDollars]: 10_000_000_000_000n,
    [hype]: 10_000n,
  })
  return { ledger: { ...lists, venue }, venue }
}

/** @param network with the hub; its owner stops it */
export async function startHyperliquidBench(
  network: TestNetwork,
  databases = openSolverDatabases(),
): Promise<HyperliquidBench> {
  const { ledger, venue } = exchangeWithWallet()
  const nodes = await Promise.all([1, 2, 3].map(() => startExchange(ledger)))
  const hub = startHubMappings(network, { id: 'hyperliquid', vmType: 'hyperliquid-vm' })
  const chain: ReadableChain = {
    id: 'hyperliquid',
    vmType: 'hyperliquid-vm',
    network: undefined,
    hubChainId: '57',
    depository,
    additionalData: {},
    ready: true,
    rpcThreshold: 2,
    unsetVariables: [],
    endpoints: nodes.map(({ url }) => new Secret(url)),
  }
  const client: ChainClient | undefined = connectQuotingChain(chain)
  if (client === undefined) throw new Error('the chain is quoted')
  const open = (): PayingChain => {
    const [key, { mappings }] = [new Secret(hyperliquidWalletKey), hub]
    const depositories = [depository]
    const paying = payingFamily(chain)?.open({
      client,
      key,
      fillContract: undefined,
      mappings,
      depositories,
    })
    if (paying === undefined) throw new Error('the family pays')
    return paying
  }
  let [aheadMs, accounts] = [0, 0]
  venue.nowMs = () => Date.now() + aheadMs
  const process = expiringProcesses({
    chainId: hyperliquidChainId,
    landsWithinSeconds: 75,
    fees,
    ceiling,
    gasPerHour: 10n ** 12n,
    open,
    async expire() {
      aheadMs += 400_000
    },
  })
  const lie: HyperliquidBench['lie'] = (type, rewrite, count = 1) => {
    const isAbout = ({ text }: { readonly text: string }) => Object(JSON.parse(text))['type'] === type
    for (const node of nodes.slice(0, count))
      node.set({ kind: 'lie', isAbout, rewrite: (_path, body) => rewrite(body) })
  }
  return {
    chain,
    nodes,
    hub,
    venue,
    ledger,
    client,
    open,
    lie,
    process,
    hubEntries: hub.entries,
    wallet: hyperliquidWallet,
    chainId: hyperliquidChainId,
    coin: perps,
    database: databases.database,
    nowSeconds: async () => Math.floor(venue.nowMs() / 1_000),
    held: async (account) => venue.balanceOf(account, ''),
    account(isAbsent = false) {
      accounts += 1
      const account: Hex = `0x${accounts.toString(16).padStart(40, 'c')}`
      if (!isAbsent) venue.fund(account, {})
      return account
    },
    async mine() {},
    async settle() {},
    // A record holds no signature that a stranger could submit: only another process can hand it in.
    async land(raw) {
      await open()
        .broadcast({ raw })
        .catch(() => undefined)
    },
    faults: {
      hide: async () => lie('userNonFundingLedgerUpdates', () => []),
      async invent({ raw, recipient }, state) {
        const nonce = Number(JSON.parse(Buffer.from(raw.slice(2), 'hex').toString()).nonce)
        const destination = state === 'paid' ? recipient : hyperliquidWallet
        const delta = { type: 'send', user: hyperliquidWallet, destination, nonce }
        const transfer = { hash: `0x${'77'.repeat(32)}`, time: nonce, delta }
        lie('userNonFundingLedgerUpdates', (body) => [...(body as unknown[]), transfer]) // CAST: a ledger is a list.
      },
      hasten: async () => lie('exchangeStatus', (body) => ({ ...Object(body), time: 9_999_999_999_999 })),
      async silence(count) {
        for (const node of nodes.slice(0, count)) node.set({ kind: 'reset' })
      },
      // Ids of payments are in questions as hashes alone: what the hub has no word of is what makes no sense.
      garble: async () => hub.set({ isGarbled: true }),
      async heal() {
        for (const node of nodes) node.set({ kind: 'none' })
        hub.set({})
      },
    },
    async stop() {
      await Promise.all([client.close(), hub.stop(), ...nodes.map((node) => node.stop()), databases.stop()])
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
    hyperliquidChain: 'Mainnet',
    destination: depository,
    sourceDex: '',
    destinationDex: '',
    token: `USDC:${spotDollars}`,
    amount: formatFixed(amount / 100n, 6),
    fromSubAccount: '',
  }
  const signature = await user.signTypedData({
    domain: {
      name: 'HyperliquidSignTransaction',
      version: '1',
      chainId: 42_161,
      verifyingContract: `0x${'0'.repeat(40)}`,
    },
    types: { [sendAssetType]: sendAssetMembers },
    primaryType: sendAssetType,
    message: { ...parameters, nonce: BigInt(nonce) },
  })
  const { r, s, v } = parseSignature(signature)
  const action = { ...parameters, nonce, type: 'sendAsset', signatureChainId: '0xa4b1' }
  const refusal = await at.venue.take({ action, nonce, signature: { r, s, v: Number(v) } })
  const listed = at.ledger.transactions.at(-1)
  if (refusal !== undefined || listed === undefined) throw new Error(`it was not taken: ${refusal}`)
  return { nonce: BigInt(nonce), transactionId: listed.hash as Hex, user } // CAST: a hash of the exchange.
}
