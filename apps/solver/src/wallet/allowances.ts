import { randomUUID } from 'node:crypto'
import type { PayingChain } from '@causeway/chains'
import type { ChainDesk } from './chainDesk.ts'
import type { KeptRecord } from './signedRecord.ts'

/**
 * Has the family's contract be allowed to take what payments need, by a chore of the fill wallet, one of a currency at
 * a time. Where nothing is ever allowed, everything is.
 * @param chain.open what was signed there and is not at its end
 * @returns whether so much of a currency can be taken now
 */
export function createAllowances(chain: {
  readonly desk: Pick<ChainDesk, 'prepare' | 'chainId'>
  readonly paying: Pick<PayingChain, 'missingAllowance'>
  readonly open: () => Promise<readonly KeptRecord[]>
}): (currency: string, amount: bigint) => Promise<boolean> {
  const { desk, paying, open } = chain
  return async (currency, amount) => {
    const missing = await paying.missingAllowance?.(currency, amount)
    if (missing === undefined) return true
    const prefix = `approve-${currency}-${desk.chainId}-`
    if ((await open()).some(({ id }) => id.startsWith(prefix))) return false
    const prepared = await desk.prepare({ kind: 'allowance', allowance: missing })
    if (prepared.kind === 'refused') return false
    const id = `${prefix}${randomUUID()}`
    await prepared.begin({ id, kind: 'chore', orderId: undefined, deadline: undefined })
    return false
  }
}
