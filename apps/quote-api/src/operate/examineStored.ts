import { DomainError, type SqlDatabase } from '@causeway/core'
import { counted, type Findings } from '@causeway/core/config'
import { createDatabase, sqlState } from '@causeway/database'
import type { Peppers } from '../access/keys/peppers.ts'
import { describePepperFault, findPepperFaults } from '../access/keys/storedPeppers.ts'
import { differencesOf, type OwnTerms } from '../requests/stops/solverTerms.ts'
import { everyChain, readStops, stopAdvice } from '../requests/stops/stopStore.ts'
import { readTerms } from '../requests/stops/termsStore.ts'
import { listPutAside, type StoredPutAside } from '../requests/work/putAsideStore.ts'

/** Transactions that are named one by one; further ones are only counted. */
const namedMax = 5

type ExaminationInputs = {
  /** Keys of the quoted chains by their id. */
  readonly chainNames: ReadonlyMap<number, string>
  /** Undefined where none are configured, or they cannot be read. */
  readonly peppers: Peppers | undefined
  /** Terms of this service; undefined where the key or the files cannot be read. */
  readonly own?: OwnTerms | undefined
  readonly nowMs: () => number
}

/**
 * The doctor's findings from the database: stopped chains, transactions that cannot be read, so that deposits in them
 * wait, API keys whose pepper is not configured, and orders that a solver would refuse. `examineDatabase` reports why the
 * database cannot be asked.
 */
export async function examineStored(
  connectionString: string,
  inputs: ExaminationInputs,
  findings: Findings,
): Promise<void> {
  const database = createDatabase({ connectionString, poolSize: 1, applicationName: 'causeway-doctor' })
  try {
    await examineAside(database, inputs, findings)
    await examineStops(database, inputs, findings)
    await examinePeppers(database, inputs, findings)
    await examineTerms(database, inputs, findings)
  } catch (error) {
    if (!(error instanceof DomainError) && sqlState(error) === undefined) throw error
  } finally {
    await database.close()
  }
}

async function examineAside(
  database: Pick<SqlDatabase, 'query'>,
  { chainNames, nowMs }: ExaminationInputs,
  findings: Findings,
): Promise<void> {
  const transactions = await listPutAside(database)
  for (const chainId of new Set(transactions.map((transaction) => transaction.chainId))) {
    const chainTransactions = transactions.filter((transaction) => transaction.chainId === chainId)
    findings.add({
      code: 'put-aside',
      severity: 'degrades',
      setting: `chain ${chainNames.get(chainId) ?? chainId}`,
      seen: describe(chainTransactions, nowMs() / 1_000),
      fix: 'Install a release that reads them, or look at docs/operating/parked.md: deposits in them wait.',
    })
  }
}

async function examineStops(
  database: Pick<SqlDatabase, 'query'>,
  { chainNames }: ExaminationInputs,
  findings: Findings,
): Promise<void> {
  for (const { chainId, toldBy, reason, actor, since } of await readStops(database)) {
    const name = chainId === everyChain ? 'all' : (chainNames.get(chainId) ?? String(chainId))
    const isByOperator = toldBy === 'operator'
    findings.add({
      code: 'chain-stopped',
      severity: 'degrades',
      setting: isByOperator && name === 'all' ? 'all chains' : `chain ${name}`,
      seen: `stopped by ${actor} since ${since.toISOString()}: ${reason}`,
      fix: stopAdvice(toldBy, name),
    })
  }
}

async function examinePeppers(
  database: Pick<SqlDatabase, 'query'>,
  { peppers }: ExaminationInputs,
  findings: Findings,
): Promise<void> {
  if (peppers === undefined) return
  for (const fault of await findPepperFaults(database, peppers)) {
    findings.add({
      code: 'pepper-wrong',
      // The service does not start with another pepper, but does without one.
      severity: fault.kind === 'other' ? 'stops' : 'degrades',
      setting: 'API_KEY_PEPPERS',
      seen: describePepperFault(fault),
      fix: 'Configure the pepper that these keys were made with, or create new keys and revoke these.',
    })
  }
}

async function examineTerms(
  database: Pick<SqlDatabase, 'query'>,
  { own }: ExaminationInputs,
  findings: Findings,
): Promise<void> {
  const solverTerms = await readTerms(database)
  const differences = own === undefined ? [] : differencesOf(own, solverTerms)
  for (const { text, isStopping } of differences) {
    findings.add({
      code: 'solver-differs',
      severity: 'degrades',
      setting: 'solver',
      seen: `${text}${isStopping ? ': nothing is sold that it would refuse' : ''}`,
      fix: 'Mend the setting of the service that is wrong, and restart that one: it ends by itself.',
    })
  }
  // Undefined stands for a solver that states no terms.
  if (!solverTerms.includes(undefined)) return
  findings.add({
    code: 'solver-unknown',
    severity: 'note',
    setting: 'solver',
    seen: 'a solver that fetches work does not say what it fills with: it is compared with nothing',
    fix: 'Compare its order signers, fill wallet and fill contracts by hand (docs/reference/solver-interface.md).',
  })
}

function describe(transactions: readonly StoredPutAside[], nowSeconds: number): string {
  const descriptions = transactions
    .slice(0, namedMax)
    .map(({ transactionId, reason, firstSeenSeconds, tries }) => {
      const minutes = Math.max(0, Math.floor((nowSeconds - firstSeenSeconds) / 60))
      return `${transactionId} (${reason}, for ${minutes} min, tried ${counted(tries, 'time')})`
    })
    .join(', ')
  const more = transactions.length > namedMax ? `, and ${transactions.length - namedMax} more` : ''
  return `transactions that cannot be read: ${descriptions}${more}`
}
