import { type DenyList, openQuotingChain } from '@causeway/chains'
import { encodeFill } from '@causeway/contracts'
import { createOrderIdHasher, type Hex } from '@causeway/core'
import type { QuoteFile } from '@causeway/core/config'
import { createAgreedClient, type QuotingChain, quoteOnChain, type SimulatedFill } from '@causeway/families'
import { EthereumFees, orderCloneAddress } from '@causeway/families/rules'
import { type Clock, type Market, type MarketSnapshot, systemClock } from '@causeway/market'
import type { ChainClient, JsonRpcClient } from '@causeway/rpc'
import type { NewestHeads } from '../chainReadings/newestHeads.ts'
import { callParties, type TriedFill } from '../pricing/execution/destinationCalls.ts'
import { createPoolLegQuoter, type OnChainQuoter } from '../pricing/legs/poolLegQuoter.ts'
import { createInventoryViews } from '../pricing/market/inventoryView.ts'
import { createOpenAllowances } from '../pricing/openQuotes/openAllowances.ts'
import { createOpenQuotes } from '../pricing/openQuotes/openQuotes.ts'
import { createOpenRewards } from '../pricing/openQuotes/openRewards.ts'
import type { DepositPricing } from '../pricing/priceDeposit.ts'
import type { PricingDependencies } from '../pricing/pricingDependencies.ts'
import type { QuoteRegistry } from '../pricing/registry.ts'
import { chainBudgetMs } from '../pricing/requestWaits.ts'
import type { TriedPayment } from '../pricing/routes/mayBePaid.ts'
import type { HasSent } from '../requests/authorize/mapNonce.ts'
import type { SponsoredQuoteDependencies } from '../requests/draft/createSponsoredQuote.ts'
import type { OrderKey } from '../requests/draft/orderKey.ts'
import type { ChainStops } from '../requests/stops/chainStops.ts'

type Shared = {
  readonly quote: QuoteFile
  readonly registry: QuoteRegistry
  readonly clients: ReadonlyMap<string, ChainClient>
  readonly market: Market
}

/** A request waits this long for the chain's own quoter. */
const quoterTimeoutMs = 600
/** A request waits this long for what a chain says about accounts, then goes on without. @source rule Q-80 */
const accountBudgetMs = 60
/** What is known of accounts on a chain that cannot be asked. */
const noFacts = Promise.resolve({})
/** Salt and ids of an order that is not made yet, which no called contract sees. */
const noOrder: Hex = `0x${'0'.repeat(64)}`
/** Unix seconds that no chain reaches. */
const neverSeconds = 2n ** 40n

/** Dependencies of pricing, for a new quote and for a deposit that is priced anew. */
export function createDepositPricing(
  { quote, registry, clients, market, stops }: Shared & { readonly stops: Pick<ChainStops, 'floors'> },
  more: Pick<DepositPricing, 'sponsorAsset' | 'lackOf'>,
): DepositPricing {
  const snapshot = () => market.snapshot()
  return {
    registry,
    schedule: quote.schedule,
    swapImpactMaxBps: quote.swapImpactMaxBps,
    ceilings: quote.ceilings,
    snapshot,
    inventoryView: createInventoryViews(registry, () => stops.floors()),
    legQuoter: createPoolLegQuoter(createOnChainQuoter(registry, clients, snapshot)),
    openRewards: createOpenRewards(quote.openRewards),
    ...more,
  }
}

/** Dependencies of a quote that other parts of the service provide. */
type ProvidedDependencies = Pick<
  SponsoredQuoteDependencies,
  | 'reactionMsOf'
  | 'findLiquidity'
  | 'permitTokens'
  | 'store'
  | 'storeSponsored'
  | 'sponsors'
  | 'onExploitableFeePayer'
  | 'randomBytes'
>

/** Everything that `/price` and `/quote` need. */
export function createQuoting(
  options: Shared & {
    readonly pricing: DepositPricing
    readonly denyList: DenyList | undefined
    readonly stops: ChainStops
    readonly ports: ChainPorts
    readonly signer: OrderKey
    readonly provided: ProvidedDependencies
  },
): SponsoredQuoteDependencies {
  const { quote, registry, pricing, denyList, stops, ports, signer, provided } = options
  const { fillWallet, quoteLifetimeSeconds, orderLifetimeSeconds } = quote
  return {
    ...pricing,
    ...provided,
    denyList,
    refuseStopped: (origin, paidOn) => stops.refuse(origin, paidOn),
    quoteLifetimeSeconds,
    orderLifetimeSeconds,
    openAllowances: createOpenAllowances(),
    openQuotes: createOpenQuotes({ perUserBps: quote.openQuotesPerUserBps }),
    fillWallet,
    ...ports,
    clock: systemClock,
    signer,
    orderIdOf: createOrderIdHasher(registry.networkByKey),
  }
}

/** Asks a chain's QuoterV2 by agreement at its newest agreed block; a chain without either cannot be asked. */
function createOnChainQuoter(
  registry: QuoteRegistry,
  clients: ReadonlyMap<string, JsonRpcClient>,
  snapshot: () => MarketSnapshot,
): OnChainQuoter {
  return async ({ chainId, pool, zeroForOne, trade, amount }) => {
    const chain = registry.chainById.get(chainId)
    const client = chain === undefined ? undefined : clients.get(chain.key)
    const quoterV2 = chain?.config.uniswapV3?.quoterV2
    const market = snapshot().chain(chainId)
    if (client === undefined || quoterV2 === undefined || 'reason' in market) return undefined
    const { hash: blockHash } = market.head
    if (blockHash === undefined) return undefined
    const question = { zeroForOne, trade, amount }
    const agreedClient = createAgreedClient(client, { timeoutMs: quoterTimeoutMs })
    return quoteOnChain(agreedClient, { quoterV2, pool, question, blockHash })
  }
}

/** Questions about accounts and payments that one request asks of a chain. */
export type ChainPorts = Pick<
  PricingDependencies,
  'userFacts' | 'hasCode' | 'lackOf' | 'tryPayment' | 'tryFill'
> & {
  readonly hasSent: HasSent
}

type PortOptions = {
  registry: QuoteRegistry
  clients: ReadonlyMap<string, ChainClient>
  heads: Pick<NewestHeads, 'of'>
  clock: Clock
  /** Account that fills. */
  fillWallet: string | undefined
  /** The market, by which a payment that is tried out is priced. */
  snapshot: () => MarketSnapshot
  onFactsFailure: (chainId: number, error: unknown) => void
  /** Longest wait for an answer about accounts, in milliseconds; by default that of a quote. */
  budgetMs?: number
}

/** The chains that have a client, by number. */
function openQuotingChains(options: PortOptions): ReadonlyMap<number, QuotingChain> {
  const { registry, clients, heads, clock, onFactsFailure, budgetMs = accountBudgetMs } = options
  const chains = new Map<number, QuotingChain>()
  for (const chain of registry.chains) {
    const { key, chainId, vmType, config } = chain
    const client = clients.get(key)
    if (client === undefined) continue
    const liveChain = openQuotingChain(vmType, {
      client,
      network: registry.networkByKey(key)?.network,
      multicall3: config.multicall3,
      currentHead: () => heads.of(chain),
      budgetMs,
      neededWithinMs: chainBudgetMs,
      transactionGasMax: config.transactionGasMax,
      now: () => clock.now(),
      onFailure: (error) => onFactsFailure(chainId, error),
    })
    chains.set(chainId, liveChain)
  }
  return chains
}

/** Chain questions that quoting asks per request, over one client per chain. */
export function createChainPorts(options: PortOptions): ChainPorts {
  const { fillWallet, snapshot } = options
  const chains = openQuotingChains(options)
  return {
    userFacts: (question) => chains.get(question.chainId)?.userFacts(question) ?? noFacts,
    hasCode: async ({ chainId, account }) => chains.get(chainId)?.hasCode(account),
    lackOf: async ({ chainId, account, currency }) => chains.get(chainId)?.lackOf(account, currency),
    async tryPayment(payment) {
      const { chain } = payment
      const liveChain = chains.get(chain.chainId)
      const fill = paymentFill(payment, fillWallet)
      // Without a fill contract or a wallet there is no transaction to try, so nothing is refused.
      if (liveChain?.tryPayment === undefined || fill === undefined) return { refusal: undefined }
      const { account, currency, amount } = payment
      const trial = await liveChain.tryPayment({
        account: chain.codec.canonicalAddress(account),
        currency: currency.address,
        amount,
        fill: { ...fill, ...gasOn(snapshot(), chain.chainId) },
      })
      const { transactionGasMax } = chain.config
      const isTooDear = trial?.units !== undefined && trial.units > transactionGasMax
      const refusal = isTooDear ? `it takes more than ${transactionGasMax} gas` : trial?.refusal
      if (refusal === undefined) return trial
      return {
        refusal: `cannot be paid ${currency.symbol} on chain ${chain.chainId} (${refusal}): name another account`,
      }
    },
    hasSent: async ({ chainId, ...transfer }) => (await chains.get(chainId)?.hasSent?.(transfer)) ?? false,
    tryFill: async (triedFill) => {
      const { destination } = triedFill.route
      const { chainId } = destination
      const unitsOfCalls = chains.get(chainId)?.unitsOfCalls
      // Without a way to measure the calls no filler is named, so that `callParties` refuses them.
      const parties = callParties(destination, unitsOfCalls && fillWallet)
      return unitsOfCalls?.({ ...triedTransaction(triedFill, parties), ...gasOn(snapshot(), chainId) }) ?? 0n
    },
  }
}

/** A fill that pays one account and runs no calls; undefined where the solver pays through no contract. */
function paymentFill(
  { chain: { config, quoting }, account, currency, amount }: TriedPayment,
  wallet: string | undefined,
): SimulatedFill | undefined {
  const payer = config.fillWallet ?? wallet
  if (config.fillContract === undefined || payer === undefined) return undefined
  const [from, contract] = [payer, config.fillContract].map(quoting.hexAddress)
  if (from === undefined || contract === undefined) return undefined
  const to = quoting.hexAddress(account)
  const token = currency.isNative ? undefined : quoting.hexAddress(currency.address)
  const paid = token === undefined ? { natives: [{ to, amount }] } : { tokens: [{ token, to, amount }] }
  const data = encodeFill({ id: noOrder, orderId: noOrder, deadlineSeconds: neverSeconds, ...paid })
  return { from, to: contract, data, value: token === undefined ? amount : 0n, token, hasCalls: false }
}

/** The gas price that called code sees, and gas units for dearer state; nothing where a chain has no EVM fees. */
export function gasOn(
  snapshot: MarketSnapshot,
  chainId: number,
): Pick<SimulatedFill, 'gasPriceWei' | 'dearer'> {
  const market = snapshot.chain(chainId)
  if ('reason' in market || !(market.fees instanceof EthereumFees)) return {}
  return { gasPriceWei: market.fees.gasPrice.expectedWei, dearer: market.fees.dearer }
}

/** The fill, with the calls that the user asks for, of an order that does not exist yet. */
function triedTransaction(
  { route: { destination, currencyOut }, delivery, amount }: TriedFill,
  { fillContract, filler }: { readonly fillContract: Hex; readonly filler: Hex },
): SimulatedFill {
  const { hexAddress } = destination.quoting
  const recipient = hexAddress(delivery.recipient)
  const orderCalls = { orderSalt: noOrder, recipient, calls: delivery.calls }
  const hasCalls = delivery.calls.length > 0
  const to = hasCalls ? orderCloneAddress({ ...orderCalls, fillContract, filler }) : recipient
  const token = currencyOut.isNative ? undefined : hexAddress(currencyOut.address)
  const fill = { id: noOrder, orderId: noOrder, deadlineSeconds: neverSeconds }
  const data =
    token === undefined
      ? encodeFill({ ...fill, natives: [{ to, amount }], orderCalls: { ...orderCalls, sweptTokens: [] } })
      : encodeFill({
          ...fill,
          tokens: [{ token, to, amount }],
          orderCalls: { ...orderCalls, sweptTokens: [token] },
        })
  return { from: filler, to: fillContract, data, value: token === undefined ? amount : 0n, token, hasCalls }
}
