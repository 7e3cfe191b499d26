import { DomainError, type Hex, type SqlDatabase } from '@causeway/core'
import { isContractChain } from '@causeway/core/config'
import { encodeTopUp, type TopUpCall } from '@causeway/families/rules'
import { readTopUpCursor } from '@causeway/ledger'
import type { QuoteApiConfig } from '../../config/config.ts'
import { loadFiles } from '../../config/configuration.ts'
import { topUpCalldata } from '../../money/topUps/operator.ts'
import { type Reconciliation, reconcile } from '../../money/topUps/reconcile.ts'
import { accountOf } from '../../money/topUps/topUpPass.ts'
import { custodyReaderOptions, openComparedChain } from '../../money/topUps/topUpReaders.ts'
import { createRegistry } from '../../pricing/registry.ts'
import { findSponsorshipChain, type SponsorCurrency } from '../../pricing/sponsorship/sponsorCurrency.ts'
import {
  findUnknownPayments,
  type UnknownPayment,
} from '../../requests/settlement/finding/unknownPayments.ts'
import { CommandError } from './commandError.ts'
import { openReader } from './reread.ts'

/** The chain on which balances are topped up, as the configuration files describe it. */
export type CommandChain = {
  readonly sponsorCurrency: SponsorCurrency
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

const usdc = 'usdc'
const zeroAddress = `0x${'0'.repeat(40)}`

/** Reads the configuration files; opens a connection only to reconcile. @throws ConfigurationError */
export async function openCommandChain(options: {
  config: QuoteApiConfig
  variables: Readonly<Record<string, string | undefined>>
  database: SqlDatabase
  signal: AbortSignal
}): Promise<CommandChain> {
  const { config, variables, database, signal } = options
  // No order is signed here, so there is no signer whose address could be a foreign one.
  const { chains, quote } = await loadFiles(config, variables, zeroAddress)
  const registry = createRegistry(quote, [...chains.chains.values()])
  const { chainId } = findSponsorshipChain(registry, new Map())
  const quotable = registry.chainById.get(chainId)
  const parts = {
    settings: { ...config.topUps, solver: quote.fillWallet },
    chainId,
    chain: chains.chains.get(quotable?.key ?? ''),
    currency: [...(quotable?.currencies.values() ?? [])].find(({ asset }) => asset.id === usdc),
    onMalformed: () => {},
  }
  return {
    sponsorCurrency: { chainId, currency: parts.currency?.address ?? '' },
    topUp({ amountMicroUsd, owner }) {
      const { token, custody } = custodyReaderOptions(parts).target
      const args = { amountMicroUsd, ...(owner !== undefined && { owner }) }
      return {
        transaction: { chainId, ...encodeCall({ token, custody, ...args }) },
        lines: topUpCalldata({ chainId, token, custody }, args).split('\n'),
      }
    },

    async reconcile({ from, to }) {
      const { chain, close } = openComparedChain(parts)
      try {
        const cursor = await database.transaction((tx) => readTopUpCursor(tx, accountOf(chain)))
        if (cursor?.finalHash === undefined) throw new NothingSettledError()
        const range = { from: from ?? config.topUps.fromBlock, to: to ?? cursor.finalTo }
        return await reconcile({ database, chain, ...range, signal })
      } finally {
        await close()
      }
    },

    async unknownPayments({ hours }) {
      const readyChains = registry.chains.filter(({ key }) => chains.chains.get(key)?.ready === true)
      const chainPayments = await Promise.all(
        readyChains.map(async ({ key, config: chainConfig }) => {
          if (!isContractChain(chainConfig)) return { key, payments: undefined }
          const { chain, close } = await openReader({ config, variables }, key)
          try {
            const period = { seconds: hours * 3_600, signal }
            return { key, payments: await findUnknownPayments(database, chain, period) }
          } finally {
            await close()
          }
        }),
      )
      return {
        payments: chainPayments.flatMap(({ payments = [] }) => payments),
        notCompared: chainPayments.flatMap(({ key, payments }) => (payments === undefined ? [key] : [])),
      }
    },
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
