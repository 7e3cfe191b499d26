// A user with a wallet on Tron, a solver that works by hand, and stand-in oracles, around the real service over two EVM
// chains and a Tron of stand-ins: contracts, ids, signatures and expiry are real, energy is the gas of a node.

import { connectQuotingChain, payingFamily } from '@causeway/chains'
import { type Hex, refundId, Secret, UpstreamUnavailableError } from '@causeway/core'
import { createTronCodec, tronAddress, tronHexAddress } from '@causeway/core/encodings'
import type { PayingChain, RegisteredChain } from '@causeway/families'
import { TronFees, usualTokenEnergy } from '@causeway/families/rules'
import { chainBedOn, startTestNetwork, waitUntil } from '@causeway/localnet'
import type { FaultyService } from '@causeway/localnet/standIns/http'
import {
  createTronLedger,
  startTronFacade,
  type TronLedger,
  type TronPrices,
} from '@causeway/localnet/standIns/tron'
import type { ChainClient } from '@causeway/rpc'
import { TronWeb } from 'tronweb'
import { encodeFunctionData, erc20Abi } from 'viem'
import { z } from 'zod'
import { quoteResponseSchema } from '../../apps/quote-api/src/http/wire/quoteResponse.ts'
import {
  type Answer,
  post,
  postPatiently,
  type QuoteAnswer,
  readOk,
} from '../../apps/quote-api/test/serviceSupport/callService.ts'
import { currencyAddress, userOf } from '../../apps/quote-api/test/serviceSupport/localRequest.ts'
import type { OpenWork } from '../../apps/quote-api/test/settlementSupport/scriptedSolver.ts'
import { type FamilySettling, type QuotedChain, startFamilySettling } from './familySettling.ts'

/** The chain id that public clients know. */
export const tronChainId = 728_126_428
/** Chain id in the first block of the stand-in, as in the local configuration. */
const hubChainId = 1_414_680_398n
export const trx = createTronCodec().nativeCurrency
export const unit = 1_000_000n

export type TronUser = { readonly key: Hex; readonly address: string }

export type TronSettling = Omit<TronChain, 'stop'> & FamilySettling

type Json = Record<string, unknown>

export function tronUserOf(key: Hex): TronUser {
  const address = TronWeb.address.fromPrivateKey(key.slice(2))
  if (address === false) throw new Error('no key')
  return { key, address }
}

export const tronSolverKey: Hex = `0x${'5e'.repeat(32)}`
const solver = tronUserOf(tronSolverKey)

export type TronChain = QuotedChain & {
  readonly evm: ReturnType<typeof chainBedOn>
  readonly ledger: TronLedger
  /** Three of them show the chain; the first may be made a liar. */
  readonly nodes: readonly FaultyService[]
  readonly prices: TronPrices
  readonly usdc: string
  readonly paying: PayingChain
}

/**
 * @param withSolver its wallet is listed, and holds coin and dollars
 * @param isStill nobody moves anything: each question about an account is put to the node once
 */
export async function startTronChain(withSolver = false, isStill = false): Promise<TronChain> {
  const behind = await startTestNetwork({ blockTimeSeconds: 1 })
  const evm = chainBedOn(behind, 'tron')
  const ledger = createTronLedger(evm)
  const prices: TronPrices = { sunPerEnergy: 100, sunPerByte: 1_000 }
  const nodes = await Promise.all(
    [1, 2, 3].map(() =>
      startTronFacade(evm, ledger, { chainId: hubChainId, prices, ...(isStill && { isStill: 'accounts' }) }),
    ),
  )
  const usdc = tronAddress(evm.deployment.tokens.USDC)
  if (withSolver) await fund({ evm }, solver.address)
  const { fillContract } = evm.deployment
  const urls = nodes.map((node) => node.url)
  const client = clientOf(urls, tronAddress(evm.deployment.depository))
  const paying = payingFamily({ vmType: 'tron-vm' })?.open({
    client,
    key: new Secret(solver.key),
    fillContract,
  })
  if (paying === undefined) throw new Error('the family pays')
  return {
    evm,
    ledger,
    nodes,
    prices,
    usdc,
    paying,
    variables: { TRON_RPC_URL: urls.join(',') },
    async costOf(hash) {
      const body = JSON.stringify({ value: hash.replace(/^0x/, '') })
      const answer = await fetch(`${urls[2]}/wallet/gettransactioninfobyid`, { method: 'POST', body })
      const { fee } = z.object({ fee: z.number().optional() }).parse(await answer.json())
      if (fee === undefined) return undefined
      const [sunPerEnergy, sunPerByte] = [BigInt(prices.sunPerEnergy), BigInt(prices.sunPerByte)]
      const fees = new TronFees({ sunPerEnergy, sunPerByte, tokenEnergy: usualTokenEnergy })
      return { cost: BigInt(fee), fees, nativeCurrency: createTronCodec().nativeCurrency }
    },
    // In this world a TRX costs what a dollar costs, whatever its feed says.
    describe(quoteFile) {
      const file = Object(quoteFile)
      const eth = file.assets.find(({ id }: Json) => id === 'eth')
      const others = file.assets.filter(({ id }: Json) => id !== 'trx')
      const assets = [...others, { ...eth, id: 'trx', priceKey: 'USDC/USD' }]
      const listed = { solver: true, source: 'local network' }
      const described = {
        chainId: tronChainId,
        name: 'tron',
        displayName: 'Tron (local)',
        blockTimeMs: 1_000,
        headMaxAgeMs: 60_000,
        feeModel: { kind: 'energy' },
        pinPolicy: [{ blocks: 0 }],
        ...(withSolver && { fillWallet: solver.address }),
        fillContract,
        currencies: [
          {
            address: trx,
            symbol: 'TRX',
            name: 'TRON',
            decimals: 6,
            asset: 'trx',
            ...listed,
            targetShareBps: 10_000,
          },
          {
            address: usdc,
            symbol: 'USDC',
            name: 'USD Coin',
            decimals: 6,
            asset: 'usdc',
            ...listed,
            resetsAllowance: true,
          },
        ],
      }
      return { ...file, assets, chains: { ...file.chains, tron: described } }
    },
    async stop() {
      await client.close()
      await Promise.all(nodes.map((node) => node.stop()))
      await behind.stop()
    },
  }
}

/** @param withSolver its wallet is listed, and holds coin and dollars */
export const startTronSettling = (withSolver = false): Promise<TronSettling> =>
  startFamilySettling(() => startTronChain(withSolver))

function clientOf(urls: readonly string[], depository: string): ChainClient {
  const chain: RegisteredChain = {
    id: 'tron',
    vmType: 'tron-vm',
    network: undefined,
    hubChainId: `${hubChainId}`,
    additionalData: {},
    ready: true,
    rpcThreshold: 2,
    unsetVariables: [],
    depository,
    endpoints: urls.map((url) => new Secret(url)),
  }
  const client = connectQuotingChain(chain)
  if (client === undefined) throw new Error('the chain is quoted')
  return client
}

/** A million of coin, and five thousand dollars. */
async function fund({ evm }: Pick<TronSettling, 'evm'>, address: string): Promise<void> {
  const [rich] = evm.network.keys.users
  if (rich === undefined) throw new Error('no user')
  const account = tronHexAddress(address)
  await evm.node('anvil_setBalance', [account, `0x${(1_000_000n * unit).toString(16)}`])
  const args = [account, 5_000n * unit] as const
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
  await evm.send(rich, evm.deployment.tokens.USDC, data)
}

let users = 0

export async function fundedUser(at: Pick<TronSettling, 'evm'>): Promise<TronUser> {
  users += 1
  const user = tronUserOf(`0x${(0x7000 + users).toString(16).padStart(64, '0')}`)
  await fund(at, user.address)
  return user
}

/** Request of a quote from TRX to dollars on base; `more` replaces members of the request. */
export function fromTron({ network }: Pick<TronSettling, 'network'>, user: string, more: Json = {}): Json {
  return {
    user,
    recipient: userOf(network, 0).address,
    originChainId: tronChainId,
    destinationChainId: 8453,
    originCurrency: trx,
    destinationCurrency: currencyAddress(network, 'base', 'USDC'),
    amount: (1_000n * unit).toString(),
    tradeType: 'EXACT_INPUT',
    ...more,
  }
}

export const quoteFromTron = async (at: TronSettling, user: string, more: Json = {}): Promise<QuoteAnswer> =>
  readOk(await postPatiently(`${at.url}/quote`, fromTron(at, user, more)), quoteResponseSchema)

export const askQuote = (at: TronSettling, user: string, more: Json = {}): Promise<Answer> =>
  post(`${at.url}/quote`, fromTron(at, user, more))

/** Quote from dollars on base to a currency of Tron. */
export const quoteToTron = (at: TronSettling, recipient: string, currency: string): Promise<QuoteAnswer> => {
  const [user, input] = [userOf(at.network, 0).address, currencyAddress(at.network, 'base', 'USDC')]
  return quoteFromTron(at, user, {
    originChainId: 8453,
    originCurrency: input,
    recipient,
    destinationChainId: tronChainId,
    destinationCurrency: currency,
  })
}

export const stepSchema = z.object({
  type: z.literal('TriggerSmartContract'),
  parameter: z.object({
    owner_address: z.string(),
    contract_address: z.string(),
    data: z.string(),
    call_value: z.number().optional(),
  }),
})

/** Endpoints that transactions are sent to. */
type Endpoints = { readonly nodes: readonly { readonly url: string }[] }

async function ask(at: Endpoints, path: string, body: unknown): Promise<unknown> {
  const answer = await fetch(`${at.nodes[0]?.url}/${path}`, { method: 'POST', body: JSON.stringify(body) })
  return answer.json()
}

/** As the public adapter does it: a node makes the transaction, the wallet signs it, a node takes it. @returns its id */
export async function executeStep(at: Endpoints, data: unknown, { key }: TronUser): Promise<string> {
  const { parameter } = stepSchema.parse(data)
  const made = Object(await ask(at, 'wallet/triggersmartcontract', { ...parameter, fee_limit: 30_000_000 }))
  const signed = await new TronWeb({ fullHost: at.nodes[0]?.url ?? '' }).trx.sign(
    made.transaction,
    key.slice(2),
  )
  const taken = Object(await ask(at, 'wallet/broadcasttransaction', signed))
  if (taken.result !== true) throw new Error(`it was not taken: ${JSON.stringify(taken)}`)
  const info = Object(await ask(at, 'wallet/gettransactioninfobyid', { value: signed.txID }))
  if (info.receipt?.result !== 'SUCCESS') throw new Error(`it failed: ${JSON.stringify(info)}`)
  return signed.txID
}

/** All steps of a quote, in order. @returns the id of the last one */
export async function executeQuote(at: Endpoints, quote: QuoteAnswer, user: TronUser): Promise<string> {
  let last = ''
  for (const { items } of quote.steps) for (const { data } of items) last = await executeStep(at, data, user)
  return last
}

const tronBid = {
  fees: new TronFees({ sunPerEnergy: 100n, sunPerByte: 1_000n, tokenEnergy: usualTokenEnergy }),
  ceiling: 500n,
}

/**
 * Payment of a solver on Tron for a fill, a refund or a claim.
 * @param change default: the whole amount, with the item's order id @returns the transaction id
 */
export async function payOnTron(
  { paying }: Pick<TronSettling, 'paying'>,
  item: OpenWork,
  change: { readonly amount?: bigint; readonly orderId?: Hex; readonly id?: Hex } = {},
): Promise<string> {
  if (item.kind === 'permit' || item.kind === 'sweep' || item.kind === 'recovery')
    throw new Error(`cannot pay a ${item.kind}`)
  const asked = item.kind === 'fill' ? item.payload.payments : [item.payload]
  const payments = asked.map(({ recipient, currency, amount }) => ({
    recipient,
    currency,
    amount: change.amount ?? BigInt(amount),
  }))
  for (const { currency, amount } of payments) {
    const allowance = await paying.missingAllowance?.(currency, amount)
    if (allowance === undefined) continue
    await send(paying, { id: `0x${'00'.repeat(32)}`, mark: 'allowed', allowance, payments: [] })
  }
  // CAST: an order id is 32 bytes of hex.
  const own = (item.kind === 'claim' ? item.payload.claimId : item.payload.orderId) as Hex
  const orderId = change.orderId ?? own
  return send(paying, { id: change.id ?? orderId, mark: 'paid', orderId, payments })
}

/** The id that the refund of a work item is recorded under; no test makes two equal deposits in one transaction. */
export async function refundIdOf(
  { database }: Pick<TronSettling, 'database'>,
  { kind, payload }: OpenWork,
): Promise<Hex> {
  const [named] = kind === 'refund' ? (payload.deposits ?? []) : []
  if (kind !== 'refund' || named === undefined) throw new Error('a refund names its deposit')
  const { chainId, transactionId, onchainIndex } = named
  const [deposit] = await database.query<{ currency: string; amount: bigint }>(
    'select currency, amount from deposit_seen where chain_id = $1 and tx_hash = $2 and onchain_index = $3',
    [chainId, transactionId, onchainIndex],
  )
  if (deposit === undefined) throw new Error('the deposit was not seen')
  // CAST: an order id is 32 bytes of hex.
  return refundId(payload.orderId as Hex, {
    chainId: hubChainId,
    transactionId: transactionId.toLowerCase(),
    ...deposit,
    ordinal: 0,
  })
}

export async function send(paying: PayingChain, terms: Parameters<PayingChain['plan']>[0]): Promise<string> {
  const plan = await paying.plan(terms, tronBid)
  if ('refusal' in plan) throw new Error(plan.refusal)
  const transaction = await paying.sign(plan, tronBid)
  await waitUntil('a node takes it in time', async () => {
    try {
      await paying.broadcast(transaction)
      return true
    } catch (error) {
      if (error instanceof UpstreamUnavailableError) return false
      throw error
    }
  })
  return transaction.hash
}
