import type { Hex } from '@causeway/core'
import { createTronCodec, tronAddress } from '@causeway/core/encodings'
import type { RpcCall } from '@causeway/rpc'
import {
  agreeOnRun,
  findAgreed,
  type PaymentVoters,
  type RunAnswer,
  readByVoice,
} from '../../shared/paymentVotes.ts'
import type { PaymentTrial, TriedPayment } from '../../shared/quotingChain.ts'
import { fillPayment } from '../rules/paying/fillCalls.ts'
import { parseRun, tryCall } from './nodeCalls.ts'

const { nativeCurrency } = createTronCodec()
/** Stands for the ids of an order that is not made yet. */
const noOrder: Hex = `0x${'0'.repeat(64)}`
/** Unix seconds that no chain reaches. */
const never = 2n ** 40n
/** Time in which late nodes may still disagree once enough have answered. */
const patienceMs = 100
/** An account without code that no token lists: what it is not paid either, the payer cannot pay. */
const control = tronAddress(`0x${'c0'.repeat(20)}`)

/**
 * Has enough nodes run a payment as the fill wallet would send it, and the same one to an account that nobody has. Nodes of
 * this family lend nothing: where the other payment fails too, the wallet is short, and nothing is learned of the payee.
 * Its energy is what enough nodes say alike, or as much as enough say.
 * @throws UpstreamUnavailableError
 * @source Q-62; rule P-46
 */
export async function tryTronPayment(
  client: PaymentVoters,
  { account, currency, amount, fill }: TriedPayment,
  timeoutMs: number,
): Promise<PaymentTrial> {
  const callTo = (recipient: string): RpcCall => {
    const through = { fillContract: tronAddress(fill.to), id: noOrder }
    const paid = { orderId: noOrder, deadlineSeconds: never, payments: [{ recipient, currency, amount }] }
    return tryCall({ owner: tronAddress(fill.from), ...fillPayment(through, paid) })
  }
  const { electorate } = client
  return client.poll<PaymentTrial>([callTo(account), callTo(control)], {
    ...{ timeoutMs, patienceMs },
    decide(votes, isLast) {
      let reason = ''
      const runs = readByVoice(votes, ([payment, other]): RunAnswer<'fails' | 'short'> => {
        const run = parseRun(payment)
        if (run.succeeds) return run.energy
        reason ||= run.reason
        return parseRun(other).succeeds ? 'fails' : 'short'
      })
      const run = findAgreed(runs, electorate) ?? (isLast ? agreeOnRun(runs, electorate) : undefined)
      if (typeof run === 'bigint') return { refusal: undefined, units: run }
      return run && { refusal: run === 'fails' ? reason : undefined }
    },
  })
}

/** Native coin to an account without code arrives, and a token's list looks at who is paid. */
export const isOfToken = ({ currency }: Pick<TriedPayment, 'currency'>): boolean =>
  currency !== nativeCurrency
