import { type Ledger, minBigint, type SqlDatabase } from '@causeway/core'
import { paceMs } from '@causeway/core/config'
import type { AddressReading } from '@causeway/families'
import type { Logger } from 'pino'
import { createWakeSignal, type Job } from '../jobs/runJobs.ts'
import { createReindex, type Reindex } from '../requests/depositAddresses/arrivals/reindex.ts'
import { createPaymentScanner } from '../requests/depositAddresses/arrivals/scanPayments.ts'
import { watchAddresses } from '../requests/depositAddresses/arrivals/watchAddresses.ts'
import type {
  AddressChain,
  DepositAddressContext,
} from '../requests/depositAddresses/depositAddressContext.ts'
import { storeFirstQuote } from '../requests/depositAddresses/quotes/storeDepositQuote.ts'
import { followSweeps } from '../requests/depositAddresses/sweeps/followSweeps.ts'
import type { SponsoredQuoteDependencies } from '../requests/draft/createSponsoredQuote.ts'
import type { OrderSignatures } from '../requests/orders/orderSignatures.ts'
import type { Screening } from '../requests/screening/screenedRequest.ts'
import type { SettlementChain } from '../requests/settlement/chain/settlementChain.ts'
import type { ChainStops } from '../requests/stops/chainStops.ts'
import { announceStatus } from '../webhooks/announceStatus.ts'

type Stores = Pick<SponsoredQuoteDependencies, 'store' | 'storeSponsored'>

/** Stores a quote that has a deposit address in one transaction with that address; leaves other quotes to `stores`. */
export function storeWithAddresses(
  { database, ledger }: { readonly database: SqlDatabase; readonly ledger: Ledger },
  stores: Stores,
): Stores {
  return {
    async store(record) {
      if (record.quote.depositAddress === undefined) return stores.store(record)
      // `undefined`: no sponsor, so nothing is held.
      await database.transaction((tx) => storeFirstQuote(tx, ledger, record, undefined))
    },
    async storeSponsored(record, hold) {
      if (record.quote.depositAddress === undefined) return stores.storeSponsored(record, hold)
      return database.transaction((tx) => storeFirstQuote(tx, ledger, record, hold))
    },
  }
}

export type DepositAddresses = {
  readonly jobs: readonly Job[]
  /** Makes the jobs look at one chain, or at all, soon, because there may be something new. */
  hint(chainId?: number): void
  readonly reindex: Reindex
}

/** Longest pause of a job: the next block of a slow chain may come at any moment, and a look that finds none costs little. */
const intervalCeilingMs = 10_000

/** Half the time between two blocks, so that each is looked at soon. */
const intervalOf = ({ chain: { config } }: Pick<AddressChain, 'chain'>): number =>
  Math.min(paceMs(config) / 2, intervalCeilingMs)

/**
 * The jobs that bring money from deposit addresses into the depository. Per chain, a scanner reads payments in blocks and
 * wakes the watcher, which looks at the addresses; one job follows all sweeps. @source rule Q-207
 */
export function createDepositAddresses(options: {
  settlementChains: ReadonlyMap<number, SettlementChain>
  database: SqlDatabase
  ledger: Ledger
  quoting: SponsoredQuoteDependencies
  screening: Screening | undefined
  signatures: OrderSignatures
  stops: Pick<ChainStops, 'now'>
  logger: Logger
}): DepositAddresses {
  const { database, ledger, quoting, settlementChains, screening, signatures, stops, logger } = options
  const context: DepositAddressContext = {
    database,
    ledger,
    chains: settlementChains,
    now: () => stops.now(),
    quoting,
    networkOf: quoting.registry.networkByKey,
    screening,
    signatures,
    announce: announceStatus,
    logger,
  }
  const addressChains = openAddressChains(settlementChains)
  const watchers = new Map(
    addressChains.map((opened) => [opened.chain.chainId, watcherOf(context, opened)] as const),
  )
  const scanners = new Map(
    addressChains.flatMap((opened) => {
      const { chainId } = opened.chain
      const onPaid = () => watchers.get(chainId)?.waker?.wake()
      if (opened.blocks === undefined) return []
      return [[chainId, scannerOf(context, opened, onPaid)] as const]
    }),
  )
  // The watcher of deposits sees most blocks first, and the scanner then asks for no head.
  for (const [chainId, { waker }] of scanners)
    settlementChains.get(chainId)?.seenHead.listen(() => waker?.wake())
  const sweepSignal = createWakeSignal()
  // Sweeps are followed every second, or as often as the fastest chain is looked at.
  const intervalMs = Math.min(...[...watchers.values()].map((job) => job.intervalMs), 1_000)
  return {
    jobs: [
      ...scanners.values(),
      ...watchers.values(),
      { name: 'sweeps', intervalMs, waker: sweepSignal, run: (run) => followSweeps(context, run) },
    ],
    hint(chainId) {
      sweepSignal.wake()
      for (const jobs of [scanners, watchers]) {
        const hintedJobs = chainId === undefined ? [...jobs.values()] : [jobs.get(chainId)]
        for (const job of hintedJobs) job?.waker?.wake()
      }
    },
    reindex: createReindex({
      database,
      sites: addressChains,
      wake: (chainId) => watchers.get(chainId)?.waker?.wake(),
    }),
  }
}

function scannerOf(context: DepositAddressContext, addressChain: AddressChain, onPaid: () => void): Job {
  const scan = createPaymentScanner(context, addressChain)
  return {
    name: `deposit-payments-${addressChain.chain.key}`,
    intervalMs: intervalOf(addressChain),
    waker: createWakeSignal(),
    async run(run) {
      if (await scan(run)) onPaid()
    },
  }
}

function watcherOf(context: DepositAddressContext, addressChain: AddressChain): Job {
  return {
    name: `deposit-addresses-${addressChain.chain.key}`,
    intervalMs: intervalOf(addressChain),
    waker: createWakeSignal(),
    run: (run) => watchAddresses(context, addressChain, run),
  }
}

/** Chains that have deposit addresses and can be read. */
function openAddressChains(settlementChains: ReadonlyMap<number, SettlementChain>): readonly AddressChain[] {
  return [...settlementChains.values()].flatMap(({ chain, head, seenHead, finalHeight, addresses }) =>
    chain.quoting.depositAddresses === undefined || addresses === undefined
      ? []
      : [toAddressChain({ chain, head, seenHead, finalHeight }, addresses)],
  )
}

/** The reading of addresses that the chain's family offers, for the chain's currencies. */
function toAddressChain(
  {
    chain,
    head,
    seenHead,
    finalHeight,
  }: Pick<SettlementChain, 'chain' | 'head' | 'seenHead' | 'finalHeight'>,
  addresses: AddressReading,
): AddressChain {
  const { needsFinal, blocks, payers, transfer } = addresses
  const currencies = [...chain.currencies.values()]
  return {
    chain,
    head,
    seenHead: () => seenHead.within(intervalOf({ chain })),
    finalHeight,
    // If blocks show every payment, only paid addresses need a look.
    isSeenInBlocks: blocks?.showsAll === true,
    ...(blocks !== undefined && { blocks }),
    ...(payers !== undefined && {
      payers: (address, height, signal) => payers(address, { currencies, height }, signal),
    }),
    ...(transfer !== undefined && {
      async transfer(address, { currency: currencyAddress, height }, signal) {
        const currency = currencies.find(({ address: known }) => known === currencyAddress)
        if (currency === undefined) return undefined
        const match = await transfer(address, { currency, height }, signal)
        return match && { transactionHash: match.transactionId, amount: match.amount, from: match.from }
      },
    }),
    async balances(accounts, height, signal) {
      // A sweep that can spend final money only would wait for a younger balance.
      const sweepableHeight = needsFinal ? minBigint(height, await finalHeight(signal)) : height
      return addresses.held(accounts, { currencies, height: sweepableHeight }, signal)
    },
  }
}
