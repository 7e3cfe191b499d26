import { DomainError, type Hex, type SqlDatabase } from '@causeway/core'
import { isContractChain } from '@causeway/core/config'
import { encodeTopUp, type TopUpCall } from '@causeway/families/rules'
import { readTopUpCursor } from '@causeway/ledger'
import type { QuoteApiConfig } from '../../config/config.ts'
import { loadFiles } from '../../config/configuration.ts'
import { topUpCalldata } from '../../money/topUps/operator.ts'
import { type Reconciliation, reconcile } from '../../money/topUps/reconcile.ts'
import { accountOf } from '../../money/topUps/topUpPass.ts'
import {
  custodyReaderOptions,
  openComparedChain,
  type TopUpReadingParts,
} from '../../money/topUps/topUpReaders.ts'
import { createRegistry, type QuotableChain } from '../../pricing/registry.ts'
import { findSponsorshipChain, type SponsorCurrency } from '../../pricing/sponsorship/sponsorCurrency.ts'
import {
  findUnknownPayments,
  type UnknownPayment,
} from '../../requests/settlement/finding/unknownPayments.ts'
import { noOrderSigner } from './command.ts'
import { CommandError } from './commandError.ts'
import { openReader } from './reread.ts'

/** Operations on the chain on which balances are topped up, for commands and admin routes. */
export type CommandChain = {
  readonly sponsorCurrency: SponsorCurrency
  /** The transaction that tops a balance up, also as lines for a person. @throws CommandError, ConfigurationError */
  topUp(args: { amountMicroUsd: bigint; owner: Hex | undefined }): {
    readonly transaction: TopUpCall & { readonly chainId: number }
    readonly lines: readonly string[]
  }
  /** @throws NothingSettledError, UpstreamUnavailableError, ConfigurationError where top-ups are not set up */
  reconcile(range: { from: bigint | undefined; to: bigint | undefined }): Promise<Reconciliation>
  /** Payments of the fill wallet in the last hours that no stored request explains. @throws UpstreamUnavailableError */
  unknownPayments(args: { readonly hours: number }): Promise<UnknownPayments>
}

export type UnknownPayments = {
  readonly payments: readonly UnknownPayment[]
  /** Keys of chains that list no payments; `ledger fills` compares what the solver kept of them. */
  readonly notCompared: readonly string[]
}

/** The chain has no block yet whose top-ups could be compared. */
class NothingSettledError extends DomainError {
  readonly code = 'TOP_UPS_NOT_SETTLED'
  readonly kind = 'conflict'

  constructor() {
    super('No top-up block is settled yet.')
  }
}

/** Id of the asset of sponsor money. */
const usdc = 'usdc'

type CommandChainOptions = {
  readonly config: QuoteApiConfig
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly database: SqlDatabase
  readonly signal: AbortSignal
}

/** Reads the configuration files; opens a connection only to reconcile. @throws ConfigurationError */
export async function openCommandChain(options: CommandChainOptions): Promise<CommandChain> {
  const { config, variables } = options
  const { chains, quote } = await loadFiles(config, variables, noOrderSigner)
  const registry = createRegistry(quote, [...chains.chains.values()])
  // Only the chain's number is wanted, so no clients are given.
  const { chainId } = findSponsorshipChain(registry, new Map())
  const quotable = registry.chainById.get(chainId)
  const parts: TopUpReadingParts = {
    settings: { ...config.topUps, solver: quote.fillWallet },
    chainId,
    // No chain has the empty key.
    chain: chains.chains.get(quotable?.key ?? ''),
    currency: [...(quotable?.currencies.values() ?? [])].find(({ asset }) => asset.id === usdc),
    // A command keeps no metrics.
    onMalformed: () => {},
  }
  const readableChains = registry.chains.filter(({ key }) => chains.chains.get(key)?.ready === true)
  return {
    // Empty where the chain has no USDC configured.
    sponsorCurrency: { chainId, currency: parts.currency?.address ?? '' },
    topUp: ({ amountMicroUsd, owner }) =>
      prepareTopUp(parts, { amountMicroUsd, ...(owner !== undefined && { owner }) }),
    reconcile: (range) => reconcileTopUps(parts, options, range),
    unknownPayments: ({ hours }) => readUnknownPayments(readableChains, options, hours),
  }
}

function prepareTopUp(
  parts: TopUpReadingParts,
  args: { readonly amountMicroUsd: bigint; readonly owner?: Hex },
): ReturnType<CommandChain['topUp']> {
  const { chainId } = parts
  const { token, custody } = custodyReaderOptions(parts).target
  return {
    transaction: { chainId, ...encodeCall({ token, custody, ...args }) },
    lines: topUpCalldata({ chainId, token, custody }, args).split('\n'),
  }
}

async function reconcileTopUps(
  parts: TopUpReadingParts,
  { config, database, signal }: CommandChainOptions,
  { from, to }: Parameters<CommandChain['reconcile']>[0],
): Promise<Reconciliation> {
  const { chain, close } = openComparedChain(parts)
  try {
    const cursor = await database.transaction((tx) => readTopUpCursor(tx, accountOf(chain)))
    if (cursor?.finalHash === undefined) throw new NothingSettledError()
    const range = { from: from ?? config.topUps.fromBlock, to: to ?? cursor.finalTo }
    return await reconcile({ database, chain, ...range, signal })
  } finally {
    await close()
  }
}

async function readUnknownPayments(
  chains: readonly QuotableChain[],
  options: CommandChainOptions,
  hours: number,
): Promise<UnknownPayments> {
  const paymentsByChain = await Promise.all(
    chains.map(async (chain) => ({ key: chain.key, payments: await readPaymentsOf(chain, options, hours) })),
  )
  return {
    payments: paymentsByChain.flatMap(({ payments = [] }) => payments),
    notCompared: paymentsByChain.flatMap(({ key, payments }) => (payments === undefined ? [key] : [])),
  }
}

/** @returns undefined for a chain that lists no payments */
async function readPaymentsOf(
  { key, config }: QuotableChain,
  options: CommandChainOptions,
  hours: number,
): Promise<readonly UnknownPayment[] | undefined> {
  if (!isContractChain(config)) return undefined
  const { database, signal } = options
  const { chain, close } = await openReader(options, key)
  try {
    return await findUnknownPayments(database, chain, { seconds: hours * 3_600, signal })
  } finally {
    await close()
  }
}

/** @throws CommandError for arguments that make no top-up */
function encodeCall(args: Parameters<typeof encodeTopUp>[0]): TopUpCall {
  try {
    return encodeTopUp(args)
  } catch (error) {
    if (error instanceof RangeError) throw new CommandError(`A top-up cannot be made: ${error.message}.`)
    throw error
  }
}
