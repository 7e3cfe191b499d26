// A Hyperliquid of stand-ins for a service that quotes it: three endpoints of one exchange, whose transfers are signed for
// real. Which order a nonce is for stands in the real contract on the hub: what users sign goes there through the service
// and the oracles, what this solver pays by the operator of the contract.
import { genericMappingAbi } from '@causeway/contracts'
import { type Hex, hubAlias, nonceMappingId } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import {
  hyperliquidAmount,
  hyperliquidAsset,
  hyperliquidStepData,
  sendAssetType,
} from '@causeway/families/rules'
import type { TestNetwork } from '@causeway/localnet'
import type { FaultyService } from '@causeway/localnet/standIns/http'
import {
  createHyperliquidVenue,
  type ExchangeLedger,
  type HyperliquidVenue,
  startExchange,
} from '@causeway/localnet/standIns/hyperliquid'
import { encodeFunctionData, parseSignature } from 'viem'
import { privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import type { Answer, QuoteAnswer } from '../../apps/quote-api/test/serviceSupport/callService.ts'
import { post } from '../../apps/quote-api/test/serviceSupport/callService.ts'
import type { OpenWork } from '../../apps/quote-api/test/settlementSupport/scriptedSolver.ts'

/** The chain id that public clients know. */
export const hyperliquidChainId = 1337
/** Dollars of the first perps account. */
export const perps = '0x00000000000000000000000000000000'
/** Dollars of the spot account. */
export const spotDollars = '0x6d1e7cde53ba9467b783cb7c530ce054'
const usdc = { name: 'USDC', tokenId: spotDollars, szDecimals: 8 }
/** As the local configuration has it. */
export const hyperliquidDepository = '0xeccf8deb880b9841c06e3a6eda720151d7205f55'
export const solverKey: Hex = `0x${'5e'.repeat(32)}`
const solver = privateKeyToAddress(solverKey).toLowerCase() as Hex // CAST: an address in lower case is one.

export type HyperliquidUser = { readonly account: Hex; readonly key: Hex }

export type HyperliquidChain = {
  readonly ledger: ExchangeLedger & { readonly modes: Map<string, string> }
  readonly venue: HyperliquidVenue
  /** The first of three may be made a liar. */
  readonly nodes: readonly FaultyService[]
  readonly network: TestNetwork
  readonly variables: Readonly<Record<string, string>>
  /** Lists it in a quote file, as an operator would. */
  describe(quoteFile: unknown): unknown
  stop(): Promise<void>
}

/** @param network whose hub says what nonces are for @param withSolver its wallet is listed, and holds dollars */
export async function startHyperliquidChain(
  network: TestNetwork,
  withSolver = false,
): Promise<HyperliquidChain> {
  const lists = {
    transactions: [],
    tokens: [usdc],
    accounts: new Set([hyperliquidDepository]),
    recentMax: 1_000,
  }
  const venue = createHyperliquidVenue(lists)
  const ledger = { ...lists, venue, modes: new Map<string, string>() }
  venue.fund(solver, { '': 2_000_000_000_000n, [spotDollars]: 1_000_000_000_000n })
  const nodes = await Promise.all([1, 2, 3].map(() => startExchange(ledger)))
  return {
    ledger,
    venue,
    nodes,
    network,
    variables: {
      HYPERLIQUID_RPC_URL: nodes.map(({ url }) => url).join(','),
      RELAY_RPC_URL: network.chains.hub.url,
      HUB_ECDSA_PRIVATE_KEY: network.keys.fillWallet.privateKey,
    },
    describe(quoteFile) {
      const file = Object(quoteFile)
      const listed = { decimals: 8, asset: 'usdc', solver: true, source: 'local network' }
      const described = {
        chainId: hyperliquidChainId,
        name: 'hyperliquid',
        displayName: 'Hyperliquid (local)',
        blockTimeMs: 1_000,
        headMaxAgeMs: 60_000,
        feeModel: { kind: 'flat' },
        pinPolicy: [{ finalized: true }],
        ...(withSolver && { fillWallet: solver }),
        currencies: [
          { ...listed, address: perps, symbol: 'USDC', name: 'USD Coin (perps)' },
          { ...listed, address: spotDollars, symbol: 'USDC', name: 'USD Coin (spot)' },
        ],
      }
      return { ...file, chains: { ...file.chains, hyperliquid: described } }
    },
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()))
    },
  }
}

let users = 0

/** Somebody with five thousand dollars in each part of his account. */
export function fundedHyperliquidUser({ venue }: Pick<HyperliquidChain, 'venue'>): HyperliquidUser {
  users += 1
  const key: Hex = `0x${(0xa000 + users).toString(16).padStart(64, '0')}`
  const account = privateKeyToAddress(key)
  venue.fund(account, { '': 500_000_000_000n, [spotDollars]: 500_000_000_000n })
  return { account, key }
}

/** Changes of the signed and sent mapping relative to the quoted one. */
type MappingChange = Partial<Record<'wallet' | 'depositor', string>> & { readonly nonce?: number }

/** Signs the `authorize` step as a wallet on a chain does, and posts it as the public client does. */
export async function authorize(
  url: string,
  quote: QuoteAnswer,
  { key }: Pick<HyperliquidUser, 'key'>,
  { chainId = 8453, change = {} }: { readonly chainId?: number; readonly change?: MappingChange } = {},
): Promise<Answer> {
  const step = quote.steps.find(({ id }) => id === 'authorize')
  if (step?.id !== 'authorize') throw new Error('nothing is to be authorized')
  const [item] = step.items
  if (item === undefined) throw new Error('the step has no item')
  const { sign, post: to } = item.data
  const { domain, types, primaryType, value: message } = sign
  const signature = await privateKeyToAccount(key).signTypedData({
    // CAST: the wire describes an address as text.
    domain: { ...domain, chainId, verifyingContract: domain.verifyingContract as Hex },
    // CAST: the types that a wallet reads are the same list.
    types: types as Record<string, { name: string; type: string }[]>,
    primaryType,
    message: { ...message, ...change },
  })
  return post(`${url}${to.endpoint}?signature=${signature}`, {
    ...to.body,
    ...change,
    signatureChainId: chainId,
  })
}

/** The transfer of a quote, as the public client has it signed and posts it. @returns its hash */
export async function transferOnHyperliquid(
  at: Pick<HyperliquidChain, 'nodes' | 'ledger'>,
  quote: Quoted,
  user: HyperliquidUser,
): Promise<string> {
  return send(at, transferOf(quote), user.key)
}

type Quoted = { readonly steps: readonly { readonly items: readonly { readonly data: unknown }[] }[] }

/** The transfer of a quote's last step. */
export const transferOf = ({ steps }: Quoted): Parameters =>
  hyperliquidStepData.parse(steps.at(-1)?.items[0]?.data).action.parameters

export async function depositOnHyperliquid(
  at: Pick<HyperliquidChain, 'nodes' | 'ledger'>,
  url: string,
  quote: QuoteAnswer,
  user: HyperliquidUser,
): Promise<string> {
  const answer = await authorize(url, quote, user)
  if (answer.status !== 200) throw new Error(`it was not authorized: ${answer.text}`)
  return transferOnHyperliquid(at, quote, user)
}

/** Payment of a solver for a fill or a refund, once the hub has its nonce. @returns the hash */
export async function payOnHyperliquid(
  at: Pick<HyperliquidChain, 'nodes' | 'ledger' | 'network' | 'venue'>,
  item: OpenWork,
  change: { readonly amount?: bigint; readonly orderId?: Hex } = {},
): Promise<string> {
  if (item.kind !== 'fill' && item.kind !== 'refund') throw new Error(`cannot pay a ${item.kind}`)
  const [asked] = item.kind === 'fill' ? item.payload.payments : [item.payload]
  if (asked === undefined) throw new Error('nothing is to be paid')
  const { amount = BigInt(asked.amount) } = change
  const orderId = change.orderId ?? (item.payload.orderId as Hex) // CAST: an order id is 32 bytes of hex.
  const isNative = asked.currency === perps
  const currency = { address: asked.currency, isNative, resetsAllowance: false, symbol: 'USDC', decimals: 8 }
  const { dex, token } = hyperliquidAsset(currency)
  // Whoever is paid for the first time pays for his account, out of what reaches him.
  const fee = at.ledger.accounts.has(asked.recipient.toLowerCase()) ? 0n : 100_000_000n
  const nonce = await mapNonce(at, orderId)
  return send(
    at,
    {
      hyperliquidChain: 'Mainnet',
      destination: asked.recipient,
      sourceDex: dex,
      destinationDex: dex,
      token,
      amount: hyperliquidAmount(currency, amount + fee),
      fromSubAccount: '',
      nonce,
    },
    solverKey,
  )
}

let nonces = 0

/** As the operator of the hub's mapping would. */
async function mapNonce({ network }: Pick<HyperliquidChain, 'network'>, orderId: Hex): Promise<number> {
  nonces += 1
  const nonce = Date.now() + nonces
  const user = hubAlias({ ...mainNetwork('hyperliquid-vm'), chainId: 'hyperliquid' }, solver)
  const args = [user, nonceMappingId(BigInt(nonce)), orderId] as const
  await network.chains.hub.chain.send(network.keys.deployer, [
    {
      what: 'mapping',
      to: network.deployment.hub.genericMapping,
      data: encodeFunctionData({ abi: genericMappingAbi, functionName: 'setEntryFor', args }),
      valueWei: 0n,
    },
  ])
  return nonce
}

type Parameters = ReturnType<typeof hyperliquidStepData.parse>['action']['parameters']

const signatureChainId = 8453

async function send(
  { nodes, ledger }: Pick<HyperliquidChain, 'nodes' | 'ledger'>,
  parameters: Parameters,
  key: Hex,
): Promise<string> {
  await postTransfer(nodes[1]?.url ?? '', parameters, key)
  const found = ledger.transactions.findLast(
    (one) => 'nonce' in one.action && one.action.nonce === BigInt(parameters.nonce),
  )
  if (found === undefined) throw new Error('it is not listed')
  return found.hash
}

/** Signs a transfer and hands it to an exchange. */
export async function postTransfer(url: string, parameters: Parameters, key: Hex): Promise<void> {
  const { nonce } = parameters
  const types = {
    [sendAssetType]: Object.keys(parameters).map((name) => ({
      name,
      type: name === 'nonce' ? 'uint64' : 'string',
    })),
  }
  const signed = await privateKeyToAccount(key).signTypedData({
    domain: {
      name: 'HyperliquidSignTransaction',
      version: '1',
      chainId: signatureChainId,
      verifyingContract: `0x${'0'.repeat(40)}`,
    },
    types,
    primaryType: sendAssetType,
    message: parameters,
  })
  const { r, s, v } = parseSignature(signed)
  const action = { ...parameters, type: 'sendAsset', signatureChainId: `0x${signatureChainId.toString(16)}` }
  const body = JSON.stringify({ action, nonce, signature: { r, s, v: Number(v) } })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${url}/exchange`, { method: 'POST', headers, body })
  const said = Object(await answer.json())
  if (said.status !== 'ok') throw new Error(`it was not taken: ${said.response}`)
}
