import { openQuotingChain } from '@causeway/chains'
import { encodeFill } from '@causeway/contracts'
import { type Hex, mapMaybe } from '@causeway/core'
import type { QuotingChain, SimulatedFill } from '@causeway/families'
import { EthereumFees, orderCloneAddress } from '@causeway/families/rules'
import type { Clock, MarketSnapshot } from '@causeway/market'
import type { ChainClient } from '@causeway/rpc'
import type { NewestHeads } from '../chainReadings/newestHeads.ts'
import { callParties, type TriedFill } from '../pricing/execution/destinationCalls.ts'
import type { PricingDependencies } from '../pricing/pricingDependencies.ts'
import type { QuoteRegistry } from '../pricing/registry.ts'
import { chainBudgetMs } from '../pricing/requestWaits.ts'
import type { TriedPayment, TryPayment } from '../pricing/routes/mayBePaid.ts'
import type { HasSent } from '../requests/authorize/mapNonce.ts'

/** A request waits this long for what a chain says about accounts, then goes on without. @source rule Q-80 */
const accountBudgetMs = 60
/** Facts about accounts on a chain that cannot be asked. */
const noFacts = {}
/** Stands for the salt and the ids of an order that is not made yet; no called contract sees them. */
const noOrder: Hex = `0x${'0'.repeat(64)}`
/** Unix seconds that no chain reaches. */
const neverSeconds = 2n ** 40n

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

/** Opens the questions that quoting asks of chains per request, over one client per chain. */
export function createChainPorts(options: PortOptions): ChainPorts {
  const { fillWallet, snapshot } = options
  const chains = openQuotingChains(options)
  const trialContext = { chains, fillWallet, snapshot }
  return {
    userFacts: (question) => chains.get(question.chainId)?.userFacts(question) ?? noFacts,
    hasCode: ({ chainId, account }) => chains.get(chainId)?.hasCode(account),
    lackOf: ({ chainId, account, currency }) => chains.get(chainId)?.lackOf(account, currency),
    // On a chain that cannot be asked, or whose transfers have no nonce, nothing counts as sent.
    hasSent: async ({ chainId, ...transfer }) => (await chains.get(chainId)?.hasSent?.(transfer)) ?? false,
    tryPayment: (payment) => tryPayment(payment, trialContext),
    tryFill: (fill) => tryFill(fill, trialContext),
  }
}

/** The chains that have a client, by chain id. */
function openQuotingChains(options: PortOptions): ReadonlyMap<number, QuotingChain> {
  const { registry, clients, heads, clock, onFactsFailure, budgetMs = accountBudgetMs } = options
  const chains = new Map<number, QuotingChain>()
  for (const chain of registry.chains) {
    const { key, chainId, vmType, config } = chain
    const client = clients.get(key)
    if (client === undefined) continue
    const quotingChain = openQuotingChain(vmType, {
      client,
      network: registry.networkByKey(key)?.network,
      multicall3: config.multicall3,
      currentHead: () => heads.of(chain),
      budgetMs,
      // Facts without which there is no price may take longer than those of `budgetMs`.
      neededWithinMs: chainBudgetMs,
      transactionGasMax: config.transactionGasMax,
      now: () => clock.steadyNow(),
      onFailure: (error) => onFactsFailure(chainId, error),
    })
    chains.set(chainId, quotingChain)
  }
  return chains
}

type TrialContext = Pick<PortOptions, 'fillWallet' | 'snapshot'> & {
  readonly chains: ReadonlyMap<number, QuotingChain>
}

/**
 * Tries out on the chain whether the account can be paid. `undefined`: not known in time. `refusal`: the end
 * of a sentence about the account; a payment that takes too much gas is refused, too.
 */
function tryPayment(
  payment: TriedPayment,
  { chains, fillWallet, snapshot }: TrialContext,
): ReturnType<TryPayment> {
  const { chain, account, currency, amount } = payment
  const quotingChain = chains.get(chain.chainId)
  const { fillContract, fillWallet: payer = fillWallet } = chain.config
  // Without a fill contract or a wallet there is no transaction to try, so nothing is refused.
  if (quotingChain?.tryPayment === undefined || fillContract === undefined || payer === undefined)
    return { refusal: undefined }
  const answer = quotingChain.tryPayment({
    account: chain.codec.canonicalAddress(account),
    currency: currency.address,
    amount,
    fill: () => ({ ...paymentFill(payment, { fillContract, payer }), ...gasOn(snapshot(), chain.chainId) }),
  })
  const { transactionGasMax } = chain.config
  return mapMaybe(answer, (trial) => {
    const isTooDear = trial?.units !== undefined && trial.units > transactionGasMax
    const refusal = isTooDear ? `it takes more than ${transactionGasMax} gas` : trial?.refusal
    if (refusal === undefined) return trial
    return {
      refusal: `cannot be paid ${currency.symbol} on chain ${chain.chainId} (${refusal}): name another account`,
    }
  })
}

/** Measures the gas units of the calls that a fill would run; 0 where the chain cannot tell. */
async function tryFill(fill: TriedFill, { chains, fillWallet, snapshot }: TrialContext): Promise<bigint> {
  const { destination } = fill.route
  const { chainId } = destination
  const unitsOfCalls = chains.get(chainId)?.unitsOfCalls
  // Without a way to measure the calls no filler is named, so that `callParties` refuses them.
  const parties = callParties(destination, unitsOfCalls && fillWallet)
  return unitsOfCalls?.({ ...triedTransaction(fill, parties), ...gasOn(snapshot(), chainId) }) ?? 0n
}

/** A fill that pays one account and runs no calls. */
function paymentFill(
  { chain: { quoting }, account, currency, amount }: TriedPayment,
  { fillContract, payer }: { readonly fillContract: string; readonly payer: string },
): SimulatedFill {
  const to = quoting.hexAddress(account)
  const token = currency.isNative ? undefined : quoting.hexAddress(currency.address)
  const transfers = token === undefined ? { natives: [{ to, amount }] } : { tokens: [{ token, to, amount }] }
  const data = encodeFill({ id: noOrder, orderId: noOrder, deadlineSeconds: neverSeconds, ...transfers })
  return {
    from: quoting.hexAddress(payer),
    to: quoting.hexAddress(fillContract),
    data,
    value: token === undefined ? amount : 0n,
    token,
    hasCalls: false,
  }
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
  // The clone of the order runs the calls, so it is what the fill pays then.
  const to = hasCalls ? orderCloneAddress({ ...orderCalls, fillContract, filler }) : recipient
  const token = currencyOut.isNative ? undefined : hexAddress(currencyOut.address)
  const transfers = token === undefined ? { natives: [{ to, amount }] } : { tokens: [{ token, to, amount }] }
  const data = encodeFill({
    id: noOrder,
    orderId: noOrder,
    deadlineSeconds: neverSeconds,
    ...transfers,
    // The clone gives `recipient` what remains of `sweptTokens`, and all native coin.
    orderCalls: { ...orderCalls, sweptTokens: token === undefined ? [] : [token] },
  })
  return { from: filler, to: fillContract, data, value: token === undefined ? amount : 0n, token, hasCalls }
}
