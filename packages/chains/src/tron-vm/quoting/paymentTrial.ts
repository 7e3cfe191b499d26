import { createTronCodec, fillPayment, type Hex, tronAddress } from '@causeway/core'
import type { PaymentTrial, TriedPayment } from '../../family/quotingChain.ts'
import type { ChainClient } from '../../rpc/client.ts'
import type { RpcCall } from '../../rpc/jsonRpc.ts'
import { unlessUnreadable } from '../../rpc/malformedAnswer.ts'
import { parseRun, tryCall } from './nodeCalls.ts'

const { nativeCurrency } = createTronCodec()
const taken: PaymentTrial = { refusal: undefined }
/** Stands for the ids of an order that is not made yet. */
const noOrder: Hex = `0x${'0'.repeat(64)}`
/** Unix seconds that no chain reaches. */
const never = 2n ** 40n
/** An account without code that no token lists: what it is not paid either, the payer cannot pay. */
const control = tronAddress(`0x${'c0'.repeat(20)}`)

/**
 * Has enough nodes run a payment as the fill wallet would send it, and the same one to an account that nobody has. Nodes of
 * this family lend nothing: where the other payment fails too, the wallet is short, and nothing is learned of the payee.
 * @throws UpstreamUnavailableError, UpstreamDisagreementError, MalformedAnswerError
 * @source Q-62; rule P-46
 */
export async function tryTronPayment(
  client: Pick<ChainClient, 'agree'>,
  { account, currency, amount, fill }: TriedPayment,
  timeoutMs: number,
): Promise<PaymentTrial> {
  const callTo = (recipient: string): RpcCall => {
    const through = { fillContract: tronAddress(fill.to), id: noOrder }
    const paid = { orderId: noOrder, deadlineSeconds: never, payments: [{ recipient, currency, amount }] }
    return tryCall({ owner: tronAddress(fill.from), ...fillPayment(through, paid) })
  }
  const { answers } = await client.agree([callTo(account), callTo(control)], {
    timeoutMs,
    project: (all) => all.map((answer) => unlessUnreadable(() => parseRun(answer).succeeds) ?? null),
  })
  const [payment, other] = answers.map(parseRun)
  if (payment === undefined || payment.succeeds || other?.succeeds !== true) return taken
  return { refusal: payment.reason }
}

/** Native coin to an account without code arrives, and a token's list looks at who is paid. */
export const isOfToken = ({ currency }: Pick<TriedPayment, 'currency'>): boolean =>
  currency !== nativeCurrency
