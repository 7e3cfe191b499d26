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
/** Stands for the id of an order that does not exist yet. */
const noOrder: Hex = `0x${'0'.repeat(64)}`
/** Deadline in Unix seconds that no chain reaches. */
const never = 2n ** 40n
/** Time in which late nodes may still disagree once enough have answered. */
const patienceMs = 100
/** An account without code that no token lists: if even its payment fails, the wallet itself cannot pay. */
const controlAccount = tronAddress(`0x${'c0'.repeat(20)}`)

/**
 * Has nodes simulate a payment by the fill wallet, and the same payment to a control account. Simulations use the
 * wallet's real balance: if both payments fail, the wallet is short, nothing is known about the payee, and the payment
 * is not refused. The energy is the one that enough nodes report, or, once all have answered, the highest that enough
 * nodes reach.
 * @throws UpstreamUnavailableError
 * @source Q-62; rule P-46
 */
export async function tryTronPayment(
  client: PaymentVoters,
  { account, currency, amount, fill }: TriedPayment,
  timeoutMs: number,
): Promise<PaymentTrial> {
  const { from, to } = fill()
  const callTo = (recipient: string): RpcCall => {
    const target = { fillContract: tronAddress(to), id: noOrder }
    const payment = { orderId: noOrder, deadlineSeconds: never, payments: [{ recipient, currency, amount }] }
    return tryCall({ owner: tronAddress(from), ...fillPayment(target, payment) })
  }
  const { electorate } = client
  return client.poll<PaymentTrial>([callTo(account), callTo(controlAccount)], {
    timeoutMs,
    patienceMs,
    decide(votes, isLast) {
      let reason = ''
      const runs = readByVoice(votes, ([paymentAnswer, controlAnswer]): RunAnswer<'fails' | 'short'> => {
        const run = parseRun(paymentAnswer)
        if (run.succeeds) return run.energy
        reason ||= run.reason
        return parseRun(controlAnswer).succeeds ? 'fails' : 'short'
      })
      const outcome = findAgreed(runs, electorate) ?? (isLast ? agreeOnRun(runs, electorate) : undefined)
      if (typeof outcome === 'bigint') return { refusal: undefined, units: outcome }
      // `short`: the wallet fails, and nothing is known about the payee.
      return outcome && { refusal: outcome === 'fails' ? reason : undefined }
    },
  })
}

/** True for a payment in a token, whose contract may refuse the payee; coin arrives at any account without code. */
export const isOfToken = ({ currency }: Pick<TriedPayment, 'currency'>): boolean =>
  currency !== nativeCurrency
