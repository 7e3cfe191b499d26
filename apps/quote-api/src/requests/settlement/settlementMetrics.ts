import type { SqlDatabase } from '@causeway/core'
import { Counter, Gauge, type HttpMetrics } from '@causeway/http'
import type { Logger } from 'pino'
import { countParked } from './parked/readParked.ts'
import type { SettlementEvent } from './settlementContext.ts'

/** Tells operators what becomes of requests: counters, and a log line each. */
export function createSettlementObserver(options: {
  metrics: Pick<HttpMetrics, 'registry'>
  database: Pick<SqlDatabase, 'query'>
  logger: Logger
}): (event: SettlementEvent) => void {
  const { metrics, database, logger } = options
  const registers = [metrics.registry]
  const events = new Counter({
    name: 'settlement_events_total',
    help: 'What became of deposits and requests in this process',
    labelNames: ['event'],
    registers,
  })
  const answers = new Counter({
    name: 'settlement_oracle_answers_total',
    help: 'What oracles said about fills: signed, denied or nothing',
    labelNames: ['oracle', 'said'],
    registers,
  })
  const falseReports = new Counter({
    name: 'solver_false_reports_total',
    help: 'Final transactions that the solver key reported and that do not pay their item',
    labelNames: ['kind', 'problem'],
    registers,
  })
  new Gauge({
    name: 'settlement_parked',
    help: 'Requests that an operator must look at',
    registers,
    async collect() {
      this.set(await countParked(database))
    },
  })
  return (event) => {
    if (event.event === 'oracle') {
      answers.inc({ oracle: event.oracle, said: event.said })
      logger.debug(event, 'oracle answered')
      return
    }
    events.inc({ event: event.event })
    if (event.event === 'false_report') {
      falseReports.inc({ kind: event.kind, problem: event.problem })
      logger.warn(event, 'the solver key reported a transaction that does not pay: is the key still its own?')
      return
    }
    const fields =
      event.event === 'settled' ? { ...event, amountMicroUsd: event.amountMicroUsd.toString() } : event
    if (event.event === 'trace_needed') logger.warn(fields, 'a refund waits for a trace of its chain')
    else if (event.event === 'parked') logger.error(fields, 'a request is parked: an operator must look')
    else logger.info(fields, 'settlement')
  }
}
