import { DomainError, type Findings } from '@causeway/core'
import { createDatabase, sqlState } from '@causeway/database'
import { listPutAside, type StoredPutAside } from '../requests/settlement/putAsideStore.ts'

/** Named one by one; of more the number is told. */
const namedMax = 5

/**
 * Names transactions that no reading gets through: a deposit in one of them waits. What keeps the database from being
 * asked is found by others.
 * @param chainNames keys of the quoted chains by their id
 */
export async function examinePutAside(
  connectionString: string,
  { chainNames, nowMs }: { readonly chainNames: ReadonlyMap<number, string>; readonly nowMs: () => number },
  found: Findings,
): Promise<void> {
  const database = createDatabase({ connectionString, poolSize: 1, applicationName: 'causeway-doctor' })
  try {
    const aside = await listPutAside(database)
    for (const chainId of new Set(aside.map((one) => one.chainId))) {
      const ofChain = aside.filter((one) => one.chainId === chainId)
      found.add({
        ...{ code: 'put-aside', severity: 'degrades' },
        setting: `chain ${chainNames.get(chainId) ?? chainId}`,
        seen: describe(ofChain, nowMs() / 1_000),
        fix: 'Install a release that reads them, or look at docs/operating/parked.md: deposits in them wait.',
      })
    }
  } catch (error) {
    if (!(error instanceof DomainError) && sqlState(error) === undefined) throw error
  } finally {
    await database.close()
  }
}

function describe(aside: readonly StoredPutAside[], nowSeconds: number): string {
  const named = aside
    .slice(0, namedMax)
    .map(({ transactionId, reason, firstSeenSeconds, tries }) => {
      const minutes = Math.max(0, Math.floor((nowSeconds - firstSeenSeconds) / 60))
      return `${transactionId} (${reason}, for ${minutes} min, tried ${tries} times)`
    })
    .join(', ')
  const more = aside.length > namedMax ? `, and ${aside.length - namedMax} more` : ''
  return `transactions that name the depository and cannot be read: ${named}${more}`
}
