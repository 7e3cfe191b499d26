import { ConfigurationError, type SqlDatabase } from '@causeway/core'
import { type Peppers, pepperCheck } from './peppers.ts'

/** Working keys of the database that no configured pepper fits. */
export type PepperFault = {
  readonly id: string
  /** `other`: the configured pepper of this id is not the one that these keys are stored under. */
  readonly kind: 'other' | 'missing'
  readonly keys: number
}

/** Compares the configured peppers with those that the keys of the database are stored under. */
export async function findPepperFaults(
  database: Pick<SqlDatabase, 'query'>,
  peppers: Peppers,
): Promise<readonly PepperFault[]> {
  const rows = await database.query<{ id: string; stored: Buffer | null; keys: string }>(
    `select s.pepper_id as id, s.pepper_check as stored, count(*) as keys
     from api_key_secret s join api_key k on k.id = s.api_key_id
     where k.revoked_at is null and (s.retire_at is null or s.retire_at > clock_timestamp())
     group by 1, 2 order by 1`,
  )
  return rows.flatMap(({ id, stored, keys }): PepperFault[] => {
    const pepper = peppers.byId.get(id)
    if (pepper === undefined) return [{ id, kind: 'missing', keys: Number(keys) }]
    // A row without a check was written by an older release: its pepper cannot be compared.
    const fits = stored === null || pepperCheck(pepper).equals(stored)
    return fits ? [] : [{ id, kind: 'other', keys: Number(keys) }]
  })
}

/**
 * Called before keys are used. A missing pepper is no error here; the doctor reports it.
 * @throws ConfigurationError where keys are stored under another pepper of a configured id: each of them would be refused
 */
export async function assertPeppersFit(
  database: Pick<SqlDatabase, 'query'>,
  peppers: Peppers,
): Promise<void> {
  const other = (await findPepperFaults(database, peppers)).find(({ kind }) => kind === 'other')
  if (other !== undefined) throw new ConfigurationError(`API_KEY_PEPPERS ${describePepperFault(other)}.`)
}

export function describePepperFault({ id, kind, keys }: PepperFault): string {
  const stored = `${keys} working API ${keys === 1 ? 'key is' : 'keys are'} stored under`
  return kind === 'other'
    ? `has another pepper ${id} than the one that ${stored}: put that one back, or give the new one an id of its own in front of it`
    : `has no pepper ${id}, which ${stored}: callers with them get 401`
}
