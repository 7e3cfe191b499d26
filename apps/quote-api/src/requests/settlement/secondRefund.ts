import { type PayeePorts, refusalOf } from '../../pricing/mayBePaid.ts'
import { findCurrency, type QuoteRegistry } from '../../pricing/registry.ts'
import { type RefundPayload, refundPayloadSchema, type WorkItem } from '../work/workItem.ts'

/** Whom a refund goes to instead, and why, in words that stay with the work. */
export type SecondRefund = { readonly payload: RefundPayload; readonly reason: string }

/**
 * What becomes of a refund that a solver cannot pay: it goes to the second account of its order where the first may not
 * be paid, as the service's own endpoints say too.
 * @returns undefined where it stays as it is: the order has one account, the second one is asked for already, or the first
 * may be paid, or nobody says so
 * @source Q-64
 */
export function createSecondRefund(
  registry: Pick<QuoteRegistry, 'chainById'>,
  ports: PayeePorts,
): (item: Pick<WorkItem, 'kind' | 'payload'>, said: string) => Promise<SecondRefund | undefined> {
  return async ({ kind, payload: stored }, said) => {
    if (kind !== 'refund') return undefined
    const payload = refundPayloadSchema.parse(stored)
    const { chainId, recipient: account, amount } = payload
    const chain = registry.chainById.get(chainId)
    const currency = chain && findCurrency(chain, payload.currency)
    const [first, second] = payload.order?.inputs[0]?.refunds ?? []
    if (chain === undefined || currency === undefined || first === undefined || second === undefined)
      return undefined
    if (chain.codec.spellAddress(first.recipient) !== chain.codec.spellAddress(account)) return undefined
    const refusal = await refusalOf(ports, {
      ...{ what: 'refund', chain, account, currency, amount: BigInt(amount) },
      ...{ makesState: false, isNamed: true },
    })
    if (refusal === undefined || refusal === 'silent') return undefined
    return {
      payload: { ...payload, recipient: second.recipient },
      reason: `${account} ${refusal.why}; refunded to ${second.recipient} instead (${said})`,
    }
  }
}
