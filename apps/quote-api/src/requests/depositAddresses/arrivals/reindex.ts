import { DomainError, type SqlDatabase, UpstreamUnavailableError } from '@causeway/core'
import { QuoteError } from '../../../pricing/errors.ts'
import { findCurrency } from '../../../pricing/registry.ts'
import { UnknownDepositAddressError } from '../addressLookup.ts'
import { markPaid } from '../addressStore.ts'
import type { HeldBalances } from '../balanceReading.ts'
import type { AddressChain } from '../depositAddressContext.ts'

/** Between two looks at an address that somebody asks for. */
const pauseSeconds = 10
/** Time budget of the look itself. */
const budgetMs = 3_000

/** The address was looked at a moment ago, so another look would find the same. */
class ReindexedTooRecentlyError extends DomainError {
  readonly code = 'REINDEXED_TOO_RECENTLY'
  readonly kind = 'rate_limited'

  constructor() {
    super(`An address is looked at once in ${pauseSeconds} seconds.`, { retryAfterSeconds: pauseSeconds })
  }
}

/** Money found at an address, which the jobs act on next. */
type Reindexed = {
  readonly triggered: readonly {
    readonly currency: string
    readonly symbol: string
    readonly balance: bigint
  }[]
  readonly checkedCount: number
}

/**
 * Looks at a deposit address now, by agreement, and puts it before the others where something lies there. Nobody's
 * word is believed: what is not there moves nothing, and dust goes before no payment.
 * @param asked with `currency`, that one alone is told
 * @throws UnknownDepositAddressError, ReindexedTooRecentlyError; QuoteError UNSUPPORTED_CURRENCY;
 * UpstreamUnavailableError where the chain cannot be read
 */
export type Reindex = (asked: {
  readonly chainId: number
  readonly depositAddress: string
  readonly currency?: string | undefined
}) => Promise<Reindexed>

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

/** @throws QuoteError UNSUPPORTED_CURRENCY */
function listCurrencies({ chain }: AddressChain, currencyAddress: string | undefined) {
  const currency = currencyAddress === undefined ? undefined : findCurrency(chain, currencyAddress)
  if (currencyAddress !== undefined && currency === undefined) {
    throw new QuoteError('UNSUPPORTED_CURRENCY', 'This currency is not listed on the chain.', {
      data: { field: 'currency' },
    })
  }
  const all = currency === undefined ? [...chain.currencies.values()] : [currency]
  return all.map(({ address, symbol }) => ({ currency: address, symbol }))
}

async function beginLook(database: SqlDatabase, chainId: number, depositAddress: string): Promise<string> {
  const place = 'where address in ($1, lower($1)) and chain_id = $2'
  const [row] = await database.query<{ readonly address: string }>(
    `update deposit_address set reindexed_at = clock_timestamp() ${place}
       and (reindexed_at is null or reindexed_at <= clock_timestamp() - interval '${pauseSeconds} seconds')
     returning address`,
    [depositAddress, chainId],
  )
  if (row !== undefined) return row.address
  const rows = await database.query(`select 1 from deposit_address ${place}`, [depositAddress, chainId])
  throw rows.length > 0 ? new ReindexedTooRecentlyError() : new UnknownDepositAddressError()
}

async function balancesOf(site: AddressChain, address: string): Promise<HeldBalances> {
  const signal = AbortSignal.timeout(budgetMs)
  try {
    const at = await site.head(signal)
    const [held = new Map<string, bigint>()] = await site.balances([address], at, signal)
    return held
  } catch (error) {
    throw new UpstreamUnavailableError('The chain cannot be read at the moment.', { cause: error })
  }
}
