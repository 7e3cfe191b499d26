import { executionReverted, orderRefused, quotedGasExceeded } from '@causeway/core'
import type { DeskWork, Subject } from '../wallet/chainDesk.ts'
import type { KeptRecord } from '../wallet/signedRecord.ts'
import type { Payment, SolverChain } from './filling.ts'
import type { Recovered } from './recover.ts'

/**
 * Outcome of one look at a work item. `signed`: the record is kept, and sent once the service agrees; `refused`: the service
 * is told the reason; `later`: the next round looks again, or with `needsPause` a round some seconds later, because an
 * hour's budget does not come back in a moment. Reasons are sentences for people.
 */
export type Handled =
  | { readonly kind: 'signed'; readonly record: KeptRecord }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'later'; readonly reason: string; readonly needsPause?: boolean }
  | Recovered

export const later = (reason: string): Handled => ({ kind: 'later', reason })
export const refused = (reason: string): Handled => ({ kind: 'refused', reason })
/** Refusal that no other moment changes: settings of the service and the solver differ, or the item is forged. */
export const refusedForGood = (reason: string): Handled => refused(`${orderRefused}: ${reason}`)

/** True if a transaction that is sent now might be mined after the deadline. */
export const isTooLate = (
  { landsWithinSeconds }: SolverChain,
  chainTime: number,
  deadline: number,
): boolean => chainTime + landsWithinSeconds > deadline

/** Has the desk try the transaction and, if it would succeed, sign and keep it. */
export async function begin(
  { chain: { desk }, filling }: Pick<Payment, 'chain' | 'filling'>,
  subject: Subject,
  work: DeskWork,
): Promise<Handled> {
  const prepared = await desk.prepare(work)
  if (prepared.kind === 'refused') {
    const { isDear, reason } = prepared
    return refused(`${isDear === true ? quotedGasExceeded : executionReverted}: ${reason}`)
  }
  if (filling.isDryRun) return later('it would be paid: this is a dry run')
  return { kind: 'signed', record: await prepared.begin(subject) }
}
