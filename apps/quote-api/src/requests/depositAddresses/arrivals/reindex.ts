import { DomainError, type SqlDatabase, UpstreamUnavailableError } from '@causeway/core'
import { QuoteError } from '../../../pricing/errors.ts'
import { findCurrency } from '../../../pricing/registry.ts'
import { UnknownDepositAddressError } from '../addressLookup.ts'
import type { HeldBalances } from '../balanceReading.ts'
import type { AddressChain } from '../depositAddressContext.ts'
import { markPaid } from './paidAddressStore.ts'

/** Least time between two requested looks at one address. */
const pauseSeconds = 10
/** Time limit for reading the chain. */
const readTimeoutMs = 3_000

/** The address was looked at a moment ago, so another look would find the same. */
class ReindexedTooRecentlyError extends DomainError {
  readonly code = 'REINDEXED_TOO_RECENTLY'
  readonly kind = 'rate_limited'

  constructor() {
    super(`An address is looked at once in ${pauseSeconds} seconds.`, { retryAfterSeconds: pauseSeconds })
  }
}

/** Answer of a look: the balances that were found, which the jobs act on next. */
type ReindexResult = {
  readonly triggered: readonly {
    readonly currency: string
    readonly symbol: string
    readonly balance: bigint
  }[]
  /** Number of currencies that the look covered. */
  readonly checkedCount: number
}

/**
 * Handles a caller's request to look at a deposit address now. Its balances are read by a quorum. An address
 * with money becomes due at once. `markPaid` gives it the lane of paid addresses, or one behind it if the
 * money is less than half of the quoted amount or in another currency.
 * @param asked with `currency`, the answer covers that one alone
 * @throws UnknownDepositAddressError, ReindexedTooRecentlyError; QuoteError UNSUPPORTED_CURRENCY;
 * UpstreamUnavailableError where the chain cannot be read
 */
export type Reindex = (asked: {
  readonly chainId: number
  readonly depositAddress: string
  readonly currency?: string | undefined
}) => Promise<ReindexResult>

export function createReindex(options: {
  readonly database: SqlDatabase
  readonly sites: readonly AddressChain[]
  readonly wake: (chainId: number) => void
}): Reindex {
  const { database, sites, wake } = options
  return async ({ chainId, depositAddress, currency }) => {
    const site = sites.find(({ chain }) => chain.chainId === chainId)
    if (site === undefined) throw new UnknownDepositAddressError()
    const listedCurrencies = listCurrencies(site, currency)
    const address = await beginLook(database, chainId, depositAddress)
    const held = await balancesOf(site, address)
    if (held.size > 0) {
      // Only balances were read, so `named`, the addresses in calldata of blocks, is empty.
      await database.transaction((tx) =>
        markPaid(tx, chainId, { paid: new Map([[address, held]]), named: [] }),
      )
      wake(chainId)
    }
    const triggered = listedCurrencies.flatMap((listedCurrency) => {
      const balance = held.get(listedCurrency.currency)
      return balance === undefined ? [] : [{ ...listedCurrency, balance }]
    })
    return { triggered, checkedCount: listedCurrencies.length }
  }
}

/** The currency with an address, or all listed ones. @throws QuoteError UNSUPPORTED_CURRENCY */
function listCurrencies({ chain }: AddressChain, address: string | undefined) {
  const currencies = address === undefined ? [...chain.currencies.values()] : [findCurrency(chain, address)]
  return currencies.map((currency) => {
    if (currency === undefined)
      throw new QuoteError('UNSUPPORTED_CURRENCY', 'This currency is not listed on the chain.', {
        data: { field: 'currency' },
      })
    return { currency: currency.address, symbol: currency.symbol }
  })
}

/** Notes the look, and refuses one too soon. @returns the address in its canonical spelling */
async function beginLook(database: SqlDatabase, chainId: number, depositAddress: string): Promise<string> {
  const whereAddress = 'where address in ($1, lower($1)) and chain_id = $2'
  const [row] = await database.query<{ readonly address: string }>(
    `update deposit_address set reindexed_at = clock_timestamp() ${whereAddress}
       and (reindexed_at is null or reindexed_at <= clock_timestamp() - interval '${pauseSeconds} seconds')
     returning address`,
    [depositAddress, chainId],
  )
  if (row !== undefined) return row.address
  const rows = await database.query(`select 1 from deposit_address ${whereAddress}`, [
    depositAddress,
    chainId,
  ])
  throw rows.length > 0 ? new ReindexedTooRecentlyError() : new UnknownDepositAddressError()
}

async function balancesOf(site: AddressChain, address: string): Promise<HeldBalances> {
  const signal = AbortSignal.timeout(readTimeoutMs)
  try {
    const height = await site.head(signal)
    const [held = new Map<string, bigint>()] = await site.balances([address], height, signal)
    return held
  } catch (error) {
    throw new UpstreamUnavailableError('The chain cannot be read at the moment.', { cause: error })
  }
}
