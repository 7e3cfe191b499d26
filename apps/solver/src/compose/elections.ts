import { randomUUID } from 'node:crypto'
import { type Elections, startElections } from '@causeway/database'
import type { Logger } from 'pino'
import type { OpenChains } from './chains.ts'
import type { SolverConfig } from './config.ts'
import type { OpenDatabase } from './database.ts'
import { leaseName } from './openDesk.ts'

type ElectionParts = {
  readonly config: Pick<SolverConfig, 'leaseMs'>
  readonly chains: Pick<OpenChains, 'paying'>
  readonly opened: OpenDatabase
  readonly logger: Logger
}

/**
 * Tries to get and keep the leases of all chains together, until it is closed. They are sorted, because every
 * process has to try for them in the same order. @source rule O-109
 */
export function elect({ config, chains, opened, logger }: ElectionParts): Elections {
  return startElections({
    jobs: chains.paying.map(({ chainId, paying }) => leaseName(paying.address, chainId)).sort(),
    areTogether: true,
    lockDatabase: opened.openSingle(),
    database: opened.database,
    holder: `${process.pid}-${randomUUID()}`,
    leaseMs: config.leaseMs,
    onChange: (lease, epoch) =>
      epoch === undefined
        ? logger.warn({ event: 'lease_lost', lease }, 'lease lost')
        : logger.info({ event: 'lease_won', lease, epoch: epoch.toString() }, 'lease won'),
    onFailure: (error) => logger.warn({ event: 'lease_interrupted', err: error }, 'lease interrupted'),
  })
}
