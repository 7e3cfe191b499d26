import type { SqlDatabase } from '@causeway/core'
import { Counter, type HttpMetrics, watchSeries } from '@causeway/http'
import type { Logger } from 'pino'
import { shareReading } from '../../jobs/shareReading.ts'
import { findCurrency, type QuoteRegistry } from '../../pricing/registry.ts'
import { listStanding } from '../status/readStanding.ts'
import { countPutAside, type PutAsideCount } from '../work/putAsideStore.ts'
import type { SettlementEvent } from './settlementContext.ts'

/** Makes the observer that counts every settlement event and writes its log line. Also registers metrics of the database. */
export function createSettlementObserver(options: {
  metrics: Pick<HttpMetrics, 'registry'>
  database: Pick<SqlDatabase, 'query'>
  registry: Pick<QuoteRegistry, 'chainById'>
  /** Names of the configured oracles. */
  oracleNames: readonly string[]
  logger: Logger
}): (event: SettlementEvent) => void {
  const { metrics, database, registry, logger } = options
  const countMoney = createMoneyCounters(metrics, registry)
  const registers = [metrics.registry]
  const events = new Counter({
    name: 'settlement_events_total',
    help: 'What became of deposits and requests in this process',
    labelNames: ['event'],
    registers,
  })
  const answers = new Counter({
    name: oracleAnswersName,
    help: 'What oracles said about fills: signed, denied or nothing',
    labelNames: ['oracle', 'said'],
    registers,
  })
  // Counters start at 0, because Prometheus sees no growth in a series that first appears at 1.
  for (const oracle of options.oracleNames)
    for (const said of ['signed', 'denied', 'nothing']) answers.inc({ oracle, said }, 0)
  const falseReports = new Counter({
    name: 'solver_false_reports_total',
    help: 'Final transactions that the solver key reported and that do not pay their item',
    labelNames: ['kind', 'problem'],
    registers,
  })
  watchStanding(metrics, database)
  watchPutAside(metrics, database, registry)
  return (event) => {
    if (event.event === 'oracle') {
      answers.inc({ oracle: event.oracle, said: event.said })
      logger.debug(event, 'oracle answered')
      return
    }
    events.inc({ event: event.event })
    countMoney(event)
    if (event.event === 'false_report') {
      falseReports.inc({ kind: event.kind, problem: event.problem })
      logger.warn(event, 'the solver key reported a transaction that does not pay: is the key still its own?')
      return
    }
    logEvent(logger, event)
  }
}

/** Writes the log line of an event. */
function logEvent(logger: Logger, event: SettlementEvent): void {
  if (event.event === 'unanswered') {
    const { error: err, ...details } = event
    logger.warn({ ...details, err }, 'a transaction is not answered for: it is read again later')
    return
  }
  const fields = loggedFields(event)
  if (event.event === 'put_aside')
    logger.warn(fields, 'a transaction cannot be read: it is put aside and tried again')
  else if (event.event === 'stands_still') logger.error(fields, 'it makes no progress: see requests parked')
  else if (event.event === 'deposit_lost')
    logger.error(fields, 'a deposit that was paid for left its chain: it is booked as a loss')
  else if (event.event === 'parked') logger.error(fields, 'a request is parked: an operator must look')
  else logger.info(fields, 'settlement')
}

/** Registers metrics of the transactions that are put aside, by chain. */
function watchPutAside(
  { registry }: Pick<HttpMetrics, 'registry'>,
  database: Pick<SqlDatabase, 'query'>,
  { chainById }: Pick<QuoteRegistry, 'chainById'>,
): void {
  const watch = (name: string, help: string, read: (count: PutAsideCount | undefined) => number) =>
    watchSeries(registry, { name, help, labelNames: ['chain'] }, async () => {
      const countByChain = await countPutAside(database)
      return [...chainById].map(([chainId, { key }]) => ({
        labels: { chain: key },
        value: read(countByChain.get(chainId)),
      }))
    })
  watch('put_aside_transactions', 'Transactions that cannot be read', (putAside) => putAside?.count ?? 0)
  watch(
    'put_aside_oldest_seconds',
    'Since when the oldest one that may still be read waits',
    (putAside) => putAside?.oldestSeconds ?? 0,
  )
}

/** Registers metrics of the standstills that operators see, by reason. */
function watchStanding(
  { registry }: Pick<HttpMetrics, 'registry'>,
  database: Pick<SqlDatabase, 'query'>,
): void {
  const read = shareReading(() => listStanding(database))
  const watch = (name: string, help: string, measure: (ages: readonly number[]) => number) =>
    watchSeries(registry, { name, help, labelNames: ['reason'] }, async () => {
      const agesByReason = new Map<string, number[]>()
      for (const { reason, since } of await read())
        agesByReason.set(reason, [
          ...(agesByReason.get(reason) ?? []),
          (Date.now() - since.getTime()) / 1_000,
        ])
      return [...agesByReason].map(([reason, ages]) => ({ labels: { reason }, value: measure(ages) }))
    })
  watch('standing_requests', 'Requests and claims that make no progress, by reason', ({ length }) => length)
  watch('standing_oldest_seconds', 'For how long the oldest of them has made no progress', (ages) =>
    Math.max(...ages),
  )
}

/** Fields of the log line: amounts as text, and no account of a deposit. */
function loggedFields(event: SettlementEvent): object {
  if (event.event === 'settled') return { ...event, amountMicroUsd: event.amountMicroUsd.toString() }
  if (!('deposit' in event)) return event
  const { deposit, ...fields } = event
  return { ...fields, chainId: deposit.chainId, amount: deposit.amount.toString() }
}

/** Metric label of each event in which a deposit's money moves; the other events move none. */
const fates: Readonly<Partial<Record<SettlementEvent['event'], string>>> = {
  deposit_bound: 'bound',
  deposit_refund: 'refused',
  deposit_refunded: 'refunded',
}

/** Makes the counter of money that moved, by configured chain and currency; others are counted as `other`, one per deposit. */
function createMoneyCounters(
  { registry }: Pick<HttpMetrics, 'registry'>,
  { chainById }: Pick<QuoteRegistry, 'chainById'>,
): (event: SettlementEvent) => void {
  const registers = [registry]
  const deposits = new Counter({
    name: 'settlement_deposits_value_total',
    help: 'Deposits in smallest units of their currency: bound to a request, refused (to be given back), refunded',
    labelNames: ['fate', 'chain', 'currency'] as const,
    registers,
  })
  const debits = new Counter({
    name: 'settlement_debited_micro_usd_total',
    help: 'Posted to sponsors for settled requests, in micro-USDC, by the chain that the user paid on',
    labelNames: ['chain'] as const,
    registers,
  })
  for (const { key } of chainById.values()) debits.inc({ chain: key }, 0)
  return (event) => {
    if (event.event === 'settled') {
      const chain = chainById.get(event.originChainId)?.key ?? 'other'
      debits.inc({ chain }, Number(event.amountMicroUsd))
    }
    const fate = fates[event.event]
    if (fate === undefined || !('deposit' in event)) return
    const chain = chainById.get(event.deposit.chainId)
    const currency = chain && findCurrency(chain, event.deposit.currency)?.symbol
    deposits.inc(
      { fate, chain: chain?.key ?? 'other', currency: currency ?? 'other' },
      currency === undefined ? 1 : Number(event.deposit.amount),
    )
  }
}

const oracleAnswersName = 'settlement_oracle_answers_total'

/** Counts of each oracle's answers in this process, for metrics. */
export async function readOracleAnswers(
  registry: HttpMetrics['registry'],
): Promise<readonly { oracle: string; said: string; count: number }[]> {
  const metric = await registry.getSingleMetric(oracleAnswersName)?.get()
  return (metric?.values ?? []).map(({ labels, value }) => ({
    oracle: String(labels['oracle']),
    said: String(labels['said']),
    count: value,
  }))
}
