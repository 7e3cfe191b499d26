import { readFileSync } from 'node:fs'
import type { SqlDatabase } from '@causeway/core'
import { createFindings } from '@causeway/core/config'
import { examineSigningKey } from '@causeway/signer'
import { readFiles } from '../../config/configuration.ts'
import { createRegistry } from '../../pricing/registry.ts'
import { ownTermsOf } from '../../requests/stops/ownTerms.ts'
import { type Difference, differencesOf } from '../../requests/stops/solverTerms.ts'
import { readTerms } from '../../requests/stops/termsStore.ts'
import type { ChainsContext } from './command.ts'

/**
 * Settings in which solvers differ from a service with these variables. Solvers store their terms in the database.
 * @returns undefined if the key or the files cannot be used; the doctor says why
 */
export async function readDifferences(
  database: Pick<SqlDatabase, 'query'>,
  { config, variables }: ChainsContext,
): Promise<readonly Difference[] | undefined> {
  const findings = createFindings()
  const readFile = (path: string) => readFileSync(path, 'utf8')
  // Modes of key files are the doctor's concern.
  const key = { environment: variables, readFile, modeOf: () => undefined }
  const orderSigner = await examineSigningKey(key, findings)
  const { environment, configDirectory, topUps } = config
  const places = { environment, configDirectory, custody: topUps.custody, orderSigner }
  const files = await readFiles(places, variables, findings)
  if (orderSigner === undefined || files === undefined) return undefined
  const { quote, chains } = files
  const registry = findings.attempt(() => createRegistry(quote, [...chains.chains.values()]))
  if (registry === undefined) return undefined
  const isRead = (chain: string) => chains.chains.get(chain)?.ready === true
  return differencesOf(ownTermsOf({ quote, registry, orderSigner, isRead }), await readTerms(database))
}
