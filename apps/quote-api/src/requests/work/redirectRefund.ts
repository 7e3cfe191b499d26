import { findCurrency, type QuoteRegistry } from '../../pricing/registry.ts'
import { judgePayee, type Payee, type PayeePorts, withPayeeAnswers } from '../../pricing/routes/mayBePaid.ts'
import { type RefundPayload, refundPayloadSchema, type WorkItem } from './workItem.ts'

/** Refund to the second account of the order, with the reason, which is stored with the work item. */
type RedirectedRefund = { readonly payload: RefundPayload; readonly reason: string }

/**
 * Redirects a refund that a solver cannot pay to the second account of the order, if our own endpoints confirm that the first
 * account cannot be paid.
 * @returns undefined if the refund stays as it is
 * @source Q-64
 */
export async function redirectRefund(
  { registry, payees }: { registry: Pick<QuoteRegistry, 'chainById'>; payees: PayeePorts },
  { kind, payload: stored }: WorkItem,
  reason: string,
): Promise<RedirectedRefund | undefined> {
  if (kind !== 'refund') return undefined
  const payload = refundPayloadSchema.parse(stored)
  const { chainId, recipient: account, amount } = payload
  const chain = registry.chainById.get(chainId)
  const currency = chain && findCurrency(chain, payload.currency)
  const [first, second] = payload.order?.inputs[0]?.refunds ?? []
  if (chain === undefined || currency === undefined || first === undefined || second === undefined)
    return undefined
  // A refund to another account than the first was redirected before.
  if (chain.codec.spellAddress(first.recipient) !== chain.codec.spellAddress(account)) return undefined
  const payee: Payee = {
    what: 'refund',
    chain,
    account,
    currency,
    amount: BigInt(amount),
    // Nothing was charged for new state at the account; `isNamed` has the payment simulated.
    makesState: false,
    isNamed: true,
  }
  const { refusal } = await withPayeeAnswers(payees, (answers) => judgePayee(answers, payee))
  if (refusal === undefined || refusal === 'silent') return undefined
  return {
    payload: { ...payload, recipient: second.recipient },
    reason: `${account} ${refusal.why}; refunded to ${second.recipient} instead (${reason})`,
  }
}
